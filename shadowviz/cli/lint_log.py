"""`shadowviz lint-log`: whether the lines of a lookup log agree with the arithmetic."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import number, strong, write_json, write_note, write_out
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.replay.text_log.check import Checked


def lint_log(
    file: Annotated[str, typer.Argument(help="A log in the form of -f text-log; - = stdin.", metavar="FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Check a log of lookups line by line: every number that the arithmetic contradicts, with what it should be.

    It may be ours or another's: times and names before the level, lines of other things, and lookups that are
    interleaved do no harm. Exit with 1 if a line is wrong.
    """
    from shadowviz.replay.text_log.check import check_log
    from shadowviz.tokens.inert import shorten

    name = "stdin" if file == "-" else shorten(file, 120)
    if file == "-":
        checked = check_log(sys.stdin.buffer, name)
    else:
        checked = _check_file(file, name)
    if as_json:
        write_json(checked)
    else:
        write_out(_text(checked, name))
        _tell(checked)
    return 1 if checked.num_contradictions else 0


def _check_file(file: str, name: str) -> "Checked":
    from shadowviz.cli.export_source import is_record
    from shadowviz.replay.text_log.check import check_log
    from shadowviz_engine.core.errors import InputError

    if is_record(file):
        raise InputError(
            f"{name} is the record of a run: expected a log of lookups, such as "
            "`shadowviz export RUN -f text-log -o lookups.log` writes"
        )
    with open(file, "rb") as log:  # noqa: PTH123 (an empty name must stay one)
        return check_log(log, name)


def _text(checked: "Checked", name: str) -> str:
    lines = [
        f"{name}:{item.line}: {item.claim}: found {item.found}, expected {item.expected} ({item.why})"
        for item in checked.contradictions
    ]
    if left := checked.num_contradictions - len(checked.contradictions):
        lines.append(f"and {number(left)} more")
    where = f"in {counted(checked.lookups, 'lookup')}, {counted(checked.lines, 'line')} checked"
    if checked.num_contradictions:
        found = f"{counted(checked.num_contradictions, 'contradiction')} in {number(checked.wrong_lookups)} of "
        return "\n".join([*lines, "", strong(found + where.removeprefix("in "))])
    return strong(f"no contradiction {where}")


def _tell(checked: "Checked") -> None:
    """What was not checked, on stderr."""
    if checked.num_unread:
        first = ", ".join(map(str, checked.unread[:5]))
        write_note(f"{counted(checked.num_unread, 'line')} cannot be read and was not checked: {first}")
    if checked.incomplete:
        write_note(f"{counted(checked.incomplete, 'lookup')} lacks one of its seven lines")
    if checked.torn:
        write_note(f"line {checked.torn} is cut off and was not checked")
    if checked.no_geometry:
        write_note("a lookup comes before any init line: what its own lines do not state was not checked")
