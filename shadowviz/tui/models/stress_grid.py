"""Checks of a stress run as a grid: what a row stands for down, prefix length across, at any zoom."""

from collections.abc import Sequence

from shadowviz.diagrams.boundary_rows import RowKey, RowNames, RowsBy, part_key
from shadowviz.replay.stress import FINDINGS, OUTCOMES, outcome_of
from shadowviz.replay.stress_parts import Part, compared_parts
from shadowviz.replay.stress_patterns import units_of
from shadowviz.tui.models.stress_cells import GridRow, PartRow, PartsCompared
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted


class StressGrid:
    """A stress run so far, of which all that was begun is known; rows appear as their first check comes.

    By kind, there is a row for every kind and layer that checks compare, also where all of them find it equal.
    """

    def __init__(self, started: Sequence[BoundaryStressStarted], rows_by: RowsBy | None = None) -> None:
        self._started = list({(event.level, event.subject): event for event in started}.values())
        self._places = {(event.level, event.subject): place for place, event in enumerate(self._started)}
        self._names = RowNames(self._started, rows_by)
        self._rows: dict[RowKey, GridRow] = {}
        self._compared: dict[frozenset[Part], PartsCompared] = {}
        self._by_mode: dict[tuple[int, str, int], PartsCompared] = {}
        self._longest = max((kind.unit for event in self._started for kind in event.geometry.kinds), default=1)
        self.num_checks = self.num_findings = 0

    @property
    def started(self) -> Sequence[BoundaryStressStarted]:
        """What was begun, one a level and subject."""
        return self._started

    @property
    def is_by_part(self) -> bool:
        """Whether rows are kinds and layers."""
        return self._names.rows_by is RowsBy.KIND

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
    def closing(self) -> tuple[tuple[str, int], ...]:
        """The units once a size, those of one size named together."""
        named: dict[int, list[str]] = {}
        for name, size in self.units:
            named.setdefault(size, []).append(name)
        return tuple((" and ".join(names), size) for size, names in sorted(named.items()))

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
        if self.is_by_part:
            self._add_by_part(check, place, outcome)
            return
        for key in self._names.keys_of(check, place, outcome):
            self._row(key).add(check, outcome)

    def _row(self, key: RowKey) -> GridRow:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = PartRow(self._names.name(key)) if key.text else GridRow(self._names.name(key))
        return row

    def _add_by_part(self, check: BoundaryChecked, place: int, outcome: str) -> None:
        self._row(RowKey()).add(check, outcome)
        compared = self._compared_by(check, place)
        if outcome == OUTCOMES[0]:
            compared.equal.add(check, outcome)
            return
        compared.unequal.add(check, outcome)
        row = self._row(part_key(check.kind or check.stage or "unnamed", check.layer))
        assert isinstance(row, PartRow), "it has a name"
        row.add_found(check, outcome, compared)

    def _compared_by(self, check: BoundaryChecked, place: int) -> PartsCompared:
        # Lengths in which every row closes are the same for it.
        key = (place, check.mode, min(check.length, self._longest))
        if key not in self._by_mode:
            parts = compared_parts(self._started[place], check.mode, check.length)
            self._by_mode[key] = self._compared.get(parts) or self._begin_parts(parts)
        return self._by_mode[key]

    def _begin_parts(self, parts: frozenset[Part]) -> PartsCompared:
        compared = self._compared[parts] = PartsCompared()
        for part in parts:
            row = self._row(part_key(*part))
            assert isinstance(row, PartRow), "it has a name"
            row.compared_in(compared)
        return compared
