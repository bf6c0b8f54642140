"""Living nodes of a tree in preorder, as arrays that follow the tree while it changes."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz.tui.models.splice import grown
from shadowviz.tui.models.tree_layout import CHUNK, Places, lay_out
from shadowviz.tui.models.tree_mending import mend
from shadowviz_engine.core.columns import NodeColumns

MAX_MENDED = 4096
"""Nodes that came, went or got another parent, up to which the arrays are mended; beyond, they are made anew."""


class TreeOrder:
    """The root and every living node in preorder, the newest child first.

    Any two nodes that ever live at one time stand in the same order whenever both do: a span is inserted before its
    siblings, a split keeps its place, and time travel puts back what was there. So a change of the tree is mended by
    taking nodes out and putting nodes in.

    Columns by id have room for ids to come.
    """

    nodes: Places
    """Node by position."""
    depths: Places
    """Edges to the root, by position."""
    sizes: Places
    """Nodes in and below each living node, by id."""
    positions: Places
    """Position by id; -1 where the node does not live."""
    _num_ids: int
    _parent: Places
    _alive: NDArray[np.bool_]
    _created: Places
    """The last 32 bits of the event: enough to tell a node of one log from another's of the same id."""

    def __init__(self, columns: NodeColumns) -> None:
        self._start_anew(columns)

    def __len__(self) -> int:
        return len(self.nodes)

    def sync(self, columns: NodeColumns) -> bool:
        """Follow the tree; whether it had changed."""
        ids = self._candidates(columns)
        now = _read(columns, ids)
        if ids.size and not self._are_same_nodes(ids, now):
            self._start_anew(columns)
            return True
        was_alive, was_parent = self._alive[ids], self._parent[ids]
        came, went = ids[now.alive & ~was_alive], ids[was_alive & ~now.alive]
        moved = ids[was_alive & now.alive & (now.parent != was_parent)]
        num_changes = len(came) + len(went) + len(moved)
        if num_changes > MAX_MENDED:
            self._start_anew(columns)
            return True
        if num_changes:
            self._grow(len(columns))
            mend(self, columns, (came.tolist(), went.tolist(), moved.tolist()))
            self._parent[ids], self._alive[ids], self._created[ids] = now.parent, now.alive, now.created
        self._num_ids = len(columns)
        return num_changes > 0

    def _candidates(self, columns: NodeColumns) -> NDArray[np.int64]:
        """Nodes of which something is other than it was, ascending."""
        num, was = len(columns), self._num_ids
        self._grow(max(num, was))
        both = min(num, was)
        # The views must not outlive this call: a column that is looked at cannot grow.
        other = np.frombuffer(columns.parent, np.int32)[:both] != self._parent[:both]
        other |= np.frombuffer(columns.alive, np.bool_)[:both] != self._alive[:both]
        other |= np.frombuffer(columns.created, np.int64)[:both].astype(np.int32) != self._created[:both]
        return np.concatenate((np.flatnonzero(other), np.arange(both, max(num, was))))

    def _are_same_nodes(self, ids: NDArray[np.int64], now: "_Nodes") -> bool:
        known = ids < min(self._num_ids, now.num_ids)
        return bool((self._created[ids[known]] == now.created[known]).all())

    def _grow(self, num_ids: int) -> None:
        self._parent, self._alive = grown(self._parent, num_ids, 0), grown(self._alive, num_ids, 0)
        self._created, self.sizes = grown(self._created, num_ids, 0), grown(self.sizes, num_ids, 0)
        self.positions = grown(self.positions, num_ids, -1)

    def _start_anew(self, columns: NodeColumns) -> None:
        # On the way it takes as much memory as all that is kept here.
        laid = lay_out(columns)
        self._num_ids = len(columns)
        self._parent = np.array(columns.parent, dtype=np.int32)
        self._alive = np.array(columns.alive, dtype=np.bool_)
        self._created = np.frombuffer(columns.created, np.int64).astype(np.int32)
        self.nodes, self.depths, self.sizes = laid.nodes, laid.depths, laid.sizes
        self.positions = np.full(len(columns), -1, dtype=np.int32)
        for begin in range(0, len(laid.nodes), CHUNK):
            some = laid.nodes[begin : begin + CHUNK]
            self.positions[some] = np.arange(begin, begin + len(some), dtype=np.int32)

    def end(self, node: int) -> int:
        """Position behind the last node of its subtree."""
        return int(self.positions[node]) + int(self.sizes[node])

    def lives(self, node: int) -> bool:
        """Whether the node is in the tree, as it was followed last."""
        return 0 <= node < self._num_ids and bool(self.positions[node] >= 0)

    def parent_of(self, node: int) -> int:
        """Its parent, as the tree was followed last."""
        return int(self._parent[node])

    def heir(self, node: int, columns: NodeColumns) -> int:
        """`node` if it lives in `columns`, else the nearest node above it, as the tree was followed last, that does."""
        alive = columns.alive
        while node and not (node < len(alive) and alive[node]):
            node = int(self._parent[node]) if node < self._num_ids else 0
        return node


class _Nodes(msgspec.Struct):
    """What the columns say of some ids; of those that they have not, that these do not live."""

    num_ids: int
    parent: Places
    alive: NDArray[np.bool_]
    created: Places


def _read(columns: NodeColumns, ids: NDArray[np.int64]) -> _Nodes:
    num = len(columns)
    there = ids[ids < num]
    missing = len(ids) - len(there)
    parent = np.frombuffer(columns.parent, np.int32)[there]
    alive = np.frombuffer(columns.alive, np.bool_)[there]
    created = np.frombuffer(columns.created, np.int64)[there].astype(np.int32)
    # Ids ascend, so those that are missing are the last ones.
    return _Nodes(num, *(np.concatenate((one, np.zeros(missing, one.dtype))) for one in (parent, alive, created)))
