"""What `stress` prints: a verdict, sums by mode and by fault, the heat map, and each finding with its command."""

from collections.abc import Callable, Sequence
from typing import Any

from shadowviz.cli.show import number, strong, table, wrapped
from shadowviz.cli.stress_answers import answer_tables, answers_json, percent
from shadowviz.cli.stress_map import Maps
from shadowviz.replay.counts import counted
from shadowviz.replay.stress import (
    FAULTS,
    FaultSums,
    ModeSums,
    StressSums,
    finding_text,
    is_about_answers,
    over_subjects,
)
from shadowviz.replay.stress_patterns import FindingGroup, StressPatterns
from shadowviz_engine.core.events import BoundaryStressStarted, Event

SHOWN_GROUPS = 12
SHOWN_FOUND = 4
"""Faults that are told of one by one; where there are more, the table of faults says enough."""
SHOWN_LEFT_OUT = 8
SHOWN_MODES = 40
"""Rows of a table by mode; where there are more, those with findings come first."""


class Results:
    """A run as it goes on: sums, patterns and maps of what came so far."""

    def __init__(self, rows: str | None) -> None:
        self.sums = StressSums()
        self._patterns = StressPatterns()
        self._maps = Maps((rows, "kind") if rows != "kind" else (rows,))

    def feed(self, event: Event) -> None:
        """Take in the next event."""
        self.sums.feed(event)
        self._patterns.feed(event)
        self._maps.feed(event, self.sums)

    def text(self, source: str) -> str:
        """The run in words, tables and heat maps; each sort of finding with its command."""
        sums, faults = self.sums, over_subjects(self.sums.faults.values())
        blocks = [_verdict(sums), *_left_out(sums), *_mode_tables(list(sums.modes.values()))]
        blocks += [_fault_table(faults), *_hidden(faults)] if faults else []
        blocks += answer_tables(sums.answers)
        blocks += self._maps.texts(source)
        blocks += _found(self._patterns.found())
        blocks += [_findings(self._patterns.groups())] if sums.findings else []
        return "\n\n".join(blocks)

    def json(self) -> dict[str, Any]:
        """The run as it appears in JSON."""
        sums = self.sums
        return {
            "checks": sums.checks,
            "cells": sums.cells,
            "findings": sums.num_findings,
            "runs": [_run_json(event, sums) for event in sums.started],
            "groups": self._patterns.groups(),
            "found": self._patterns.found(),
            "first_findings": sums.findings,
        }


def _run_json(event: BoundaryStressStarted, sums: StressSums) -> dict[str, Any]:
    key = (event.level, event.subject)
    return {
        "level": event.level,
        "subject": event.subject,
        "asked": event.asked or event.subject,
        "geometry": event.geometry.name,
        "seed": event.seed,
        "lengths": event.lengths,
        "options": dict(event.options),
        "left_out": event.left_out,
        "cells": event.cells,
        "modes": [one for one in sums.modes.values() if (one.level, one.subject) == key],
        "answers": answers_json([one for one in sums.answers if one.level == event.level], event.subject),
        "faults": [one for one in sums.faults.values() if (FAULTS, one.subject) == key],
    }


def _verdict(sums: StressSums) -> str:
    subjects = list(dict.fromkeys(event.subject for event in sums.started))
    named = subjects[0] if len(subjects) == 1 else counted(len(subjects), "subject")
    levels = ", ".join(dict.fromkeys(event.level for event in sums.started))
    done = (
        counted(sums.checks, "check")
        if sums.checks == sums.cells
        else f"{number(sums.checks)} of {number(sums.cells)} checks"
    )
    found = counted(sums.num_findings, "finding") if sums.num_findings else "no finding"
    return f"{strong(f'{named}: {found}')} in {done} ({levels})"


def _left_out(sums: StressSums) -> list[str]:
    lines = [wrapped(reason, "not checked: ") for event in sums.started for reason in event.left_out]
    if len(lines) > SHOWN_LEFT_OUT:
        lines[SHOWN_LEFT_OUT:] = [f"and {counted(len(lines) - SHOWN_LEFT_OUT, 'reason')} more; --json has them"]
    return ["\n".join(lines)] if lines else []


