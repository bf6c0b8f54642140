"""Logs in a file, read: events in order, and what is missing of a log that was not closed."""

import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Union

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import EVENT_TYPES, SCHEMA, Event, LogClosed, LogOpened

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A prompt of a million tokens takes 5.4 MB."""


class UnknownEvent(Event, frozen=True, kw_only=True):
    """An event of a type that this version does not know; without a meaning for the state."""

    volatile = True
    kind: str
    """Its type."""
    raw: bytes
    """Its line."""


class LogSummary(msgspec.Struct, frozen=True):
    """What a log holds, after it was read to the end."""

    opened: LogOpened
    closed: LogClosed | None
    num_events: int
    lost: str | None
    """What is missing at the end, in words; None for a log that was closed."""
    unknown: dict[str, int]
    """Number of events by type that this version does not know."""

    @property
    def complete(self) -> bool:
        """Whether the log was closed."""
        return self.closed is not None

    @property
    def redacted(self) -> bool:
        """Whether token ids are keyed hashes."""
        return self.opened.redacted


class _Head(msgspec.Struct):
    type: str
    seq: int = 0
    t_ns: int = 0
    rank: int = 0
    schema: int = 0


_EVENTS = msgspec.json.Decoder(Union[EVENT_TYPES])  # noqa: UP007
_HEADS = msgspec.json.Decoder(_Head)
_KNOWN = frozenset(kind.__name__ for kind in EVENT_TYPES)
# What msgspec raises for input: broken JSON, a value of another type, bad UTF-8, numbers out of range, deep nesting.
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


class LogReader:
    """A log in a file; each iteration reads it from the start.

    Raises:
        LogError: the file cannot be read, is no log, or is of a newer schema; while iterating: a line is no event,
            events are missing or contradict `LogClosed`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._summary: LogSummary | None = None
        self.opened: LogOpened = self._read_opened()

    @property
    def summary(self) -> LogSummary:
        """What the log holds; reads it to the end if that was not done yet."""
        if self._summary is None:
            for _ in self:
                pass
        assert self._summary is not None
        return self._summary

    def __iter__(self) -> Iterator[Event]:
        seq = 0
        closed: LogClosed | None = None
        lost: str | None = None
        unknown: Counter[str] = Counter()
        for number, line in enumerate(_lines(self.path), start=1):
            if closed is not None:
                raise self._error(number, "something follows LogClosed")
            event = self._decode(number, line) if number > 1 else self.opened
            if event is None:
                lost = f"the log ends inside line {number}: the event with seq {seq} and what followed it are lost"
                break
            if event.seq != seq:
                raise self._error(number, f"seq {event.seq} where {seq} was expected: events are missing or doubled")
            if type(event) is LogClosed:
                closed = self._check_closed(number, event)
            elif type(event) is UnknownEvent:
                unknown[event.kind] += 1
            elif type(event) is LogOpened and seq:
                raise self._error(number, "a second LogOpened")
            seq += 1
            yield event
        if closed is None and lost is None:
            lost = f"the log was not closed: what followed seq {seq - 1}, if anything, is lost"
        self._summary = LogSummary(self.opened, closed, seq, lost, dict(unknown))

    def _read_opened(self) -> LogOpened:
        line = next(_lines(self.path), b"")
        if not line:
            raise LogError(f"{self.path} is empty: expected a log")
        head = _decode_head(line)
        if head is None:
            if line.endswith(b"\n") or not line.startswith(b'{"type":'[: len(line)]):
                raise LogError(f"{self.path} is no log: line 1 is not a JSON object with a type")
            raise LogError(f"{self.path} ends inside line 1: nothing of it can be read")
        if head.type != "LogOpened":
            raise LogError(f"{self.path} is no log: it begins with {_shown(head.type)}, expected LogOpened")
        if not 1 <= head.schema <= SCHEMA:
            found = f"{self.path} has schema {head.schema}, this version reads 1 to {SCHEMA}"
            raise LogError(f"{found}: use a newer shadowviz" if head.schema > SCHEMA else found)
        opened = self._decode(1, line)
        assert isinstance(opened, LogOpened)
        return opened

    def _decode(self, number: int, line: bytes) -> Event | None:
        """The event in `line`; None if the line was torn off."""
        try:
            event: Event = _EVENTS.decode(line)
        except _UNREADABLE as error:
            head = _decode_head(line)
            if head is not None and head.type not in _KNOWN:
                raw = line.rstrip(b"\n")
                return UnknownEvent(seq=head.seq, t_ns=head.t_ns, rank=head.rank, kind=head.type, raw=raw)
            if head is None and line.startswith(b"{") and not line.endswith(b"\n"):
                return None
            raise self._error(number, f"no event: {error or type(error).__name__}") from None
        return event

    def _check_closed(self, number: int, event: LogClosed) -> LogClosed:
        if event.count != event.seq:
            raise self._error(number, f"LogClosed counts {event.count} events before it, the log has {event.seq}")
        return event

    def _error(self, number: int, found: str) -> LogError:
        return LogError(f"{self.path}, line {number}: {found}")


def read_log(path: str | Path) -> LogReader:
    """The log in the file `path`: iterate it for its events, then read its `summary`.

    Raises:
        LogError: it cannot be read, or is no log that this version reads.
    """
    return LogReader(path)


def _lines(path: Path) -> Iterator[bytes]:
    if "\0" in str(path):
        raise LogError(f"{str(path)!r} names no file: expected a log")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise LogError(f"{path} is not a regular file: expected a log")
        with path.open("rb") as file:
            number = 1
            while line := file.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise LogError(f"{path}, line {number}: longer than {MAX_LINE_BYTES} bytes, so no log")
                yield line
                number += 1
    except OSError as error:
        raise LogError(f"cannot read {path}: {error.strerror}") from error


def _decode_head(line: bytes) -> _Head | None:
    try:
        return _HEADS.decode(line)
    except _UNREADABLE:
        return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
