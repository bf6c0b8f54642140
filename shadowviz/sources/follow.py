"""A log that is followed while it grows: its newest events at once, any other by its number, and what befalls it."""

import math
import stat
import time
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from shadowviz.sources.event_lines import events_of
from shadowviz.sources.line_index import CODES, KINDS, LineIndex
from shadowviz.sources.log_file_view import LogFileView
from shadowviz.sources.log_health import LogHealth
from shadowviz.sources.states import LogState
from shadowviz.sources.torn_line import TornLine
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LogOpened
from shadowviz_engine.core.log_lines import MAX_LINE_BYTES, decode_head, line_error
from shadowviz_engine.core.log_reader import read_log

TAIL_BYTES = 64 * 1024
"""Of a large file's end, read first."""
CHUNK_BYTES = 2**20
"""Read at once; a longer line takes more."""
MOST_KINDS = 100_000
"""Events whose kinds are told together."""


class Polled(msgspec.Struct, frozen=True):
    """What a look at a followed log has found."""

    new: range
    """Events that it gained."""
    state: LogState
    words: str
    """What is worth saying of the state, in a sentence; empty = nothing."""


class Follower:
    """A log in a file, from its first event to the newest; it may not be there yet.

    What was read stays readable when another file takes its name; what was cut off does not. Only `restart` begins
    anew. Until `is_written` says that the log's writer has begun, what stands under the name is another log, and waits
    to be written over.

    Raises:
        LogError: there is a file, and it cannot be read or is no log that this version reads.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Callable[[], float] = time.monotonic,
        is_written: Callable[[], bool] = lambda: True,
    ) -> None:
        self.path = Path(path)
        self.round = 0
        """How often it was read from its beginning: what was read in another round may be another log."""
        self._clock, self._is_written = clock, is_written
        self._begin()
        first = self.poll()
        if first.state is LogState.BROKEN:
            self.close()
            raise LogError(first.words)

    def _begin(self) -> None:
        self.round += 1
        self._file: LogFileView | None = None
        self._torn = TornLine()
        self._front = LineIndex()
        self._tail: LineIndex | None = None
        self._health = LogHealth(self.path, self._clock)
        self._state, self._words = LogState.WAITING, ""
        self.opened: LogOpened | None = None
        """First event; None until there is one."""

    @property
    def state(self) -> LogState:
        """As found last."""
        return self._state

    @property
    def head(self) -> int:
        """Seq of the newest event; -1 = there is none."""
        return self._last.stop_seq - 1

    @property
    def indexed(self) -> int:
        """Events from the beginning on whose places are known."""
        return self._front.stop_seq

    @property
    def is_indexed(self) -> bool:
        """Whether the places of all events are known."""
        return self._tail is None

    def poll(self) -> Polled:
        """Look at the file; events that it gained can be read from then on."""
        before = self.head
        try:
            self._look()
        except LogError as error:
            self._state, self._words = LogState.BROKEN, str(error)
        return Polled(range(before + 1, self.head + 1), self._state, self._words)

    def index(self, budget_s: float = math.inf) -> bool:
        """Find the places of events for about this long; whether all are known.

        Raises:
            LogError: events are missing.
        """
        stop = self._clock() + budget_s
        while self._tail is not None and self._file is not None:
            num_lines = self._add(self._front, CHUNK_BYTES, self._tail.begin)
            if self._front.end >= self._tail.begin:
                self._meet(self._tail)
            elif not num_lines or self._clock() >= stop:
                break
        return self._tail is None

    def event_at(self, seq: int) -> Event:
        """The event `seq`.

        Raises:
            LogError: it is not there, not any more, or not readable.
        """
        return self.events(seq, seq + 1)[0]

    def events(self, start: int, stop: int) -> list[Event]:
        """The events [start, stop).

        Raises:
            LogError: one of them is not there, not any more, or not readable; it contradicts its place.
        """
        if stop <= start:
            return []
        index = self._index_of(start, stop)
        assert self._file is not None, "what is indexed was read"
        begin, end = index.extent(start, stop)
        block = self._file.read(begin, end - begin)
        if len(block) < end - begin or not block.endswith(b"\n"):
            raise LogError(f"{self.path}: event {start} is cut off: the file is shorter than it was")
        self._check_ends(index, start, stop)
        return events_of(self.path, block, start)

    def newest(self, num_events: int) -> list[Event]:
        """The last events, at most so many of them, of those that can be read at once.

        Raises:
            LogError: one of them is not readable.
        """
        last = self._last
        return self.events(max(last.first_seq, last.stop_seq - num_events), last.stop_seq)

    def kind_at(self, seq: int) -> str:
        """Name of the kind of event `seq`; empty = unknown to this version."""
        index = self._index_of(seq, seq + 1)
        return KINDS[index.kinds[seq - index.first_seq]]

    def kinds_between(self, start: int, stop: int) -> frozenset[str] | None:
        """Kinds of the events [start, stop); None where there are too many to look at, or not all are indexed."""
        if not 0 <= stop - start <= MOST_KINDS or start < 0:
            return None
        for index in (self._front, self._tail):
            if index is not None and index.first_seq <= start and stop <= index.stop_seq:
                codes = set(index.kinds[start - index.first_seq : stop - index.first_seq])
                return frozenset(KINDS[code] for code in codes)
        return None

    def next_of(self, kinds: Collection[str], seq: int) -> int | None:
        """The first event behind `seq` that is of one of `kinds`; None = there is none yet."""
        self.index()
        found = [self._front.kinds.find(CODES[kind], seq + 1) for kind in kinds if kind in CODES]
        return min((at for at in found if at >= 0), default=None)

    def previous_of(self, kinds: Collection[str], seq: int) -> int | None:
        """The last event before `seq` that is of one of `kinds`; None = there is none."""
        self.index()
        found = [self._front.kinds.rfind(CODES[kind], 0, max(0, seq)) for kind in kinds if kind in CODES]
        return max((at for at in found if at >= 0), default=None)

    def restart(self) -> Polled:
        """Forget what was read, and read what stands under the name from its beginning."""
        self.close()
        self._begin()
        return self.poll()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def _last(self) -> LineIndex:
        return self._front if self._tail is None else self._tail

    def _index_of(self, start: int, stop: int) -> LineIndex:
        for index in (self._front, self._tail):
            if index is not None and index.first_seq <= start and stop <= index.stop_seq:
                return index
        if 0 <= start < stop <= self.head + 1:
            self.index()
            if stop <= self._front.stop_seq:
                return self._front
        raise LogError(f"{self.path} has no events [{start},{stop}): its newest is {self.head}")

    def _check_ends(self, index: LineIndex, start: int, stop: int) -> None:
        """Only the first event opens a log, and only the last one closes it."""
        kinds, first = index.kinds, index.first_seq
        opened = kinds.find(CODES["LogOpened"], max(1, start) - first, stop - first)
        if opened >= 0:
            raise line_error(self.path, first + opened + 1, "a second LogOpened")
        closed = kinds.find(CODES["LogClosed"], start - first, min(stop, self.head) - first)
        if closed >= 0:
            raise line_error(self.path, first + closed + 2, "something follows LogClosed")

    def _look(self) -> None:
        if self._file is None and not (self._is_written() and self._open()):
            return
        assert self._file is not None
        size = self._file.size()
        if size < self._last.end or not self._file.is_unchanged(self._last.end):
            kept = f"{self.path} was cut off or written anew while it was followed"
            self._state, self._words = LogState.TRUNCATED, f"{kept}: what is shown was read before; start again"
            return
        if self._state is not LogState.TRUNCATED:
            self._grow(size)
            self._state, self._words = self._health.judge(self._file, self._last, size)

    def _open(self) -> bool:
        """Open the file, if there is one."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise LogError(f"{self.path} is not a regular file: expected a log")
            self._file = LogFileView(self.path)
        except FileNotFoundError:
            self._state, self._words = LogState.WAITING, f"{self.path} is not there yet"
            return False
        except OSError as error:
            raise LogError(f"cannot read {self.path}: {error.strerror}") from error
        except ValueError as error:
            raise error if isinstance(error, LogError) else LogError(f"cannot read {self.path}: {error}") from error
        self._tail = self._find_tail(self._file)
        return True

    def _find_tail(self, file: LogFileView) -> LineIndex | None:
        """An index of the last lines of a large file; None = it is small, or its end says no number."""
        size, length = file.size(), TAIL_BYTES
        while size > 2 * length and length <= MAX_LINE_BYTES:
            data = file.read(size - length, length)
            begin = data.find(b"\n") + 1
            stop = data.find(b"\n", begin) + 1
            head = decode_head(data[begin:stop]) if begin and stop else None
            if head is not None and head.seq > 0:
                return LineIndex(head.seq, size - length + begin)
            length *= 8
        return None

    def _grow(self, size: int) -> None:
        last = self._last
        before = last.end
        assert self._file is not None
        while last.end < size and self._torn.may_end(self._file, last.end, size) and self._add(last, CHUNK_BYTES):
            pass
        if last.end < size:
            self._torn.note(last.end, size)
        if last.end != before:
            self._file.remember(last.end)
        if self.opened is None and (self._front or self._tail or self._begins_otherwise()):
            self.opened = read_log(self.path).opened

    def _begins_otherwise(self) -> bool:
        assert self._file is not None
        first = self._file.read(0, 1)
        return bool(first) and first != b"{"

    def _add(self, index: LineIndex, length: int, stop: int | None = None) -> int:
        """Take the next lines into `index`, none from byte `stop` on; how many."""
        assert self._file is not None
        while True:
            data = self._file.read(index.end, length if stop is None else min(length, stop - index.end))
            num_lines = index.add(data)
            if num_lines or len(data) < length:
                return num_lines
            if length > MAX_LINE_BYTES:
                raise line_error(self.path, index.stop_seq + 1, f"longer than {MAX_LINE_BYTES} bytes, so no log")
            length *= 4

    def _meet(self, tail: LineIndex) -> None:
        """The front has come to where the tail begins, or behind it."""
        self._tail = None
        if (self._front.stop_seq, self._front.end) == (tail.first_seq, tail.begin):
            self._front.join(tail)
            return
        found, expected = tail.first_seq, self._front.stop_seq
        words = f"seq {found} where {expected} was expected: events are missing or doubled"
        raise line_error(self.path, expected + 1, words)
