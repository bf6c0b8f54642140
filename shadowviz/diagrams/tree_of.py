"""The tree of a replayed state as a diagram: what is shown, what is resident, what can be reached."""

import msgspec
import numpy as np

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.collapse import Selection, TreeOptions, select
from shadowviz.diagrams.columns import Ints, Mask, TreeColumns
from shadowviz.diagrams.lookups import verdict_line
from shadowviz.diagrams.reachable import NOTHING, Reach, Reacher
from shadowviz.diagrams.request_path import mask_of, path_of_request
from shadowviz.diagrams.residency import Pools, as_rows, knows, pools_of, row_counts
from shadowviz.diagrams.tree import Box, TreeDiagram
from shadowviz.replay.explain import Explanation
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import printable, shorten
from shadowviz.tokens.words import IdWords
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.kinds import Scope, Shape
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.spans import Extent

MAX_LABEL = 28
"""Characters of a label."""

LABEL_TOKENS = 12
"""First tokens of a span that a label is made from."""

EVERYTHING = TreeOptions()


def tree_diagram(
    caption: Caption,
    state: Replayer,
    options: TreeOptions = EVERYTHING,
    explanation: Explanation | None = None,
    words: Words | None = None,
) -> TreeDiagram:
    """The tree in `state`, or the part of it that `options` ask for.

    The first box is the root of the picture. Where that is the root of the tree, it is node 0, its own parent, and
    stands for no tokens; it is not counted in the caption.

    Args:
        caption: title, source, event and geometry; counts, verdict and notes are added to it.
        explanation: the lookup of `options.request` that the picture tells of.
        words: reads token ids for the labels; without it they are numbers.

    Raises:
        InputError: the tree has no such root, or the run no such request, at this moment.
        LogError: no log was opened.
    """
    opened = state.opened
    if opened is None:
        raise LogError("the events hold no LogOpened: expected the beginning of a log")
    columns = TreeColumns(state)
    _check_root(columns, options.root, state.seq)
    path, path_tokens = path_of_request(state, columns, options.request) if options.request else ([], 0)
    on_path = mask_of(columns, path)
    selection = select(columns, options, on_path)
    pools = pools_of(state, columns)
    boxes = _Boxes(state, opened, columns, pools, words or IdWords()).make(selection, on_path)
    lookup = explanation.lookup if explanation else None
    return TreeDiagram(
        caption=_caption(caption, opened, columns, selection, explanation),
        kinds=tuple(kind.label for kind in opened.geometry.kinds),
        boxes=boxes,
        stubs=selection.stubs,
        request=printable(options.request),
        common=lookup.common if lookup else path_tokens,
        matched=lookup.matched if lookup else 0,
        usable=lookup.usable if lookup else 0,
        reused=lookup.reused if lookup else 0,
        num_prompt=lookup.num_prompt if lookup else 0,
    )


def _check_root(columns: TreeColumns, root: int, seq: int) -> None:
    if not 0 <= root < len(columns):
        raise InputError(f"the tree has no node {root}: expected one up to {len(columns) - 1}, or 0 for all of it")
    if not columns.alive[root]:
        raise InputError(f"node {root} is not in the tree at event {seq}: expected one that was not evicted before")


