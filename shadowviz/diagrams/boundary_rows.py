"""Which rows of the heat map a check belongs to, in what order they stand, and what they are called."""

import re
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from shadowviz.replay.stress import FAULTS
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted

ALL_ROWS = "all rows"
NO_FAULT = "no fault"
MAX_NAME = 60
"""Characters of a row's name."""
EQUAL = ("same", "near_tie")
"""Outcomes of checks that compared every row and found none that differs."""


class RowsBy(StrEnum):
    """What a row of the heat map stands for."""

    MODE = "mode"
    KIND = "kind"
    """Kind and layer of the first row that differs, under a row for all checks."""
    FAULT = "fault"
    SUBJECT = "subject"


class RowKey(msgspec.Struct, frozen=True, order=True):
    """Sorts rows: by level and subject, then as modes and layers follow, then by name."""

    place: int = 0
    """Of the level and subject in the run."""
    group: int = 0
    text: tuple[tuple[int, str], ...] = ()
    layer: int = -1

    @property
    def name(self) -> str:
        """Mode, fault or kind."""
        return "".join(part for _, part in self.text)


def part_key(kind: str, layer: int) -> RowKey:
    """Of the row for a kind in a layer; layer -1 = in none of its own."""
    return RowKey(0, 2 + max(layer, -1), _natural(kind), layer)


class RowNames:
    """Rows of a run, by what `rows_by` says."""

    def __init__(self, started: Sequence[BoundaryStressStarted], rows_by: RowsBy | None) -> None:
        self._started = started
        self.rows_by = rows_by or _usual(started)
        """What rows stand for."""
        self._several_levels = len({event.level for event in started}) > 1
        self._several_subjects = len({event.subject for event in started}) > 1

    def keys_of(self, check: BoundaryChecked, place: int, outcome: str) -> list[RowKey]:
        """Rows that a check of the level and subject at `place` belongs to."""
        match self.rows_by:
            case RowsBy.SUBJECT:
                return [RowKey(place)]
            case RowsBy.FAULT:
                return [RowKey(place, int(bool(check.fault)), _natural(check.fault))]
            case RowsBy.MODE:
                modes = self._started[place].modes
                group = modes.index(check.mode) if check.mode in modes else len(modes)
                return [RowKey(place, group, _natural(check.mode))]
            case RowsBy.KIND:
                if outcome in EQUAL:
                    return [RowKey()]
                return [RowKey(), part_key(check.kind or check.stage or "unnamed", check.layer)]

    def is_part(self, key: RowKey) -> bool:
        """Whether the row stands for a part of the state that every equal check has compared."""
        return self.rows_by is RowsBy.KIND and bool(key.text)

    def name(self, key: RowKey) -> str:
        """What a row is called, inert."""
        if self.rows_by is RowsBy.KIND:
            named = f"{key.name} layer {key.layer}" if key.layer >= 0 else key.name
            return shorten(named or ALL_ROWS, MAX_NAME)
        event = self._started[key.place]
        words = [event.level] if self._several_levels else []
        if self.rows_by is RowsBy.SUBJECT:
            words.append(event.subject)
        else:
            words += [event.subject] if self._several_subjects else []
            words.append(key.name or NO_FAULT)
        return shorten(" ".join(words), MAX_NAME)


def _usual(started: Sequence[BoundaryStressStarted]) -> RowsBy:
    if all(event.level == FAULTS for event in started):
        return RowsBy.FAULT
    return RowsBy.SUBJECT if len({event.subject for event in started}) > 1 else RowsBy.MODE


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """Sorts `chunk 2` before `chunk 16`."""
    parts = filter(None, re.split(r"([0-9]{1,15})", text))
    return tuple((int(part) if part[0] in "0123456789" else -1, part) for part in parts)
