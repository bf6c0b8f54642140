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
    several = {name: len({getattr(one, name) for one in modes}) > 1 for name in ("level", "subject")}
    shown = sorted(modes, key=lambda one: -one.findings) if len(modes) > SHOWN_MODES else modes
    rows = []
    for one in shown[:SHOWN_MODES]:
        names = [getattr(one, name) for name in ("level", "subject") if several[name]]
        span = number(one.first) if one.first == one.last else f"{number(one.first)}-{number(one.last)}"
        ties = one.outcomes.get("near_tie", 0)
        rows.append([*names, one.mode, span, number(one.checks), number(ties), number(one.findings), *_difference(one)])
    headers = [name for name in ("level", "subject") if several[name]]
    headers += ["mode", "lengths", "checks", "near ties", "findings", "difference", "noise"]
    left = tuple(range(len(headers) - 6))
    more = len(modes) - SHOWN_MODES
    text = table(headers, rows, left=left)
    return f"{text}\nand {counted(more, 'mode')} more without more findings" if more > 0 else text


def _difference(one: ModeSums) -> list[str]:
    return [f"{value:.3g}" if value else "0" for value in (one.difference, one.noise)]


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
            f"{one.difference:.3g}",
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
