"""Living nodes of a tree in preorder, as arrays that follow the tree while it changes."""

from collections import defaultdict
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from shadowviz.tui.models.tree_layout import Places, lay_out
from shadowviz_engine.core.columns import NodeColumns

MAX_MENDED = 4096
"""Nodes that came, went or got another parent, up to which the arrays are mended; beyond, they are made anew."""


class TreeOrder:
    """The root and every living node in preorder, the newest child first.

    Any two nodes that ever live at one time stand in the same order whenever both do: a span is inserted before its
    siblings, a split keeps its place, and time travel puts back what was there. So a change of the tree is mended by
    taking nodes out and putting nodes in.
    """

    nodes: Places
    """Node by position."""
    depths: Places
    """Edges to the root, by position."""
    sizes: Places
    """Nodes in and below each living node, by id."""
    positions: Places
    """Position by id; -1 where the node does not live."""
    _parent: Places
    _alive: NDArray[np.bool_]
    _created: NDArray[np.int64]

    def __init__(self, columns: NodeColumns) -> None:
        self._start_anew(columns)

    def __len__(self) -> int:
        return len(self.nodes)

    def sync(self, columns: NodeColumns) -> bool:
        """Follow the tree; whether it had changed."""
        parent, alive, created = _copies(columns)
        both = min(len(parent), len(self._parent))
        if not np.array_equal(created[:both], self._created[:both]):
            self._start_anew(columns)
            return True
        was, now = self._alive[:both], alive[:both]
        came = np.concatenate((np.flatnonzero(now & ~was), both + np.flatnonzero(alive[both:])))
        went = np.concatenate((np.flatnonzero(was & ~now), both + np.flatnonzero(self._alive[both:])))
        moved = np.flatnonzero(was & now & (parent[:both] != self._parent[:both]))
        num_changes = len(came) + len(went) + len(moved)
        if num_changes > MAX_MENDED:
            self._start_anew(columns)
            return True
        if num_changes:
            _Mending(self, columns, parent, alive).run(came.tolist(), went.tolist(), moved.tolist())
        self._parent, self._alive, self._created = parent, alive, created
        return num_changes > 0

    def _start_anew(self, columns: NodeColumns) -> None:
        self._parent, self._alive, self._created = _copies(columns)
        laid = lay_out(columns)
        self.nodes, self.depths, self.sizes = laid.nodes, laid.depths, laid.sizes
        self.positions = _positions(laid.nodes, len(columns))

    def end(self, node: int) -> int:
        """Position behind the last node of its subtree."""
        return int(self.positions[node]) + int(self.sizes[node])

    def lives(self, node: int) -> bool:
        """Whether the node is in the tree, as it was followed last."""
        return 0 <= node < len(self.positions) and bool(self.positions[node] >= 0)

    def parent_of(self, node: int) -> int:
        """Its parent, as the tree was followed last."""
        return int(self._parent[node])

    def heir(self, node: int, columns: NodeColumns) -> int:
        """`node` if it lives in `columns`, else the nearest node above it, as the tree was followed last, that does."""
        alive = columns.alive
        while node and not (node < len(alive) and alive[node]):
            node = int(self._parent[node]) if node < len(self._parent) else 0
        return node


def _copies(columns: NodeColumns) -> tuple[Places, NDArray[np.bool_], NDArray[np.int64]]:
    return (
        np.array(columns.parent, dtype=np.int32),
        np.array(columns.alive, dtype=bool),
        np.array(columns.created, dtype=np.int64),
    )


def _positions(nodes: Places, num_ids: int) -> Places:
    positions = np.full(num_ids, -1, dtype=np.int32)
    positions[nodes] = np.arange(len(nodes), dtype=np.int32)
    return positions


class _Mending:
    """One change of a tree, brought into its order."""

    def __init__(self, order: TreeOrder, columns: NodeColumns, parent: Places, alive: NDArray[np.bool_]) -> None:
        self._order = order
        self._columns = columns
        self._parent = parent
        self._alive = alive

    def run(self, came: list[int], went: list[int], moved: list[int]) -> None:
        """Take out what went, put in what came, and mend sizes and depths above and below."""
        order = self._order
        gone = np.sort(order.positions[went])
        lost, bases = self._losses(went), self._bases(came, moved)
        kept = np.ones(len(order.nodes), dtype=bool)
        kept[gone] = False
        nodes, depths = order.nodes[kept], order.depths[kept]
        before, ordered = self._anchors(came, gone, len(nodes))
        order.nodes = np.insert(nodes, before, ordered)
        order.depths = np.insert(depths, before, 0)
        order.positions = _positions(order.nodes, len(self._columns))
        order.sizes = np.concatenate((order.sizes, np.zeros(max(0, len(self._parent) - len(order.sizes)), np.int32)))
        self._mend_sizes(came, lost, bases)
        self._mend_depths(came, moved)

    def _losses(self, went: list[int]) -> dict[int, int]:
        """How many nodes below each living node went, as far as no living node lies between."""
        gone, above, lost = set(went), self._order.parent_of, defaultdict[int, int](int)
        for node in sorted(went, key=lambda node: -int(self._order.positions[node])):
            num = 1 + (lost.pop(node, 0))
            lost[above(node)] += num
        assert not gone & lost.keys(), "the root never goes"
        return lost

    def _bases(self, came: list[int], moved: list[int]) -> dict[int, int]:
        """Nodes that were there before, by the node that came between them and what was above."""
        fresh, bases = set(came), defaultdict[int, int](int)
        for node in moved:
            above = int(self._parent[node])
            if above in fresh:
                bases[above] += int(self._order.sizes[node])
        return bases

    def _anchors(self, came: list[int], gone: Places, num_kept: int) -> tuple[list[int], list[int]]:
        """Where in the kept order each node that came is put in, and these nodes in their own order."""
        fresh, known = set(came), dict[int, tuple[int, int]]()
        for node in came:
            way, at = [], node
            while at in fresh and at not in known:
                way.append(at)
                at = self._following(at)
            if at in fresh:
                place, steps = known[at]
            else:
                was = int(self._order.positions[at]) if at else -1
                place, steps = (was - int(np.searchsorted(gone, was)) if at else num_kept), 0
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

    def _mend_sizes(self, came: list[int], lost: dict[int, int], bases: dict[int, int]) -> None:
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
        # Whatever is below a node stands behind it, so its share is complete when it is taken.
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

    def _mend_depths(self, came: list[int], moved: list[int]) -> None:
        order, fresh = self._order, set(came)
        for node in sorted((*came, *moved), key=lambda node: int(order.positions[node])):
            place = int(order.positions[node])
            depth = int(order.depths[order.positions[self._columns.parent[node]]]) + 1
            if node in fresh:
                order.depths[place] = depth
            else:
                # Nodes that came below get theirs later.
                order.depths[place : order.end(node)] += depth - order.depths[place]
