"""Logs in a file, read: events in order, and what is missing of a log that was not closed."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain, islice
from pathlib import Path

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import SCHEMA, Event, LogClosed, LogOpened
from shadowviz_engine.core.log_lines import (
    UnknownEvent,
    check_length,
    decode_block,
    decode_head,
    decode_line,
    line_error,
    read_blocks,
)

INDEXED_BYTES = 1 << 18
"""Read for one place in the index of events, about."""
_ENDS = frozenset({LogOpened, LogClosed})


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


class LogReader:
    """A log in a file; each iteration reads it from the start.

    Raises:
        LogError: the file cannot be read, is no log, or is of a newer schema; while iterating: a line is no event,
            events are missing or contradict `LogClosed`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._summary: LogSummary | None = None
        self._places = (array("q"), array("q"))
        """First seq of every block, and where it begins in the file; empty until an event was asked for."""
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
        # Millions of events pass here, so nothing may be called for each of them.
        return chain.from_iterable(self._batches())

    def _batches(self) -> Iterator[Sequence[Event]]:
        reading = LogReading(self.path, self.opened)
        for block in read_blocks(self.path):
            batch = reading.batch(block)
            if batch is not None:
                yield batch
                continue
            for line in BytesIO(block):
                event = reading.event(line)
                if event is not None:
                    yield (event,)
        self._summary = reading.summary()

    def begin(self) -> "LogReading":
        """A reading of this log by its lines, which somebody else takes from the file."""
        return LogReading(self.path, self.opened)

    def end(self, reading: "LogReading") -> None:
        """Have the summary of a reading that has come to the end."""
        self._summary = reading.summary()

    def event_at(self, seq: int) -> Event:
        """The event `seq`.

        Raises:
            LogError: the file cannot be read, or does not hold it.
        """
        firsts, places = self._places
        if not firsts:
            firsts.append(0)
            places.append(0)
            number = place = 0
            for lines in read_blocks(self.path, INDEXED_BYTES):
                number += lines.count(b"\n")
                place += len(lines)
                firsts.append(number)
                places.append(place)
        block = bisect_right(firsts, seq) - 1
        try:
            with self.path.open("rb") as file:
                file.seek(places[block])
                line = next(islice(file, seq - firsts[block], None), b"")
        except OSError as error:
            raise LogError(f"cannot read {self.path}: {error.strerror}") from error
        event = decode_line(self.path, seq + 1, line)
        if event is None or event.seq != seq:
            raise line_error(self.path, seq + 1, f"the event with seq {seq} is not there any more")
        return event

    def _read_opened(self) -> LogOpened:
        line = BytesIO(next(read_blocks(self.path), b"")).readline()
        if not line:
            raise LogError(f"{self.path} is empty: expected a log")
        check_length(self.path, 1, line)
        head = decode_head(line)
        if head is None:
            if line.endswith(b"\n") or not line.startswith(b'{"type":'[: len(line)]):
                raise LogError(f"{self.path} is no log: line 1 is not a JSON object with a type")
            raise LogError(f"{self.path} ends inside line 1: nothing of it can be read")
        if head.type != "LogOpened":
            raise LogError(f"{self.path} is no log: it begins with {_shown(head.type)}, expected LogOpened")
        if not 1 <= head.schema <= SCHEMA:
            found = f"{self.path} has schema {head.schema}, this version reads 1 to {SCHEMA}"
            raise LogError(f"{found}: use a newer shadowviz" if head.schema > SCHEMA else found)
        opened = decode_line(self.path, 1, line)
        assert isinstance(opened, LogOpened)
        return opened


class LogReading:
    """How far a log was read, and what was found in it."""

    def __init__(self, path: Path, opened: LogOpened) -> None:
        self._path = path
        self._opened = opened
        self._seq = 0
        """Seq that comes next, one less than the number of its line."""
        self._closed: LogClosed | None = None
        self._lost: str | None = None
        self._unknown: Counter[str] = Counter()

    @property
    def seq(self) -> int:
        """Seq of the event that comes next."""
        return self._seq

    @property
    def closed(self) -> bool:
        """Whether nothing may follow any more."""
        return self._closed is not None

    def summary(self) -> LogSummary:
        """What the log holds, at its end."""
        lost = self._lost
        if self._closed is None and lost is None:
            lost = f"the log was not closed: what followed seq {self._seq - 1}, if anything, is lost"
        return LogSummary(self._opened, self._closed, self._seq, lost, dict(self._unknown))

    def batch(self, block: bytes) -> list[Event] | None:
        """The events of the next lines; None unless nothing is to be said of any, and `event` gives the same."""
        events = decode_block(block) if self._seq and self._closed is None else None
        if events is None or not _ENDS.isdisjoint(map(type, events)):
            return None
        seq = self._seq + len(events)
        if [event.seq for event in events] != list(range(self._seq, seq)):
            return None
        self._seq = seq
        return events

    def pass_over(self, num_events: int) -> None:
        """The next events were read elsewhere, and `batch` would give them."""
        self._seq += num_events

    def event(self, line: bytes) -> Event | None:
        """The event in the next line; None if the line was torn off.

        Raises:
            LogError: it is none, or not the one that comes next.
        """
        number, seq = self._seq + 1, self._seq
        check_length(self._path, number, line)
        if self._closed is not None:
            raise line_error(self._path, number, "something follows LogClosed")
        event = decode_line(self._path, number, line) if seq else self._opened
        if event is None:
            self._lost = f"the log ends inside line {number}: the event with seq {seq} and what followed it are lost"
            return None
        if event.seq != seq:
            found = f"seq {event.seq} where {seq} was expected: events are missing or doubled"
            raise line_error(self._path, number, found)
        if type(event) is LogClosed:
            self._take_closed(number, event)
        elif type(event) is UnknownEvent:
            self._unknown[event.kind] += 1
        elif type(event) is LogOpened and seq:
            raise line_error(self._path, number, "a second LogOpened")
        self._seq += 1
        return event

    def _take_closed(self, number: int, event: LogClosed) -> None:
        if event.count != event.seq:
            found = f"LogClosed counts {event.count} events before it, the log has {event.seq}"
            raise line_error(self._path, number, found)
        self._closed = event


def read_log(path: str | Path) -> LogReader:
    """The log in the file `path`: iterate it for its events, then read its `summary`.

    Raises:
        LogError: it cannot be read, or is no log that this version reads.
    """
    return LogReader(path)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
