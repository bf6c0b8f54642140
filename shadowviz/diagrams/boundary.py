"""The heat map of a stress run, worked out from its events."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from shadowviz.diagrams.boundary_rows import EQUAL, RowKey, RowNames, RowsBy
from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import MAX_SOURCE, geometry_line
from shadowviz.diagrams.cells import BoundaryDiagram, Cell
from shadowviz.replay.stress import FINDINGS, FOUND, OUTCOMES, outcome_of
from shadowviz.replay.stress_patterns import units_of
from shadowviz.tokens.inert import printable, shorten
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event

MAX_DETAIL = 200
"""Characters of a cell's detail."""


class BoundaryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run is shown, and how."""

    rows: RowsBy | None = None
    """None = faults where only they were put in, else subjects where there are several, else modes."""
    level: str = ""
    """Only this one; empty = every level."""
    subject: str = ""
    columns: int = 250
    """Most columns; lengths share one where there are more."""


ALL_CHECKS = BoundaryOptions()


class BoundaryCells:
    """Gathers the checks of a run whose `BoundaryStressStarted` events are all known.

    Raises:
        InputError: no run is of this level and subject.
    """

    def __init__(self, started: Sequence[BoundaryStressStarted], options: BoundaryOptions = ALL_CHECKS) -> None:
        shown = {(event.level, event.subject): event for event in started if _is_shown(event, options)}
        if not shown:
            raise InputError(_nothing_shown(started, options))
        self._started = list(shown.values())
        self._places = {key: place for place, key in enumerate(shown)}
        self._names = RowNames(self._started, options.rows)
        bounds = [one for event in self._started for one in event.lengths if one[0] < one[1]]
        self._first = min((start for start, _ in bounds), default=0)
        self._last = max((stop for _, stop in bounds), default=1) - 1
        self._bin = -(-(self._last - self._first + 1) // max(1, options.columns))
        self._sums: dict[RowKey, dict[int, _Sum]] = {}
        self._equal: dict[int, int] = {}
        """Checks that found every row equal, by column."""
        self._seq = -1
        self._checks = self._findings = 0

    def add(self, check: BoundaryChecked) -> None:
        """One more check; of another level or subject it is passed over."""
        self._seq = max(self._seq, check.seq)
        place = self._places.get((check.level, check.subject))
        if place is None or not self._first <= check.length <= self._last:
            return
        outcome = outcome_of(check)
        self._checks += 1
        self._findings += outcome in FINDINGS
        column = (check.length - self._first) // self._bin
        for key in self._names.keys_of(check, place, outcome):
            self._sums.setdefault(key, {}).setdefault(column, _Sum()).add(check, outcome)
        if outcome in EQUAL:
            self._equal[column] = self._equal.get(column, 0) + 1

    def diagram(self, source: str) -> BoundaryDiagram:
        """The heat map of what was added so far; `source` names the record or run."""
        keys = sorted(self._sums)
        return BoundaryDiagram(
            caption=self._caption(source),
            rows=tuple(self._names.name(key) for key in keys),
            lengths=(self._first, self._last),
            bin_tokens=self._bin,
            cells=tuple(cell for row, key in enumerate(keys) for cell in self._cells(row, key)),
            units=units_of(self._started[0].geometry) if self._one_geometry else (),
        )

    def _cells(self, row: int, key: RowKey) -> Iterable[Cell]:
        sums = self._sums[key]
        equal = self._equal if self._names.is_part(key) else {}
        for column in sorted(sums.keys() | equal.keys()):
            total = sums.get(column) or _Sum()
            first = self._first + column * self._bin
            worst = total.first_finding or total.first_found
            yield Cell(
                row=row,
                first=first,
                last=min(first + self._bin - 1, self._last),
                checks=total.checks + equal.get(column, 0),
                findings=total.findings,
                difference=total.difference,
                outcome=OUTCOMES[total.outcome],
                detail=shorten(worst.detail, MAX_DETAIL) if worst else "",
                command=printable(worst.command) if worst else "",
            )

    @property
    def _one_geometry(self) -> bool:
        return len({event.geometry for event in self._started}) == 1

    def _caption(self, source: str) -> Caption:
        subjects = list(dict.fromkeys(event.subject for event in self._started))
        named = subjects[0] if len(subjects) == 1 else f"{len(subjects)} subjects"
        levels = ", ".join(dict.fromkeys(event.level for event in self._started))
        total = sum(event.cells for event in self._started)
        missing = total - self._checks
        return Caption(
            title=printable(f"Boundary stress of {shorten(named, MAX_SOURCE)}: {levels}"),
            source=shorten(source, MAX_SOURCE),
            seq=self._seq,
            last_seq=self._seq,
            geometry=geometry_line(self._started[0].geometry) if self._one_geometry else "several geometries",
            shown=self._checks,
            total=total,
            unit="checks",
            counts=(("findings", f"{self._findings:,}"), ("seed", str(self._started[0].seed))),
            verdict=_verdict(self._findings, self._checks),
            notes=(f"{missing:,} of {total:,} checks are not on record.",) if missing > 0 else (),
        )


class _Sum:
    """Checks of one cell."""

    __slots__ = ("checks", "difference", "findings", "first_finding", "first_found", "outcome")

    def __init__(self) -> None:
        self.checks = self.findings = self.outcome = 0
        self.difference = 0.0
        self.first_finding: BoundaryChecked | None = None
        self.first_found: BoundaryChecked | None = None

    def add(self, check: BoundaryChecked, outcome: str) -> None:
        self.checks += 1
        self.outcome = max(self.outcome, OUTCOMES.index(outcome))
        self.difference = max(self.difference, check.difference)
        if outcome in FINDINGS:
            self.findings += 1
            # Processes report in any order; the picture must not depend on it.
            if self.first_finding is None or _place(check) < _place(self.first_finding):
                self.first_finding = check
        elif outcome == FOUND and (self.first_found is None or _place(check) < _place(self.first_found)):
            self.first_found = check


def boundary_diagram(
    read: Callable[[], Iterable[Event]], source: str, options: BoundaryOptions = ALL_CHECKS
) -> BoundaryDiagram:
    """The heat map of a recorded run; `read` gives its events from the first, and is called twice.

    Raises:
        InputError: the record has no stress run of this level and subject.
    """
    cells = BoundaryCells([event for event in read() if isinstance(event, BoundaryStressStarted)], options)
    for event in read():
        if isinstance(event, BoundaryChecked):
            cells.add(event)
    return cells.diagram(source)


def _is_shown(event: BoundaryStressStarted, options: BoundaryOptions) -> bool:
    return options.level in ("", event.level) and options.subject in ("", event.subject)


def _nothing_shown(started: Sequence[BoundaryStressStarted], options: BoundaryOptions) -> str:
    if not started:
        return "the record has no stress run: expected one that `shadowviz stress -o FILE` wrote"
    known = ", ".join(dict.fromkeys(f"{event.level} of {event.subject}" for event in started))
    wanted = f"{options.level or 'any level'} of {options.subject or 'any subject'}"
    return f"the record has no stress run with {wanted}: expected one of {shorten(known)}"


def _verdict(findings: int, checks: int) -> str:
    if findings:
        return f"{findings:,} of {checks:,} checks {'is a finding' if findings == 1 else 'are findings'}"
    return f"no finding in {checks:,} checks"


def _place(check: BoundaryChecked) -> tuple[int, str, str, str]:
    return check.length, check.level, check.subject, check.mode
