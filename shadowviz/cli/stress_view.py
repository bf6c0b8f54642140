"""What `stress` prints: a verdict, sums by mode and by fault, the heat map, and each finding with its command."""

from collections.abc import Sequence
from typing import Any

from shadowviz.cli.show import counted, number, strong, table, wrapped
from shadowviz.replay.stress import FaultSums, ModeSums, StressSums, finding_text
from shadowviz_engine.core.events import BoundaryChecked

SHOWN_FINDINGS = 10
SHOWN_MODES = 40
"""Rows of a table by mode; where there are more, those with findings come first."""


def report(sums: StressSums, maps: Sequence[str]) -> str:
    """The run in words and tables, with its heat maps between them."""
    blocks = [_verdict(sums), _mode_table(list(sums.modes.values()))]
    if sums.faults:
        blocks.append(_fault_table(list(sums.faults.values())))
        blocks += _hidden(list(sums.faults.values()))
    blocks += maps
    if sums.findings:
        blocks.append(_findings(sums))
    return "\n\n".join(blocks)


def report_json(sums: StressSums) -> dict[str, Any]:
    """The run as it appears in JSON."""
    return {
        "checks": sums.checks,
        "cells": sums.cells,
        "findings": sums.num_findings,
        "runs": [
            {
                "level": event.level,
                "subject": event.subject,
                "asked": event.asked or event.subject,
                "geometry": event.geometry.name,
                "seed": event.seed,
                "lengths": event.lengths,
                "options": dict(event.options),
                "cells": event.cells,
                "modes": [
                    one for one in sums.modes.values() if (one.level, one.subject) == (event.level, event.subject)
                ],
                "faults": [one for one in sums.faults.values() if one.subject == event.subject]
                if event.level == "faults"
                else [],
            }
            for event in sums.started
        ],
        "first_findings": sums.findings,
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


def _mode_table(modes: list[ModeSums]) -> str:
    names = [name for name in ("level", "subject") if len({getattr(one, name) for one in modes}) > 1]
    measured = any(one.difference or one.noise or "near_tie" in one.outcomes for one in modes)
    shown = sorted(modes, key=_by_findings if len(modes) > SHOWN_MODES else _by_name)[:SHOWN_MODES]
    rows = []
    for one in shown:
        span = number(one.first) if one.first == one.last else f"{number(one.first)}-{number(one.last)}"
        row = [*(getattr(one, name) for name in names), one.mode, span, number(one.checks), number(one.findings)]
        figures = [number(one.outcomes.get("near_tie", 0)), _figure(one.difference), _figure(one.noise)]
        rows.append(row + (figures if measured else []))
    headers = [*names, "mode", "lengths", "checks", "findings"]
    headers += ["near ties", "difference", "noise"] if measured else []
    text = table(headers, rows, left=tuple(range(len(names) + 1)))
    left_out = len(modes) - len(shown)
    return f"{text}\nand {counted(left_out, 'mode')} more, none with more findings" if left_out else text


def _by_name(one: ModeSums) -> tuple[str, str, str]:
    return one.level, one.subject, one.mode


def _by_findings(one: ModeSums) -> tuple[int, str, str, str]:
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
        for one in sorted(faults, key=lambda one: one.fault)
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
        for one in sorted(faults, key=lambda one: one.fault)
        for reason, times in sorted(one.reasons.items())
    ]
    return ["\n".join(lines)] if lines else []


def _findings(sums: StressSums) -> str:
    shown = sorted(sums.findings, key=_order)[:SHOWN_FINDINGS]
    blocks = [f"{wrapped(finding_text(check))}\n  {check.command}" for check in shown]
    more = sums.num_findings - len(shown)
    if more:
        blocks.append(f"and {counted(more, 'finding')} more; the record and --json have them")
    return "\n".join(blocks)


def _order(check: BoundaryChecked) -> tuple[str, str, int, str]:
    return check.level, check.subject, check.length, check.mode
