"""How commands write: data to stdout, everything else to stderr, plain tables, no colour where none is wanted."""

import contextlib
import errno
import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

from shadowviz.tokens.inert import printable

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
A_ONLY, B_ONLY, OTHER_IDS = "\x1b[33m", "\x1b[36m", "\x1b[35m"
"""Colours that are told apart without red and green."""
ALL_STYLES = (BOLD, PLAIN, A_ONLY, B_ONLY, OTHER_IDS)
STYLES = re.compile(f"({'|'.join(map(re.escape, ALL_STYLES))})")
PLAIN_WIDTH = 80
"""Columns that prose is wrapped at; tables keep to them too."""


class OutputClosedError(Exception):
    """The reader of stdout went away; nothing more is to be written."""


def harmless(text: str) -> str:
    """Text whose only control characters are line ends and this module's own styles: names come from anywhere."""
    return "\n".join(line if line.isprintable() else _harmless_line(line) for line in text.split("\n"))


def _harmless_line(line: str) -> str:
    return "".join(part if part in ALL_STYLES else printable(part) for part in STYLES.split(line))


def write_out(text: str) -> None:
    """Data, to stdout.

    Raises:
        OutputClosedError: the reader of the pipe went away.
        InputError: it was closed from the start, or the device behind it is full.
    """
    with _told_errors():
        sys.stdout.write(harmless(text) + "\n")
        sys.stdout.flush()


def write_bytes(data: bytes, parts: Iterable[bytes] = ()) -> None:
    """Data of a format that has made its text harmless itself, to stdout, byte for byte, with `parts` behind it.

    Raises:
        OutputClosedError: the reader of the pipe went away.
        InputError: it was closed from the start, or the device behind it is full.
    """
    with _told_errors():
        sys.stdout.flush()
        sys.stdout.buffer.writelines(chain((data,), parts))
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def _told_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputClosedError from None
    except OSError as error:
        from shadowviz_engine.core.errors import InputError

        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        raise InputError(f"stdout cannot be written: {reason}") from error


def write_json(value: Any) -> None:
    """A value as indented JSON, to stdout."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    # Outside strings JSON is plain ASCII, so each other character may be written as its escape.
    write_out("\n".join(line if _may_be_written(line) else _json_escaped(line) for line in text.split("\n")))


def _may_be_written(line: str) -> bool:
    takes_all = (sys.stdout.encoding or "").lower().startswith("utf")
    return line.isprintable() and (takes_all or line.isascii())


def _json_escaped(line: str) -> str:
    return "".join(part if " " <= part <= "~" else json.dumps(part)[1:-1] for part in line)


def write_note(text: str) -> None:
    """Progress, warnings and remarks, to stderr; where that cannot be written, nobody wants them."""
    with contextlib.suppress(OSError):
        sys.stderr.write(harmless(text) + "\n")
        sys.stderr.flush()


def write_progress(text: str) -> None:
    """One line of progress that the next overwrites; only where stderr is a terminal."""
    if sys.stderr.isatty() and _is_smart_terminal():
        with contextlib.suppress(OSError):
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()


def wants_colour() -> bool:
    """Whether stdout is a terminal that may show colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and _is_smart_terminal()


def _is_smart_terminal() -> bool:
    return os.environ.get("TERM", "") not in ("", "dumb")


def strong(text: str) -> str:
    """Text in bold where stdout is a terminal."""
    return f"{BOLD}{text}{PLAIN}" if wants_colour() else text


def width() -> int:
    """Columns to fill."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if sys.stdout.isatty() else PLAIN_WIDTH


def wrapped(text: str, indent: str = "") -> str:
    """Prose in lines that fit; continuation lines stand under the first."""
    columns = max(20, min(width(), 100))
    hang = " " * len(indent)
    return textwrap.fill(
        text, columns, initial_indent=indent, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    )


def columns_of(text: str) -> int:
    """Columns that a terminal gives a text: East Asian wide characters have two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns_of_one(character) for character in text)


def _columns_of_one(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), gap: int = 2) -> str:
    """Columns `gap` blanks apart, one where that would pass 80 columns; numbers to the right, those in `left` not.

    Nothing is cut, so that nothing is lost when the output is no terminal.
    """
    # A name that is escaped only when it is written would be measured wrong, or break its row in two.
    columns = [headers, *([cell if cell.isprintable() else _harmless_line(cell) for cell in row] for row in rows)]
    widths = [max(columns_of(row[column]) for row in columns) for column in range(len(headers))]
    if sum(widths) + gap * (len(widths) - 1) > PLAIN_WIDTH:
        gap = 1
    lines = []
    for row in columns:
        blanks = [" " * (widths[column] - columns_of(cell)) for column, cell in enumerate(row)]
        cells = [cell + blanks[column] if column in left else blanks[column] + cell for column, cell in enumerate(row)]
        lines.append((" " * gap).join(cells).rstrip())
    lines[0] = strong(lines[0])
    return "\n".join(lines)


def number(value: int) -> str:
    """A count with thousands marked."""
    return f"{value:,}"


def shortened(names: Sequence[str], columns: int) -> list[str]:
    """Names of at most `columns` columns, cut where the fewest become the same; an ellipsis marks the cut."""
    ways = [[_cut(name, columns, head) for name in names] for head in ((columns - 1) // 2, 0, columns - 1)]
    return max(ways, key=lambda way: len(set(way)))


def beginning(text: str, columns: int) -> str:
    """As much of a text as `columns` columns hold."""
    used = list(accumulate(map(_columns_of_one, text)))
    return text[: bisect_right(used, columns)]


def _cut(name: str, columns: int, head: int) -> str:
    if columns_of(name) <= columns:
        return name
    return f"{beginning(name, head)}…{beginning(name[::-1], columns - 1 - head)[::-1]}"
