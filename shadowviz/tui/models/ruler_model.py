"""The ruler as cells of so many tokens: what each kind has there, what a resume at the cut reads of it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz.replay.resident import ResidentRows
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows, owned_rows, read_tokens
from shadowviz_engine.core.spans import Extent, subtract

Counts = NDArray[np.int64]


class CellState(StrEnum):
    """What the tokens of one cell have of a kind, and whether going on at the cut reads it."""

    EMPTY = "nothing"
    """No row, and none is read."""
    OPEN = "open"
    """Tokens of a window without its last token: no row yet."""
    ABSENT = "gone"
    """Rows that are not there, and are not read."""
    SPARE = "spare"
    """Rows that are there, and are not read."""
    SOME = "some spare"
    """Some are there, none is read."""
    HELD = "held"
    """Every row that is read is there."""
    PART = "in part"
    """Some of the rows that are read are missing."""
    MISSING = "missing"
    """None of the rows that are read is there."""
    UNKNOWN = "unknown"
    """No event says whether the rows are there."""


class Tokens:
    """Tokens of extents that are ascending and apart; counts them within cells."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        found = [extent for extent in extents if extent]
        self._starts = np.array([extent.start for extent in found], dtype=np.int64)
        self._stops = np.array([extent.stop for extent in found], dtype=np.int64)
        self._before = np.concatenate(([0], np.cumsum(self._stops - self._starts))).astype(np.int64)

    def within(self, edges: Counts) -> Counts:
        """How many lie between each edge and the next."""
        return np.diff(self._up_to(edges))

    def _up_to(self, edges: Counts) -> Counts:
        if not len(self._starts):
            return np.zeros(len(edges), dtype=np.int64)
        place = np.searchsorted(self._starts, edges, side="right")
        last = np.maximum(place - 1, 0)
        beyond = np.clip(self._stops[last] - np.maximum(edges, self._starts[last]), 0, None)
        return np.where(place > 0, self._before[place] - beyond, 0)


class Blocking(msgspec.Struct, frozen=True):
    """Rows of one kind that a resume at a length reads, and those of them that are not there."""

    kind: str
    needed: Extent
    missing: tuple[Extent, ...]
    known: bool


class RulerLane:
    """One kind; tokens stand for the row that they belong to."""

    def __init__(self, kind: StateKind, length: int, cut: int, resident: tuple[Extent, ...] | None) -> None:
        self.kind, self.known = kind, resident is not None
        self.unit = kind.unit if kind.shape is Shape.RANGE else 1
        owned, needed = _owned(kind, length, cut), _needed(kind, cut)
        rows = owned_rows(kind, 0, length)
        there = self._tokens(extent.intersect(rows) for extent in resident or ())
        if kind.shape is Shape.POINT and resident:
            there = [needed]
        self._owned, self._needed, self._there = Tokens(owned), Tokens([needed]), Tokens(there)
        self._both = Tokens(extent.intersect(needed) for extent in there)
        self._open = Tokens([open_window(kind, length)])

    def _tokens(self, rows: Iterable[Extent]) -> list[Extent]:
        return [Extent(extent.start * self.unit, extent.stop * self.unit) for extent in rows]

    def cells(self, edges: Counts) -> list[CellState]:
        """The cell between each edge and the next."""
        counts = (lane.within(edges) for lane in (self._owned, self._needed, self._there, self._both, self._open))
        state = _known_state if self.known else _unknown_state
        return [state(*cell) for cell in zip(*(one.tolist() for one in counts), strict=True)]

    def row_at(self, token: int) -> int:
        """Row to which a token belongs."""
        return token // self.unit

    def own(self, row: int) -> Extent:
        """Tokens that a row stands for."""
        return Extent(row * self.unit, (row + 1) * self.unit)

    def reads(self, row: int) -> Extent:
        """Tokens that went into a row, those before its own included."""
        return read_tokens(self.kind, Extent(row, row + 1))


