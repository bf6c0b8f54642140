"""The rows of a tree of any size: folded, hoisted, and found again by node after the tree has changed."""

import numpy as np
from numpy.typing import NDArray

from shadowviz.tui.models.splice import grown
from shadowviz.tui.models.tree_layout import Places
from shadowviz.tui.models.tree_order import TreeOrder
from shadowviz_engine.core.columns import NodeColumns

Rows = Places | range
"""Position by row; a range where nothing is folded."""


class TreeIndex:
    """Which node stands in which row. The root, or the node that was hoisted, is row 0.

    Folds belong to node ids: they outlast the node, since time travel may bring it back.
    """

    def __init__(self, columns: NodeColumns) -> None:
        self.order = TreeOrder(columns)
        self.hoisted = 0
        """Node whose subtree alone is shown; 0 = the whole tree."""
        self._folded: NDArray[np.bool_] = np.zeros(len(columns), dtype=bool)
        self._rows: Rows = self._visible()

    def __len__(self) -> int:
        """Rows."""
        return len(self._rows)

    def sync(self, columns: NodeColumns) -> bool:
        """Follow the tree; whether rows may have changed. A hoisted node that went gives way to the nearest above."""
        hoisted = self.order.heir(self.hoisted, columns)
        changed = self.order.sync(columns)
        if changed:
            self.hoisted = hoisted
            # Never cut: a node that time travel has taken back may return.
            self._folded = grown(self._folded, len(columns), 0)
            self._rows = self._visible()
        return changed

    def node_at(self, row: int) -> int:
        """Node in the row."""
        return int(self.order.nodes[self._rows[row]])

    def nodes_in(self, start: int, stop: int) -> list[int]:
        """Nodes of the rows [start, stop), as many as there are."""
        rows = self._rows[max(0, start) : max(0, stop)]
        places = slice(rows.start, rows.stop) if isinstance(rows, range) else rows
        nodes: list[int] = self.order.nodes[places].tolist()
        return nodes

    def depth_at(self, row: int) -> int:
        """Edges between row 0 and the row."""
        return int(self.order.depths[self._rows[row]] - self.order.depths[self._rows[0]])

    def row_of(self, node: int) -> int:
        """Row of a node; -1 where it is folded away, outside of what is hoisted, or not in the tree."""
        if not self.order.lives(node):
            return -1
        place = int(self.order.positions[node])
        row = self._first_row(place)
        return row if row < len(self._rows) and self._rows[row] == place else -1

    def _first_row(self, place: int) -> int:
        """The first row at a position or behind it."""
        rows = self._rows
        if isinstance(rows, range):
            return min(max(0, place - rows.start), len(rows))
        return int(np.searchsorted(rows, place))

    def nearest_row(self, node: int) -> int:
        """Row of a node, or of the fold that hides it; 0 where it is outside of what is shown."""
        if not self.order.lives(node):
            return 0
        place = int(self.order.positions[node])
        # The last row before a hidden node is in its fold: everything between them is hidden too.
        row = self._first_row(place + 1) - 1
        if row < 0 or place >= self.order.end(self.node_at(0)):
            return 0
        while row and place >= self.order.end(self.node_at(row)):
            row -= 1
        return row

    def parent_row(self, row: int) -> int:
        """Row of the parent; 0 for row 0."""
        return max(0, self.row_of(self.order.parent_of(self.node_at(row)))) if row else 0

    def folds(self) -> list[int]:
        """Nodes of all rows whose children are hidden."""
        rows = self._rows
        nodes = self.order.nodes[slice(rows.start, rows.stop) if isinstance(rows, range) else rows]
        found: list[int] = nodes[self._folded[nodes] & (self.order.sizes[nodes] > 1)].tolist()
        return found

    def is_folded(self, node: int) -> bool:
        """Whether the children of the node are hidden; a leaf has none to hide."""
        return bool(self._folded[node]) and self.has_children(node)

    def has_children(self, node: int) -> bool:
        """Whether anything is below the node."""
        return bool(self.order.sizes[node] > 1)

    def below(self, node: int) -> int:
        """Nodes below a node."""
        return int(self.order.sizes[node]) - 1

    def fold(self, node: int) -> None:
        """Hide what is below a node."""
        self._folded[node] = True
        row = self.row_of(node)
        if row >= 0:
            stop = self._first_row(self.order.end(node))
            self._rows = np.concatenate((_places(self._rows[: row + 1]), _places(self._rows[stop:])))

    def unfold(self, node: int) -> None:
        """Show the children of a node."""
        if not self._folded[node]:
            return
        self._folded[node] = False
        row = self.row_of(node)
        if row >= 0:
            inside = self._visible_in(int(self.order.positions[node]), self.order.end(node))
            parts = self._rows[:row], inside, self._rows[row + 1 :]
            self._rows = np.concatenate([_places(part) for part in parts])

    def toggle(self, node: int) -> None:
        """Fold what is open, open what is folded."""
        if self._folded[node]:
            self.unfold(node)
        elif self.has_children(node):
            self.fold(node)

    def fold_from(self, depth: int) -> None:
        """Fold every node at `depth` edges below row 0 and deeper, and nothing above."""
        start, stop = self._shown()
        nodes, depths = self.order.nodes[start:stop], self.order.depths[start:stop]
        self._folded[nodes] = depths - depths[0] >= depth
        self._rows = self._visible()

    def unfold_all(self) -> None:
        """Open every node that is shown."""
        start, stop = self._shown()
        self._folded[self.order.nodes[start:stop]] = False
        self._rows = self._visible()

    def hoist(self, node: int) -> None:
        """Show the subtree of a node alone, opened; 0 shows the whole tree."""
        self.hoisted = node if self.order.lives(node) else 0
        if self.hoisted:
            self._folded[self.hoisted] = False
        self._rows = self._visible()

    def reveal(self, node: int) -> int:
        """Open whatever hides a node, and give its row; row 0 where it is not in the tree."""
        if not self.order.lives(node):
            return 0
        if not self._is_within(node):
            self.hoisted = 0
            self._rows = self._visible()
        row = self.row_of(node)
        if row >= 0:
            return row
        above = node
        while above != self.hoisted:
            above = self.order.parent_of(above)
            self._folded[above] = False
        self._rows = self._visible()
        return self.row_of(node)

    def _is_within(self, node: int) -> bool:
        start, stop = self._shown()
        return start <= int(self.order.positions[node]) < stop

    def _shown(self) -> tuple[int, int]:
        return int(self.order.positions[self.hoisted]), self.order.end(self.hoisted)

    def _visible(self) -> Rows:
        return self._visible_in(*self._shown())

    def _visible_in(self, start: int, stop: int) -> Rows:
        """Positions in [start, stop) that no fold in it hides; `start` itself is one."""
        nodes = self.order.nodes[start:stop]
        folded = np.flatnonzero(self._folded[nodes])
        if not len(folded):
            return range(start, stop)
        ends = folded + self.order.sizes[nodes[folded]]
        change = np.zeros(stop - start + 1, dtype=np.int32)
        change[folded + 1] = 1
        change -= np.bincount(ends, minlength=len(change)).astype(np.int32)
        hidden = np.cumsum(change[:-1])
        rows: Places = (start + np.flatnonzero(hidden == 0)).astype(np.int32)
        return rows


def _places(rows: Rows) -> Places:
    return np.arange(rows.start, rows.stop, dtype=np.int32) if isinstance(rows, range) else rows
