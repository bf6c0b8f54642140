"""Tiles of a treemap of memory: rows of one kind by node, with those of nodes that are not shown gathered."""

from collections.abc import Iterable, Iterator

import numpy as np

from shadowviz.diagrams.collapse import Selection
from shadowviz.diagrams.columns import Ints, RunColumns, TreeColumns
from shadowviz.diagrams.memory import KindBytes, Tile
from shadowviz.diagrams.residency import pools_of, row_counts
from shadowviz_engine.core.holdings import Run
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.row_formats import RowFormat


class Weigher:
    """Counts the rows of each kind in the subtree that a selection shows."""

    def __init__(
        self, state: Replayer, columns: TreeColumns, row_format: RowFormat, selection: Selection, root: int
    ) -> None:
        self._state = state
        self._columns = columns
        self._format = row_format
        self._pools = pools_of(state, columns)
        self._shown = selection.nodes
        self._root = root
        below = np.flatnonzero(columns.depths(root) >= 0)
        self._counted: Ints = below[below > 0]
        self._anchor = anchors(columns, selection.nodes)[self._counted]

    def tiles(self, kind: StateKind) -> Iterator[Tile]:
        """Tiles of the nodes that hold rows of `kind`, and of those above them, in pre-order."""
        counts = row_counts(self._columns, kind, self._counted, self._pools).resident
        if counts is None:
            return
        size = len(kind.owners) * self._format.size(kind.label).row_bytes
        length = len(self._columns)
        own = np.zeros(length, dtype=np.int64)
        own[self._counted] = counts
        hidden = self._counted != self._anchor
        gathered = np.bincount(self._anchor[hidden], weights=counts[hidden], minlength=length).astype(np.int64)
        holders = np.bincount(self._anchor[hidden & (counts > 0)], minlength=length)
        held = self._held(kind) if self._root == 0 else 0
        for node in self._wanted(own + gathered).tolist():
            parent = int(self._columns.parent[node])
            yield Tile(kind.label, node, parent, int(own[node]), int(own[node]) * size)
            if gathered[node]:
                rows = int(gathered[node])
                yield Tile(kind.label, node, node, rows, rows * size, int(holders[node]), gathered=True)
            if node == 0 and held:
                yield Tile(kind.label, 0, 0, held, held * size, 0, request=True)

    def _wanted(self, rows: Ints) -> Ints:
        """Shown nodes with rows in or below them, in pre-order."""
        sums = rows.copy()
        for node in self._shown[::-1].tolist():
            if node != self._root:
                sums[self._columns.parent[node]] += sums[node]
        keep = sums[self._shown] > 0
        keep[0] = True
        wanted: Ints = self._shown[keep]
        return wanted

    def _held(self, kind: StateKind) -> int:
        """Rows that running requests hold beside the tree's."""
        if kind.scope is Scope.REQUEST or kind.shape in (Shape.KEY, Shape.POINT):
            return 0
        pool, unit = ("full", kind.unit) if kind.shape is Shape.RANGE else ("swa", 1)
        # A row is at the slot of the token that closes it.
        runs = self._state.held_runs(pool)
        return sum((slot + stop - start) // unit - slot // unit for start, stop, slot in runs)

    def sum(self, kind: StateKind, tiles: list[Tile]) -> KindBytes:
        """Figures of a kind over all its tiles, with the room of its pool."""
        row_bytes = self._format.size(kind.label).row_bytes
        layers = len(kind.owners)
        known = bool(tiles)
        rows = sum(tile.rows for tile in tiles) if known else None
        allocated = capacity = None
        if known and self._root == 0 and kind.scope is not Scope.REQUEST and kind.shape is not Shape.KEY:
            allocated, capacity = self._pages(kind)
        return KindBytes(
            kind=kind.label,
            layers=layers,
            row_bytes=row_bytes,
            rows=rows,
            num_bytes=None if rows is None else rows * row_bytes * layers,
            allocated_bytes=None if allocated is None else allocated * row_bytes * layers,
            capacity_bytes=None if capacity is None else capacity * row_bytes * layers,
        )

    def _pages(self, kind: StateKind) -> tuple[int, int | None]:
        """Rows in pages that are taken, and in all pages of the pool; None where the source does not say."""
        opened = self._state.opened
        assert opened is not None, "checked by the caller"
        full = kind.shape is Shape.RANGE
        pool, unit = ("full", kind.unit) if full else ("swa", 1)
        rows = opened.geometry.page_size // unit
        pages = opened.num_full_pages if full else opened.num_swa_pages
        held = self._state.held_runs(pool)
        runs = self._columns.full if full else self._columns.swa
        taken = num_pages_taken(runs, self._columns.living, held, opened.geometry.page_size)
        return taken * rows, pages * rows if pages else None


def anchors(columns: TreeColumns, shown: Ints) -> Ints:
    """The shown node that each node is, or is below; without one, the root of the tree."""
    hop = columns.parent.copy()
    hop[shown] = shown
    while not np.array_equal(further := hop[hop], hop):
        hop = further
    return hop


def num_pages_taken(runs: RunColumns, nodes: Ints, held: Iterable[Run], page_size: int) -> int:
    """Pages in which a slot is taken, by nodes or by requests."""
    _, start, stop, slot = runs.of(nodes)
    more = np.array(list(held), dtype=np.int64).reshape(-1, 3)
    start, stop, slot = (np.concatenate((one, more[:, place])) for place, one in enumerate((start, stop, slot)))
    if not len(slot):
        return 0
    first, last = slot // page_size, (slot + stop - start - 1) // page_size
    begun = np.zeros(int(last.max()) + 2, dtype=np.int64)
    np.add.at(begun, first, 1)
    np.subtract.at(begun, last + 1, 1)
    return int((np.cumsum(begun) > 0).sum())