class RulerModel:
    """State behind the first `length` tokens of a prompt, at a cut; without `resident` as if every row were there."""

    def __init__(self, geometry: Geometry, length: int, cut: int, resident: ResidentRows | None = None) -> None:
        self.geometry, self.length, self.cut = geometry, length, max(0, min(cut, length))
        self._resident = resident
        self.lanes = tuple(RulerLane(kind, length, self.cut, self._rows_of(kind)) for kind in geometry.kinds)

    def _rows_of(self, kind: StateKind) -> tuple[Extent, ...] | None:
        return _all_rows(kind, self.length, self.cut) if self._resident is None else self._resident.get(kind.label)

    @property
    def is_arithmetic(self) -> bool:
        """Whether there is no state to look at: every row is drawn as if it were there."""
        return self._resident is None

    def with_cut(self, cut: int) -> "RulerModel":
        """The same state at another cut."""
        return RulerModel(self.geometry, self.length, cut, self._resident)

    def edges(self, first: int, zoom: int, num_cells: int) -> Counts:
        """Where cells of `zoom` tokens begin and end, from token `first` on."""
        return np.minimum(first + zoom * np.arange(num_cells + 1, dtype=np.int64), max(self.length, first))

    def lanes_of(self, layer: int) -> tuple[RulerLane, ...]:
        """Lanes that a layer owns or reads; all of them for -1."""
        return tuple(
            lane for lane in self.lanes if layer < 0 or layer in lane.kind.owners or layer in lane.kind.readers
        )

    @property
    def layers(self) -> tuple[int, ...]:
        """Layers that own or read a kind, ascending."""
        return tuple(sorted({layer for lane in self.lanes for layer in (*lane.kind.owners, *lane.kind.readers)}))

    def blocking(self, layer: int = -1) -> Iterator[Blocking]:
        """For each kind that a hit depends on, what a resume at the cut reads and does not find."""
        return self.blocking_at(self.cut, layer)

    def blocking_at(self, cut: int, layer: int = -1) -> Iterator[Blocking]:
        """The same at any length."""
        for lane in self.lanes_of(layer):
            needed, resident = needed_rows(lane.kind, cut), self._rows_of(lane.kind)
            if not lane.kind.gates or lane.kind.shape is Shape.KEY or not needed:
                continue
            missing = [needed]
            for extent in _overlapping(resident or (), needed):
                missing = subtract(missing, extent)
            yield Blocking(lane.kind.label, needed, () if resident is None else tuple(missing), resident is not None)

    @cached_property
    def is_possible(self) -> bool:
        """Whether going on at the cut finds all that it reads, as far as is known."""
        return self.is_arithmetic or not any(blocking.missing for blocking in self.blocking())

    def boundary(self, token: int, step: int, lane: RulerLane | None, marks: Sequence[int]) -> int:
        """The next position at which a row of the lane closes, a page ends, or that has a mark; ahead or back."""
        unit = lane.unit if lane is not None and lane.unit > 1 else self.geometry.page_size
        stops = [0, self.length, self.cut, *marks]
        if step > 0:
            stops.append((token // unit + 1) * unit)
            return min((stop for stop in stops if token < stop <= self.length), default=token)
        stops.append((token - 1) // unit * unit)
        return max((stop for stop in stops if 0 <= stop < token), default=token)


def _overlapping(ascending: Sequence[Extent], needed: Extent) -> Sequence[Extent]:
    """Those that have something of `needed`: a window reads few rows, however many stretches there are."""
    first = bisect_right(ascending, needed.start, key=lambda extent: extent.stop)
    return ascending[first : bisect_left(ascending, needed.stop, first, key=lambda extent: extent.start)]


def _all_rows(kind: StateKind, length: int, cut: int) -> tuple[Extent, ...]:
    if kind.shape in (Shape.POINT, Shape.KEY):
        return (needed_rows(kind, cut),)
    return (owned_rows(kind, 0, length),)


def open_window(kind: StateKind, length: int) -> Extent:
    """Tokens of the window that no token has closed yet."""
    if kind.shape is not Shape.RANGE:
        return Extent(0, 0)
    return Extent(length // kind.unit * kind.unit, length)


def _owned(kind: StateKind, length: int, cut: int) -> list[Extent]:
    """Tokens of the rows that the whole length owns."""
    if kind.shape is Shape.POINT:
        # No event says at which lengths a snapshot was kept: only that of the cut is worth a mark.
        return [_needed(kind, cut)]
    rows = owned_rows(kind, 0, length)
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    return [Extent(rows.start * unit, rows.stop * unit)]


def _needed(kind: StateKind, cut: int) -> Extent:
    """Tokens of the rows that a resume at `cut` reads; of a snapshot, the token behind which it was taken."""
    if kind.shape is Shape.POINT:
        return Extent(cut - 1, cut) if cut and cut % kind.grid == 0 else Extent(0, 0)
    rows = needed_rows(kind, cut)
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    return Extent(rows.start * unit, rows.stop * unit)


def _known_state(owned: int, needed: int, there: int, both: int, is_open: int) -> CellState:
    if needed:
        return CellState.HELD if both == needed else CellState.PART if both else CellState.MISSING
    if there:
        return CellState.SPARE if there >= owned else CellState.SOME
    if owned:
        return CellState.ABSENT
    return CellState.OPEN if is_open else CellState.EMPTY


def _unknown_state(owned: int, needed: int, _there: int, _both: int, is_open: int) -> CellState:
    if owned or needed:
        return CellState.UNKNOWN
    return CellState.OPEN if is_open else CellState.EMPTY
