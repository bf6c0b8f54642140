"""Which nodes of a tree are shown, in which order, and how many stand behind each stub."""

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Ints, Mask, TreeColumns
from shadowviz.diagrams.tree import Stub
from shadowviz_engine.core.errors import InputError

COLLAPSE_ABOVE = 50_000
"""Nodes beyond which a picture is collapsed by itself."""

MAX_BOXES = 500
"""Nodes that a collapsed picture shows at most, the path of a request aside."""

MIN_BREADTH = 8
"""Nodes a level that a collapsed picture keeps at least, before it gives up depth."""


class TreeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What of a tree is shown."""

    root: int = 0
    """Node whose subtree is shown; 0 = the whole tree."""
    depth: int | None = None
    """Edges below the root that are shown; None = all."""
    folded: tuple[int, ...] = ()
    """Nodes of which nothing below is shown, whatever else is asked for; one that is not in the tree does nothing."""
    min_tokens: int = 0
    """Nodes with fewer tokens in and below them are left out."""
    request: str = ""
    """Whose path is marked and always shown; empty = nobody's."""
    collapse: bool | None = None
    """Show the largest nodes of each level alone; None = when there are more than `collapse_above`."""
    collapse_above: int = 0
    """Nodes beyond which a tree is collapsed unasked; 0 = `COLLAPSE_ABOVE`."""
    max_boxes: int = MAX_BOXES
    """Nodes that a collapsed picture shows at most, the path of a request aside."""


class Selection(msgspec.Struct, frozen=True, eq=False):
    """Shown nodes in pre-order, and what is not shown."""

    nodes: Ints
    depths: Ints
    stubs: tuple[Stub, ...]
    collapsed: bool


def check_root(columns: TreeColumns, root: int, seq: int) -> None:
    """Refuse a root that is no living node.

    Raises:
        InputError: it is none at event `seq`.
    """
    if not 0 <= root < len(columns):
        raise InputError(f"the tree has no node {root}: expected one up to {len(columns) - 1}, or 0 for all of it")
    if not columns.alive[root]:
        raise InputError(f"node {root} is not in the tree at event {seq}: expected one that was not evicted before")


def select(columns: TreeColumns, options: TreeOptions, kept: Mask) -> Selection:
    """The nodes that `options` ask for; those of `kept` whatever they ask for, if they are below the root.

    Children stand in the order of their namespace and first token, which no history can change.
    """
    depths = columns.depths(options.root)
    tokens = columns.subtree[1]
    wanted = (depths >= 0) & (tokens >= options.min_tokens)
    if options.depth is not None:
        wanted &= depths <= options.depth
    wanted |= kept & (depths >= 0)
    wanted &= ~_below(columns, options.folded)
    wanted[options.root] = True
    collapse = options.collapse
    if collapse is None:
        collapse = int(wanted[1:].sum()) > (options.collapse_above or COLLAPSE_ABOVE)
    if collapse:
        shown = _largest(columns, options, wanted, kept)
    else:
        shown = np.flatnonzero(wanted)
    ordered = _pre_order(columns, shown, options.root)
    is_less = collapse and len(shown) < int(wanted.sum())
    return Selection(ordered, depths[ordered], _stubs(columns, ordered, options.root), is_less)


def _below(columns: TreeColumns, folded: tuple[int, ...]) -> Mask:
    """Which nodes are below one of `folded`."""
    below: Mask = np.zeros(len(columns), dtype=bool)
    level = columns.children_of(np.array([node for node in folded if node < len(columns)], dtype=np.int64))
    while len(level):
        level = level[~below[level]]
        below[level] = True
        level = columns.children_of(level)
    return below


def _largest(columns: TreeColumns, options: TreeOptions, wanted: Mask, kept: Mask) -> Ints:
    """The broadest picture that fits: the largest nodes of each level, as many a level as the limit allows."""
    breadth = max(MIN_BREADTH, options.max_boxes)
    while True:
        shown, whole = _levels(columns, options, wanted, kept, breadth)
        if whole or breadth <= MIN_BREADTH:
            return shown
        breadth = max(MIN_BREADTH, breadth // 2)


def _levels(columns: TreeColumns, options: TreeOptions, wanted: Mask, kept: Mask, breadth: int) -> tuple[Ints, bool]:
    """At most `breadth` nodes a level beside those kept, and whether the limit left every level that many."""
    level = np.array([options.root], dtype=np.int64)
    shown, left, fits = [level], options.max_boxes, True
    while len(level):
        below = columns.children_of(level)
        below = below[wanted[below]]
        always, others = below[kept[below]], below[~kept[below]]
        fits = fits and left >= min(breadth, len(others))
        others = _heaviest(columns, others, min(breadth, left))
        left -= len(others)
        level = np.concatenate((always, others))
        shown.append(level)
    return np.concatenate(shown), fits


def _heaviest(columns: TreeColumns, nodes: Ints, most: int) -> Ints:
    """The `most` nodes with most tokens in and below them; of equals those stored first."""
    if len(nodes) <= most:
        return nodes
    tokens = columns.subtree[1][nodes]
    least = np.partition(tokens, len(nodes) - most)[len(nodes) - most] if most else tokens.max() + 1
    above = nodes[tokens > least]
    return np.concatenate((above, np.sort(nodes[tokens == least])[: most - len(above)]))


def _pre_order(columns: TreeColumns, shown: Ints, root: int) -> Ints:
    """`shown` with every parent before its children, and children in the order of their content."""
    by_content = np.lexsort((shown, columns.first_token[shown], columns.namespace[shown]))
    children: dict[int, list[int]] = {}
    for node in shown[by_content[::-1]].tolist():
        if node != root:
            children.setdefault(int(columns.parent[node]), []).append(node)
    ordered, stack = [], [root]
    while stack:
        node = stack.pop()
        ordered.append(node)
        stack.extend(children.pop(node, ()))
    return np.array(ordered, dtype=np.int64)


def _stubs(columns: TreeColumns, shown: Ints, root: int) -> tuple[Stub, ...]:
    """What is below each shown node and below none of its shown children, in the order of the nodes."""
    nodes, tokens = columns.subtree
    own = columns.stop - columns.start
    hidden_nodes, hidden_tokens = nodes.copy(), tokens - own
    hidden_nodes[1:] -= 1
    below = shown[shown != root]
    np.subtract.at(hidden_nodes, columns.parent[below], nodes[below])
    np.subtract.at(hidden_tokens, columns.parent[below], tokens[below])
    left = shown[hidden_nodes[shown] > 0]
    return tuple(
        Stub(node, num_nodes, num_tokens)
        for node, num_nodes, num_tokens in zip(
            left.tolist(), hidden_nodes[left].tolist(), hidden_tokens[left].tolist(), strict=True
        )
    )
