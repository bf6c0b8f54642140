"""What `stress` prints of trained models: percent of needles answered rightly, with whole state and with each fault."""

from collections.abc import Sequence
from typing import Any

from shadowviz.cli.show import number, table, wrapped
from shadowviz_engine.core.events import BoundaryChecked

WHOLE = "whole state"
NOTE = "percent right, by length and by how far before it the needle stands; questions are the same in every row"


def answer_tables(checks: Sequence[BoundaryChecked]) -> list[str]:
    """A table for each subject: a row for each length and fault, a column for each needle."""
    subjects = dict.fromkeys(check.subject for check in checks)
    return [_table_of(subject, [check for check in checks if check.subject == subject]) for subject in subjects]


def _table_of(subject: str, checks: Sequence[BoundaryChecked]) -> str:
    backs = sorted({back for check in checks for back, _, _ in check.answers}, reverse=True)
    rows = []
    for length in sorted({check.length for check in checks}):
        at_length = sorted((check for check in checks if check.length == length), key=lambda check: check.mode)
        whole = {back: min(_before(check, back) for check in at_length) for back in backs}
        rows.append([WHOLE, number(length), *(percent(whole[back]) for back in backs)])
        for check in at_length:
            shares = {back: after for back, _, after in check.answers}
            name = check.fault or check.mode.partition("/")[2]
            rows.append([name, number(length), *(percent(shares[back]) if back in shares else "-" for back in backs)])
    headers = [f"answers of {subject}", "length", *(f"L-{back}" for back in backs)]
    return f"{table(headers, rows)}\n{wrapped(NOTE)}"


def _before(check: BoundaryChecked, back: int) -> float:
    return next((before for other, before, _ in check.answers if other == back), 1.0)


def percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100 * share:.0f}"


def answers_json(checks: Sequence[BoundaryChecked], subject: str) -> list[dict[str, Any]]:
    """The table of a subject as it appears in JSON; shares are 0 to 1."""
    return [
        {
            "fault": check.mode.partition("/")[2],
            "length": check.length,
            "needles": [{"before": back, "whole": whole, "faulty": faulty} for back, whole, faulty in check.answers],
        }
        for check in checks
        if check.subject == subject
    ]
