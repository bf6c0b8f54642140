"""Findings of a stress run that belong together, and what their lengths have in common: the way to a root cause."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from shadowviz.replay.stress import FINDINGS, FOUND, outcome_of
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event
from shadowviz_engine.core.geometry import Geometry

LEAST_LENGTHS = 3
"""Findings that have a pattern."""
MOST_RESIDUES = 4
"""Remainders that a sentence lists."""


class FindingGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of one mode, or of one fault that was put in, whose first difference lies in the same kind and layer."""

    first: BoundaryChecked
    """At the shortest length."""
    count: int
    where: str
    """What the lengths have in common; empty where nothing is seen."""


class _Lengths:
    """Findings of one group so far."""

    def __init__(self, first: BoundaryChecked) -> None:
        self.first = first
        self.lengths = array("q")

    def add(self, check: BoundaryChecked) -> None:
        self.lengths.append(check.length)
        if check.length < self.first.length:
            self.first = check


_Key: TypeAlias = tuple[str, str, str, str, str, int]
"""Level, subject, mode, outcome or fault, kind and layer."""


class StressPatterns:
    """Gathers lengths: those of every mode, and of every group of findings."""

    def __init__(self) -> None:
        self._units: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {}
        self._checked: dict[tuple[str, str, str], array[int]] = {}
        self._groups: dict[_Key, _Lengths] = {}
        self._found: dict[_Key, _Lengths] = {}

    def feed(self, event: Event) -> None:
        """Take in the next event of the run; other events are passed over."""
        if isinstance(event, BoundaryStressStarted):
            self._units[event.level, event.subject] = units_of(event.geometry)
        elif isinstance(event, BoundaryChecked):
            mode = (event.level, event.subject, event.mode)
            self._checked.setdefault(mode, array("q")).append(event.length)
            outcome = outcome_of(event)
            if outcome in FINDINGS:
                key = (*mode, event.outcome, event.kind, event.layer)
                self._groups.setdefault(key, _Lengths(event)).add(event)
            elif outcome == FOUND and not event.answers:
                key = (*mode, event.fault, event.kind, event.layer)
                self._found.setdefault(key, _Lengths(event)).add(event)

    def groups(self) -> list[FindingGroup]:
        """All findings in groups, by level, subject, shortest length and mode."""
        return self._of(self._groups)

    def found(self) -> list[FindingGroup]:
        """Faults that were put in and found, in groups of the same kind."""
        return self._of(self._found)

    def _of(self, groups: Mapping[_Key, _Lengths]) -> list[FindingGroup]:
        found = [
            FindingGroup(
                first=group.first,
                count=len(group.lengths),
                where=common_of(group.lengths, self._checked[key[:3]], self._units.get(key[:2], ())),
            )
            for key, group in groups.items()
        ]
        return sorted(found, key=_order)


def common_of(lengths: Sequence[int], checked: Sequence[int], units: Sequence[tuple[str, int]]) -> str:
    """What tells `lengths` from all other lengths that were checked, in words; empty where nothing simple does.

    A remainder must occur at every checked length that has it, from the shortest of `lengths` on.
    """
    if len(set(lengths)) < LEAST_LENGTHS:
        return ""
    first = min(lengths)
    others = set(checked) - set(lengths)
    since = f" from {first:,} on" if any(other < first for other in others) else ""
    later = {other for other in others if other > first}
    if not later:
        return f"every checked length{since}"
    for name, size in units:
        residues = {length % size for length in lengths}
        # Where every remainder occurs once, nothing would be said.
        if len(set(lengths)) > len(residues) and not any(other % size in residues for other in later):
            return f"every checked length L{since} with L mod {size:,} ({name}) {_residue_text(residues, size)}"
    return ""


def units_of(geometry: Geometry) -> tuple[tuple[str, int], ...]:
    """Lengths at whose multiples something closes, by name, the finest first."""
    units = [(compressor.name, compressor.ratio) for compressor in geometry.compressors]
    units += [("n_win", geometry.n_win)] if geometry.n_win else []
    return tuple(sorted([*units, ("page", geometry.page_size)], key=lambda unit: unit[1]))


def _residue_text(residues: set[int], size: int) -> str:
    if len(residues) <= MOST_RESIDUES:
        return f"= {_listed(residues)}"
    missing = set(range(size)) - residues
    if len(missing) <= MOST_RESIDUES:
        return f"other than {_listed(missing)}"
    runs = list(_runs(sorted(residues)))
    if len(runs) <= MOST_RESIDUES:
        return "in " + ", ".join(f"{start:,} to {stop:,}" if stop > start else f"{start:,}" for start, stop in runs)
    return f"one of {len(residues):,} values"


def _listed(numbers: Iterable[int]) -> str:
    *most, last = (f"{number:,}" for number in sorted(numbers))
    return f"{', '.join(most)} or {last}" if most else last


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbours joined, both ends included."""
    start = before = numbers[0]
    for number in numbers[1:]:
        if number != before + 1:
            yield start, before
            start = number
        before = number
    yield start, before


def _order(group: FindingGroup) -> tuple[str, str, int, str, str, int]:
    first = group.first
    return first.level, first.subject, first.length, first.mode, first.kind, first.layer
