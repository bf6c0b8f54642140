"""Cells and rows of the heat map of a stress run."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec

from shadowviz.replay.stress import FINDINGS, OUTCOMES
from shadowviz_engine.core.events import BoundaryChecked

MOST_JOINED = 4_096
"""Cells of a row that are kept as they were joined last."""


class GridCell(msgspec.Struct):
    """All checks of one row at one length."""

    checks: int = 0
    """Those that say something of the row."""
    findings: int = 0
    outcome: int = 0
    """The worst, a place in `OUTCOMES`."""
    difference: float = 0.0
    seq: int = -1
    """Event of the worst check, of equals the first."""
    silent: int = 0
    """Checks beside those that found something in another row first, and so say nothing of this one."""
    silent_seq: int = -1
    """Event of one of them."""

    @property
    def is_silent(self) -> bool:
        """Whether that is what the cell shows: nothing is known to differ, nor that all is equal."""
        return self.silent > 0 and self.outcome == 0

    @property
    def leads_to(self) -> int:
        """Event of the check that the cell is to lead to."""
        return self.silent_seq if self.is_silent else self.seq

    def add(self, check: BoundaryChecked, outcome: str) -> None:
        """Count one more."""
        rank = OUTCOMES.index(outcome)
        if self.seq < 0 or rank > self.outcome:
            self.outcome, self.seq = rank, check.seq
        self.checks += 1
        self.findings += outcome in FINDINGS
        self.difference = max(self.difference, check.difference)

    def join(self, other: "GridCell") -> None:
        """Count all of another cell."""
        if other.seq >= 0 and (self.seq < 0 or other.outcome > self.outcome):
            self.outcome, self.seq = other.outcome, other.seq
        self.checks += other.checks
        self.findings += other.findings
        self.difference = max(self.difference, other.difference)


class GridRow:
    """Cells of one row, by length."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lengths = array("q")
        self._cells: dict[int, GridCell] = {}
        self._joined: dict[tuple[int, int], GridCell | None] = {}

    def add(self, check: BoundaryChecked, outcome: str) -> None:
        """Count one check."""
        self._joined.clear()
        cell = self._cells.get(check.length)
        if cell is None:
            place = bisect_left(self._lengths, check.length)
            self._lengths.insert(place, check.length)
            cell = self._cells[check.length] = GridCell()
        cell.add(check, outcome)

    def cell(self, first: int, stop: int) -> GridCell | None:
        """The lengths [first, stop) as one cell, to be read alone; None = no check is of any of them."""
        known = (first, stop)
        if known not in self._joined:
            if len(self._joined) >= MOST_JOINED:
                self._joined.clear()
            self._joined[known] = self._join(first, stop)
        return self._joined[known]

    def _join(self, first: int, stop: int) -> GridCell | None:
        lengths = GridRow.lengths(self, first, stop)
        if not lengths:
            return None
        joined = GridCell()
        for length in lengths:
            joined.join(self._cells[length])
        return joined

    def lengths(self, first: int, stop: int) -> Sequence[int]:
        """The lengths in [first, stop) that were checked, ascending."""
        return self._lengths[bisect_left(self._lengths, first) : bisect_left(self._lengths, stop)]

    def findings(self) -> list[int]:
        """Lengths with findings, ascending."""
        return [length for length in self._lengths if self._cells[length].findings]


class PartsCompared:
    """Checks that compare the same parts: those that found all of them equal, and those that found something."""

    def __init__(self) -> None:
        self.equal, self.unequal = GridRow(""), GridRow("")


class PartRow(GridRow):
    """The row of a kind in a layer: what was found in it, what found it equal, and what says nothing of it.

    A check tells the first thing that differs. What comes behind that was not looked at, or follows from it.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._sources: list[tuple[PartsCompared, GridRow]] = []

    def compared_in(self, compared: PartsCompared) -> None:
        """Count the checks that compare these parts, of which this is one."""
        self._sources.append((compared, GridRow("")))

    def add_found(self, check: BoundaryChecked, outcome: str, compared: PartsCompared | None) -> None:
        """Count a check that found something here."""
        self.add(check, outcome)
        for source, own in self._sources:
            if source is compared:
                own.add(check, outcome)

    def cell(self, first: int, stop: int) -> GridCell | None:
        joined = GridCell()
        own = super().cell(first, stop)
        if own is not None:
            joined.join(own)
        for compared, found_here in self._sources:
            equal, unequal = compared.equal.cell(first, stop), compared.unequal.cell(first, stop)
            if equal is not None:
                joined.join(equal)
            if unequal is not None:
                here = found_here.cell(first, stop)
                joined.silent += unequal.checks - (here.checks if here is not None else 0)
                joined.silent_seq = unequal.seq
        return joined if joined.checks or joined.silent else None

    def lengths(self, first: int, stop: int) -> Sequence[int]:
        found = set(super().lengths(first, stop))
        return sorted(found.union(*(row.lengths(first, stop) for row in self._compared())))

    def _compared(self) -> Iterator[GridRow]:
        for compared, _ in self._sources:
            yield compared.equal
            yield compared.unequal