class _Boxes:
    """Makes boxes of the nodes that were selected."""

    def __init__(self, state: Replayer, opened: LogOpened, columns: TreeColumns, pools: Pools, words: Words) -> None:
        self._state = state
        self._opened = opened
        self._columns = columns
        self._pools = pools
        self._words = words
        self._names = [shorten(name, 40) for name in state.namespaces.names]

    def make(self, selection: Selection, on_path: Mask) -> tuple[Box, ...]:
        columns, nodes = self._columns, selection.nodes
        kinds = self._opened.geometry.kinds
        rows = as_rows([row_counts(columns, kind, nodes, self._pools) for kind in kinds], len(nodes))
        reaches = self._reaches(nodes)
        heats = self._heats(nodes)
        tombstones = self._tombstones(nodes).tolist()
        next_out = self._next_out()
        boxes = []
        for place, (node, depth) in enumerate(zip(nodes.tolist(), selection.depths.tolist(), strict=True)):
            boxes.append(
                Box(
                    node=node,
                    parent=int(columns.parent[node]),
                    depth=depth,
                    start=int(columns.start[node]),
                    stop=int(columns.stop[node]),
                    namespace=self._names[columns.namespace[node]],
                    label=self._label(node),
                    rows=rows[place] if node else (),
                    locks=int(columns.locks[node]),
                    heat=heats[place] if node else None,
                    tombstone=tombstones[place],
                    terminal=bool(columns.terminal[node]),
                    reachable=reaches[place],
                    on_path=bool(on_path[node]),
                    next_out=0 < node == next_out,
                )
            )
        return tuple(boxes)

    def _label(self, node: int) -> str:
        """First tokens of the span, cut to a length that fits a box."""
        if not node:
            return "root"
        nodes = self._state.nodes
        first = nodes.tokens_at[node] + nodes.start[node]
        length = nodes.stop[node] - nodes.start[node]
        text = self._words.text(self._state.tokens[first : first + min(length, LABEL_TOKENS)])
        if len(text) <= MAX_LABEL and length <= LABEL_TOKENS:
            return text
        return f"{text[: MAX_LABEL - 1]}…"

    def _reaches(self, nodes: Ints) -> list[int | None]:
        """What a request reuses that leaves at each of `nodes`; None where a kind that gates is unknown."""
        gating = [kind for kind in self._opened.geometry.kinds if kind.gates]
        if not all(knows(kind, self._pools) for kind in gating):
            return [None] * len(nodes)
        columns, state = self._columns, self._state
        reacher = Reacher(self._opened)
        known: dict[int, Reach] = {0: NOTHING}
        for node in [*columns.path(int(nodes[0])), *nodes.tolist()[1:]]:
            known[node] = reacher.below(
                known[int(columns.parent[node])],
                Extent(int(columns.start[node]), int(columns.stop[node])),
                state.swa_runs(node),
                terminal=bool(columns.terminal[node]),
            )
        return [reacher.reused(known[node]) for node in nodes.tolist()]

    def _heats(self, nodes: Ints) -> list[float | None]:
        """Rank of the last use of each of `nodes` among all living ones."""
        columns = self._columns
        moments = np.sort(columns.last_used[columns.living])
        moments = moments[np.diff(moments, prepend=-2) > 0]
        if len(moments) < 2:
            return [1.0] * len(nodes)
        ranks = np.searchsorted(moments, columns.last_used[nodes]) / (len(moments) - 1)
        heats: list[float | None] = ranks.tolist()
        return heats

    def _tombstones(self, nodes: Ints) -> Mask:
        """Which of `nodes` hold entries, but no window rows of a kind that keeps them in the tree."""
        kinds = self._opened.geometry.kinds
        windows = [kind for kind in kinds if kind.shape is Shape.WINDOW and kind.scope is not Scope.REQUEST]
        if not windows or not self._pools.swa:
            return np.zeros(len(nodes), dtype=bool)
        empty: Mask = (self._columns.swa.num[nodes] == 0) & (nodes > 0)
        return empty

    def _next_out(self) -> int:
        """The leaf that the policy takes first; 0 where none can leave, or the policy is not known here."""
        columns = self._columns
        if self._opened.policy != "lru":
            return 0
        leaves = columns.living[(columns.locks[columns.living] == 0) & ~columns.has_children[columns.living]]
        if not len(leaves):
            return 0
        used = columns.last_used[leaves]
        return int(leaves[used == used.min()].min())


def _caption(
    caption: Caption, opened: LogOpened, columns: TreeColumns, selection: Selection, explanation: Explanation | None
) -> Caption:
    living = columns.living
    shown = int((selection.nodes > 0).sum())
    counts = (
        ("tokens", f"{int(columns.subtree[1][0]):,}"),
        ("leaves", f"{int((~columns.has_children[living]).sum()):,}"),
        ("locked", f"{int((columns.locks[living] > 0).sum()):,}"),
    )
    notes = []
    if selection.collapsed:
        notes.append("The largest nodes of each level are shown; what is beside or below them is counted in stubs.")
    if opened.policy != "lru":
        notes.append(f"Which node is evicted next is known for the policy lru only, not for {opened.policy!r}.")
    return msgspec.structs.replace(
        caption,
        shown=shown,
        total=len(living),
        unit="nodes",
        counts=(*caption.counts, *counts),
        verdict=verdict_line(explanation) if explanation else caption.verdict,
        notes=(*caption.notes, *notes),
    )