def _mode_tables(modes: list[ModeSums]) -> list[str]:
    """One table a level: their columns differ, and together they would not fit a terminal."""
    # Of the level of faults the table by fault says the same, and more.
    modes = [one for one in modes if one.level != FAULTS or one.findings or is_about_answers(one.mode)]
    levels = dict.fromkeys(one.level for one in modes)
    tables = {level: _mode_table([one for one in modes if one.level == level]) for level in levels}
    return [f"{level}\n{text}" if len(levels) > 1 else text for level, text in tables.items()]


def _mode_table(modes: list[ModeSums]) -> str:
    several = len({one.subject for one in modes}) > 1
    shown = sorted(modes, key=_by_findings if len(modes) > SHOWN_MODES else _by_name)[:SHOWN_MODES]
    columns: list[tuple[str, Callable[[ModeSums], str]]] = [
        ("mode", lambda one: one.mode),
        ("lengths", _span),
        ("checks", lambda one: number(one.checks)),
        ("findings", lambda one: number(one.findings)),
    ]
    if several:
        columns.insert(0, ("subject", lambda one: one.subject))
    if any(one.difference or one.noise or _ties(one) for one in modes):
        columns.append(("difference", lambda one: _figure(one.difference)))
    if any(one.noise or _ties(one) for one in modes):
        columns.append(("noise", lambda one: _figure(one.noise)))
    if any(map(_ties, modes)):
        columns.append(("ties", lambda one: number(_ties(one))))
    if any(one.answers_lost for one in modes):
        columns.append(("answers lost", lambda one: f"{percent(one.answers_lost)} %" if one.answers_lost else "-"))
    rows = [[value(one) for _, value in columns] for one in shown]
    text = table([header for header, _ in columns], rows, left=(0, 1) if several else (0,))
    left_out = len(modes) - len(shown)
    return f"{text}\nand {counted(left_out, 'mode')} more, none with more findings" if left_out else text


def _span(one: ModeSums) -> str:
    return number(one.first) if one.first == one.last else f"{number(one.first)}-{number(one.last)}"


def _ties(one: ModeSums) -> int:
    return one.outcomes.get("near_tie", 0)


def _by_name(one: ModeSums) -> tuple[str, str]:
    return one.subject, one.mode


def _by_findings(one: ModeSums) -> tuple[int, str, str]:
    return -one.findings, *_by_name(one)


def _figure(value: float) -> str:
    return f"{value:.3g}" if value else "0"


def _fault_table(faults: list[FaultSums]) -> str:
    rows = [
        [
            one.fault or "none",
            number(one.checks),
            number(one.found),
            number(one.missed + one.false_alarms),
            number(one.hidden),
            f"{one.offset_as_predicted}/{one.offset_as_predicted + one.offset_other}",
            f"{one.layer_right}/{one.named}",
            _figure(one.difference),
        ]
        for one in faults
    ]
    headers = ["fault", "put in", "found", "wrong", "hidden", "offset", "named", "difference"]
    return (
        table(headers, rows)
        + "\n"
        + wrapped(
            "wrong: missed, or a false alarm; offset: first visible token as predicted; named: kind and layer right"
        )
    )


def _hidden(faults: list[FaultSums]) -> list[str]:
    lines = [
        wrapped(f"{one.fault}, {counted(times, 'length')}: {reason}", "hidden: ")
        for one in faults
        for reason, times in sorted(one.reasons.items())
    ]
    return ["\n".join(lines)] if lines else []


def _found(groups: Sequence[FindingGroup]) -> list[str]:
    return ["\n".join(_told(groups))] if 0 < len(groups) <= SHOWN_FOUND else []


def _findings(groups: Sequence[FindingGroup]) -> str:
    blocks = _told(groups[:SHOWN_GROUPS])
    left_out = sum(group.count for group in groups[SHOWN_GROUPS:])
    if left_out:
        blocks.append(f"and {counted(left_out, 'finding')} more; the record and --json have them")
    return "\n".join(blocks)


def _told(groups: Sequence[FindingGroup]) -> list[str]:
    blocks = []
    for group in groups:
        more = f"the same at {counted(group.count - 1, 'other length')}" if group.count > 1 else ""
        where = f": {group.where}" if group.where else ""
        blocks.append(wrapped(finding_text(group.first)))
        blocks += [wrapped(more + where, "  ")] if more else []
        blocks.append(f"  {group.first.command}")
    return blocks
