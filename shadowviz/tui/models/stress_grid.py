"""Checks of a stress run as a grid: what a row stands for down, prefix length across, at any zoom."""

from array import array
from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from shadowviz.diagrams.boundary_rows import RowKey, RowNames, RowsBy
from shadowviz.replay.stress import FINDINGS, OUTCOMES, outcome_of
from shadowviz.replay.stress_patterns import units_of
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted


class GridCell(msgspec.Struct):
    """All checks of one row at one length."""

    checks: int = 0
    findings: int = 0
    outcome: int = 0
    """The worst, a place in `OUTCOMES`."""
    difference: float = 0.0
    seq: int = -1
    """Event of the worst check, of equals the first."""

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

    def add(self, check: BoundaryChecked, outcome: str) -> None:
        """Count one check."""
        cell = self._cells.get(check.length)
        if cell is None:
            place = bisect_left(self._lengths, check.length)
            self._lengths.insert(place, check.length)
            cell = self._cells[check.length] = GridCell()
        cell.add(check, outcome)

    def cell(self, first: int, stop: int) -> GridCell | None:
        """The lengths [first, stop) as one cell; None = no check is of any of them."""
        begin, end = bisect_left(self._lengths, first), bisect_left(self._lengths, stop)
        if begin == end:
            return None
        joined = GridCell()
        for length in self._lengths[begin:end]:
            joined.join(self._cells[length])
        return joined

    def findings(self) -> list[int]:
        """Lengths with findings, ascending."""
        return [length for length in self._lengths if self._cells[length].findings]


class StressGrid:
    """A stress run so far, of which all that was begun is known; rows appear as their first check comes."""

    def __init__(self, started: Sequence[BoundaryStressStarted], rows_by: RowsBy | None = None) -> None:
        self._started = list({(event.level, event.subject): event for event in started}.values())
        self._places = {(event.level, event.subject): place for place, event in enumerate(self._started)}
        self._names = RowNames(self._started, rows_by)
        self._rows: dict[RowKey, GridRow] = {}
        self.num_checks = self.num_findings = 0

    @property
    def started(self) -> Sequence[BoundaryStressStarted]:
        """What was begun, one a level and subject."""
        return self._started

    @property
    def total(self) -> int:
        """Checks that the whole run gives."""
        return sum(event.cells for event in self._started)

    @property
    def lengths(self) -> tuple[int, int]:
        """First length and last one that the run covers; (0, 0) before it began."""
        bounds = [one for event in self._started for one in event.lengths if one[0] < one[1]]
        return (min(one[0] for one in bounds), max(one[1] for one in bounds) - 1) if bounds else (0, 0)

    @property
    def units(self) -> tuple[tuple[str, int], ...]:
        """Lengths at whose multiples something closes, where all subjects have the same."""
        same = len({event.geometry for event in self._started}) == 1
        return units_of(self._started[0].geometry) if same else ()

    @property
    def rows(self) -> list[GridRow]:
        """In the order in which the exported heat map has them."""
        return [self._rows[key] for key in sorted(self._rows)]

    def add(self, check: BoundaryChecked) -> None:
        """Take in the next check; one of a run that is not known is passed over."""
        place = self._places.get((check.level, check.subject))
        if place is None:
            return
        outcome = outcome_of(check)
        self.num_checks += 1
        self.num_findings += outcome in FINDINGS
        for key in self._names.keys_of(check, place, outcome):
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = GridRow(self._names.name(key))
            row.add(check, outcome)
