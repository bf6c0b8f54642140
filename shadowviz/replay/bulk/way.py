"""The way through a large log, from its first event to its last, with stops at which the tree is looked at."""

import gc
import os
from collections.abc import Callable, Iterator
from io import BytesIO
from types import TracebackType

from shadowviz.replay.bulk.chunks import CHUNK_BYTES, NOTHING, Chunks
from shadowviz.replay.bulk.columns import AnyEvent, Columns, columns_of
from shadowviz.replay.bulk.replay import BulkReplay
from shadowviz.replay.bulk.state import TreeState
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz.replay.bulk.workers import MOST_WORKERS, Parsers, Task
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.log_lean import decode_lean
from shadowviz_engine.core.log_reader import LogReader

WORTH_WORKERS = 64 * 1024 * 1024
"""Bytes of a log from which on it is worth to start processes."""
TOLD_EVENTS = 1 << 16
"""Events between two words on how far it is."""


class LogWay:
    """Goes through the events of a log, and leaves it with its summary.

    Every method raises:
        LogError: the log cannot be read, or contradicts itself.
        Unsound: events do not fit together, which reading them one by one may explain.
    """

    def __init__(
        self,
        log: LogReader,
        wanted: str = "",
        told: Callable[[int], None] = lambda _num_events: None,
        most_workers: int = MOST_WORKERS,
    ) -> None:
        """Begin.

        Args:
            wanted: request before whose lookup `until_lookup` stops.
            told: is told now and then how many events were read.
            most_workers: processes beside this one; a small log, or one processor, has none.
        """
        try:
            size = log.path.stat().st_size
        except OSError as error:
            raise LogError(f"cannot read {log.path}: {error.strerror}") from error
        self._log, self._wanted, self._told = log, wanted, told
        self._chunks = Chunks(os.fsencode(log.path), size, CHUNK_BYTES)
        self._parsers = Parsers(Task(self._chunks, wanted), min(_num_workers(size), most_workers))
        self._reading = log.begin()
        self._replay = BulkReplay()
        self._rest = self._read()
        self._ahead = NOTHING
        self._tell_at = 0
        self._number = 0
        self._events: list[AnyEvent] = []
        """Of the chunk of that number, if it was read line by line."""
        self._was_collecting = gc.isenabled()

    def __enter__(self) -> "LogWay":
        # Nothing is searched for cycles meanwhile: events have none, and there are millions of them.
        gc.disable()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parsers.close()
        if self._was_collecting:
            gc.enable()

    def until(self, at: int | None) -> TreeState:
        """Go on to event `at`, which must not be behind, or to the last one."""
        while at is None or self._seq < at:
            columns = self._next()
            if columns is None:
                break
            if at is not None and at < columns.end - 1:
                columns, self._ahead = self._cut(columns, at + 1)
            self._replay.apply(columns)
        self._replay.settle()
        return self._replay.state

    def until_lookup(self, at: int | None) -> int | None:
        """Go on to the event before the first lookup of the wanted request, and give its seq; at most to `at`."""
        while at is None or self._seq < at:
            columns = self._next()
            if columns is None:
                break
            if columns.found >= 0 and (at is None or columns.found <= at):
                self._ahead = columns
                self.until(columns.found - 1)
                return columns.found
            if at is not None and at < columns.end - 1:
                columns, self._ahead = self._cut(columns, at + 1)
            self._replay.apply(columns)
        self._replay.settle()
        return None

    def last_seq(self) -> int:
        """Read what is left; the seq of the last event."""
        while self._next() is not None:
            pass
        return self._reading.seq - 1

    @property
    def _seq(self) -> int:
        return self._replay.state.seq

    def _next(self) -> Columns | None:
        columns, self._ahead = self._ahead, NOTHING
        return columns if columns.num else next(self._rest, None)

    def _read(self) -> Iterator[Columns]:
        for number, parsed in enumerate(self._parsers.columns()):
            self._number, self._events = number, []
            columns = parsed
            if columns is None or (columns.num and (self._reading.closed or columns.first != self._reading.seq)):
                columns = self._whole()
            else:
                self._reading.pass_over(columns.num)
            if columns.end >= self._tell_at:
                self._tell_at = columns.end + TOLD_EVENTS
                self._told(columns.end)
            if columns.num:
                yield columns
        self._told(self._reading.seq)
        self._log.end(self._reading)

    def _whole(self) -> Columns:
        """The chunk read line by line, which tells what is wrong with it."""
        found = [self._reading.event(line) for line in BytesIO(self._lines())]
        self._events = [event for event in found if event is not None]
        return columns_of(self._events, self._wanted) if self._events else NOTHING

    def _cut(self, columns: Columns, seq: int) -> tuple[Columns, Columns]:
        """What is left of the chunk in two: its events before `seq`, and those from it on."""
        events = self._events or decode_lean(self._lines())
        if not events or not events[0].seq <= columns.first or events[-1].seq != columns.end - 1:
            raise Unsound("the log has changed while it was read")
        first, middle = columns.first - events[0].seq, seq - events[0].seq
        return columns_of(events[first:middle], self._wanted), columns_of(events[middle:], self._wanted)

    def _lines(self) -> bytes:
        return self._chunks.lines(self._number)


def _num_workers(size: int) -> int:
    """As many as there are processors beside this one, for a log that is worth it."""
    num = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(num - 1, MOST_WORKERS) if size >= WORTH_WORKERS else 0
