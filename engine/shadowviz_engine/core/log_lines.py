"""Lines of a log: read from the file in blocks, and decoded one by one or many at once."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Union

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import EVENT_TYPES, Event

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A prompt of a million tokens takes 5.4 MB."""
BLOCK_BYTES = 32 * 1024
"""Read at once; its events fit the processor's nearest caches, and decode twice as fast for that."""


class UnknownEvent(Event, frozen=True, kw_only=True):
    """An event of a type that this version does not know; without a meaning for the state."""

    volatile = True
    kind: str
    """Its type."""
    raw: bytes
    """Its line."""


class Head(msgspec.Struct):
    """What every version of an event has, and the version of a log."""

    type: str
    seq: int = 0
    t_ns: int = 0
    rank: int = 0
    schema: int = 0


_EVENTS = msgspec.json.Decoder(Union[EVENT_TYPES])  # noqa: UP007
_HEADS = msgspec.json.Decoder(Head)
_KNOWN = frozenset(kind.__name__ for kind in EVENT_TYPES)
# What msgspec raises for input: broken JSON, a value of another type, bad UTF-8, numbers out of range, deep nesting.
UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


def read_blocks(path: Path, size: int | None = None) -> Iterator[bytes]:
    """The file in blocks of whole lines; the last line may lack its end, and one that is too long is cut.

    Args:
        size: bytes that are read at once.

    Raises:
        LogError: it cannot be read.
    """
    if "\0" in str(path):
        raise LogError(f"{str(path)!r} names no file: expected a log")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise LogError(f"{path} is not a regular file: expected a log")
        with path.open("rb") as file:
            while block := file.read(min(size or BLOCK_BYTES, MAX_LINE_BYTES)):
                if not block.endswith(b"\n"):
                    block += file.readline(MAX_LINE_BYTES + 1)
                yield block
    except OSError as error:
        raise LogError(f"cannot read {path}: {error.strerror}") from error


def decode_block(block: bytes) -> list[Event] | None:
    """The events in a block of lines; None unless each line, decoded alone, is a known event and nothing else."""
    num_lines = block.count(b"\n")
    # No string of JSON holds a line feed, so one between two objects is the end of a line, and with as many objects
    # as lines there is no other.
    if not block.endswith(b"}\n") or block.count(b"}\n{") != num_lines - 1 or len(block) > MAX_LINE_BYTES:
        return None
    try:
        events: list[Event] = _EVENTS.decode_lines(block)
    except UNREADABLE:
        return None
    return events if len(events) == num_lines else None


def decode_line(path: Path, number: int, line: bytes) -> Event | None:
    """The event in a line; None if the line was torn off.

    Raises:
        LogError: it is none.
    """
    check_length(path, number, line)
    try:
        event: Event = _EVENTS.decode(line)
    except UNREADABLE as error:
        head = decode_head(line)
        if head is not None and head.type not in _KNOWN:
            raw = line.rstrip(b"\n")
            return UnknownEvent(seq=head.seq, t_ns=head.t_ns, rank=head.rank, kind=head.type, raw=raw)
        if head is None and line.startswith(b"{") and not line.endswith(b"\n"):
            return None
        raise line_error(path, number, f"no event: {error or type(error).__name__}") from None
    return event


def decode_head(line: bytes) -> Head | None:
    """The head of any event, known or not; None if the line is none."""
    try:
        return _HEADS.decode(line)
    except UNREADABLE:
        return None


def check_length(path: Path, number: int, line: bytes) -> None:
    """Pass over a line that an event may have.

    Raises:
        LogError: it is too long for one.
    """
    if len(line) > MAX_LINE_BYTES:
        raise line_error(path, number, f"longer than {MAX_LINE_BYTES} bytes, so no log")


def line_error(path: Path, number: int, found: str) -> LogError:
    """The error for a line."""
    return LogError(f"{path}, line {number}: {found}")
