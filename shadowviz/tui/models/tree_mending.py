"""Mends a preorder after nodes came, went or got another parent."""

from collections import defaultdict
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from shadowviz.tui.models.splice import spliced
from shadowviz.tui.models.tree_layout import Places
from shadowviz_engine.core.columns import NodeColumns

MAX_STEPS = 50_000
"""Edges from changed nodes up to the root, up to which each way is gone alone."""


class _Order(Protocol):
    """The order that is mended, as it was."""

    nodes: Places
    depths: Places
    sizes: Places
    positions: Places

    def parent_of(self, node: int) -> int: ...

    def end(self, node: int) -> int: ...


def mend(order: _Order, columns: NodeColumns, changes: tuple[list[int], list[int], list[int]]) -> None:
    """Take out what went, put in what came, and mend sizes and depths above and below.

    Args:
        changes: nodes that came, that went, and that got another parent.
    """
    came, went, moved = changes
    mending = _Mending(order, columns)
    gone = np.sort(order.positions[went])
    lost, bases = mending.losses(went), mending.bases(came, moved)
    before, ordered = mending.anchors(came)
    order.positions[went] = -1
    first = min([len(order.nodes), *gone[:1].tolist(), *before[:1]])
    order.nodes = spliced(order.nodes, gone, before, ordered)
    order.depths = spliced(order.depths, gone, before, [0] * len(came))
    # Nothing before the first change has moved.
    order.positions[order.nodes[first:]] = np.arange(first, len(order.nodes), dtype=np.int32)
    is_short = mending.num_steps(came, lost) <= MAX_STEPS
    (mending.mend_sizes_one_by_one if is_short else mending.mend_sizes)(came, lost, bases)
    # How far a subtree reaches is known only from its size as it is by then.
    mending.mend_depths(came, moved)


class _Mending:
    """One change of a tree, brought into its order."""

    def __init__(self, order: _Order, columns: NodeColumns) -> None:
        self._order = order
        self._columns = columns

    def losses(self, went: list[int]) -> dict[int, int]:
        """How many nodes below each living node went, as far as no living node lies between."""
        gone, above, lost = set(went), self._order.parent_of, defaultdict[int, int](int)
        for node in sorted(went, key=lambda node: -int(self._order.positions[node])):
            num = 1 + (lost.pop(node, 0))
            lost[above(node)] += num
        assert not gone & lost.keys(), "the root never goes"
        return lost

    def bases(self, came: list[int], moved: list[int]) -> dict[int, int]:
        """Nodes that were there before, by the node that came between them and what was above."""
        fresh, bases = set(came), defaultdict[int, int](int)
        for node in moved:
            above = self._columns.parent[node]
            if above in fresh:
                bases[above] += int(self._order.sizes[node])
        return bases

    def anchors(self, came: list[int]) -> tuple[list[int], list[int]]:
        """Before which position of the order as it was each node that came is put in, and these nodes in order."""
        fresh, known, num = set(came), dict[int, tuple[int, int]](), len(self._order.nodes)
        for node in came:
            way, at = [], node
            while at in fresh and at not in known:
                way.append(at)
                at = self._following(at)
            place, steps = known[at] if at in fresh else (int(self._order.positions[at]) if at else num, 0)
            for passed in reversed(way):
                steps -= 1
                known[passed] = (place, steps)
        ordered = sorted(came, key=known.__getitem__)
        return [known[node][0] for node in ordered], ordered

    def _following(self, node: int) -> int:
        """Next in preorder; 0 behind the last."""
        columns = self._columns
        if below := columns.first_child[node]:
            return below
        while node and not columns.next_sibling[node]:
            node = columns.parent[node]
        return columns.next_sibling[node] if node else 0

    def num_steps(self, came: list[int], lost: dict[int, int]) -> int:
        """Edges from changed nodes up to the root, about: those that moved have their depths from before."""
        order, parent, depths = self._order, self._columns.parent, dict[int, int]()
        for node in sorted(came, key=lambda node: int(order.positions[node])):
            above = parent[node]
            depths[node] = 1 + (depths[above] if above in depths else int(order.depths[order.positions[above]]))
        return sum(depths.values()) + sum(int(order.depths[order.positions[node]]) for node in lost)

    def mend_sizes_one_by_one(self, came: list[int], lost: dict[int, int], bases: dict[int, int]) -> None:
        """From each node up to the root: the fastest where the ways are short."""
        sizes, parent, fresh = self._order.sizes.data, self._columns.parent, set(came)
        for node in came:
            sizes[node] = 0
        for lowest, num in bases.items():
            above = lowest
            # Whatever is above the nodes that came counts these nodes already.
            while above in fresh:
                sizes[above] += num
                above = parent[above]
        for lowest, gain in (*((node, 1) for node in came), *((node, -num) for node, num in lost.items())):
            above = lowest
            sizes[above] += gain
            while above:
                above = parent[above]
                sizes[above] += gain

    def mend_sizes(self, came: list[int], lost: dict[int, int], bases: dict[int, int]) -> None:
        """From all changed nodes up to the root together, which long ways have in common."""
        sizes, positions, parent = (
            self._order.sizes.data,
            self._order.positions.data,
            self._columns.parent,
        )
        gains = defaultdict[int, int](int, {node: -num for node, num in lost.items()})
        fresh, heap = set(came), list[tuple[int, int]]()
        waiting = fresh | gains.keys()
        for node in waiting:
            heappush(heap, (-positions[node], node))
        # Where ways meet they go on as one: whatever is below a node stands behind it, so its share is complete when it
        # is taken.
        while heap:
            node = heappop(heap)[1]
            waiting.discard(node)
            gain = gains.pop(node, 0)
            above = parent[node]
            if node in fresh:
                sizes[node] = 1 + gain + bases[node]
                gain += 1
                if above in fresh:
                    bases[above] += bases[node]
            else:
                sizes[node] += gain
            if not node or not gain:
                continue
            gains[above] += gain
            if above not in waiting:
                waiting.add(above)
                heappush(heap, (-positions[above], above))

    def mend_depths(self, came: list[int], moved: list[int]) -> None:
        """Edges to the root, from the top down."""
        order, fresh = self._order, set(came)
        for node in sorted((*came, *moved), key=lambda node: int(order.positions[node])):
            place = int(order.positions[node])
            depth = int(order.depths[order.positions[self._columns.parent[node]]]) + 1
            if node in fresh:
                order.depths[place] = depth
            else:
                # Nodes that came below get theirs later.
                order.depths[place : order.end(node)] += depth - order.depths[place]
