"""The record of a stress run: a normal log, and how a run is taken up again from one."""

import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic_ns
from typing import Any, TypeVar

from shadowviz.experiments.stress.work import Plan
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import (
    SCHEMA,
    BoundaryChecked,
    BoundaryStressStarted,
    Event,
    LogClosed,
    LogOpened,
)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.log import FileSink
from shadowviz_engine.core.log_reader import LogReader, read_log
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.sinks import NullSink, Sink

E = TypeVar("E", bound=Event)

_EVENTS_A_FLUSH = 4096
_OF_STRESS = (LogOpened, LogClosed, BoundaryStressStarted, BoundaryChecked)


class Record:
    """Numbers and times the events of a run, and writes them to a file where there is one.

    Raises:
        LogError: the file cannot be written, or holds something and `force` is not given.
    """

    def __init__(self, path: str = "", force: bool = False) -> None:
        self.path = path
        self._sink: Sink = FileSink(path, overwrite=force) if path else NullSink()
        self._last_seq = -1
        self._start = monotonic_ns()
        self._opened: LogOpened | None = None

    @property
    def is_open(self) -> bool:
        """Whether the record has begun."""
        return self._opened is not None

    def open(self, geometry: Geometry) -> LogOpened:
        """Begin the record; nothing is known of what was in the file from here on."""
        opened = self.tell(LogOpened, schema=SCHEMA, geometry=geometry, opened_at=_now())
        self._opened = opened
        return opened

    def tell(self, kind: type[E], /, **fields: Any) -> E:
        """One more event; it may stay in memory until `flush`."""
        event = kind(seq=self._last_seq + 1, t_ns=monotonic_ns() - self._start, **fields)
        self._take(event)
        return event

    def flush(self) -> None:
        """Bring everything told so far to the file."""
        self._sink.flush()

    def close(self) -> None:
        """End the record properly; one that never began leaves the file as it was."""
        if self._opened is None:
            self.discard()
            return
        state = Replayer()
        state.apply(self._opened)
        self.tell(LogClosed, count=self._last_seq + 1, digest=state.digest())
        self._sink.close()

    def give_back(self) -> Iterator[Event]:
        """What the record held before, which is nothing."""
        self.discard()
        return iter(())

    def discard(self) -> None:
        """Let go of the file as if this record had never been."""
        if isinstance(self._sink, FileSink):
            self._sink.discard()

    def _take(self, event: Event) -> None:
        self._last_seq = event.seq
        self._sink.emit(event)
        if not (event.seq + 1) % _EVENTS_A_FLUSH:
            self._sink.flush()


class ContinuedRecord(Record):
    """The record of a run that stopped: what it holds is kept, and more follows.

    The file is replaced by a copy without its end (`LogClosed`, or a line that was torn off) once that copy is whole.

    Raises:
        LogError: the file cannot be read or written, is no log, or is being written by another run.
    """

    def __init__(self, path: str, progress: "Progress") -> None:
        self.progress = progress
        self._reader: LogReader = read_log(path)
        # Held until the end, so that no other run takes up the same record meanwhile.
        self._before = FileSink(path, overwrite=True)
        # The file that a link leads to is written, and the link stays one.
        self._target = Path(path).resolve()
        self._beside = self._target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
        try:
            super().__init__(str(self._beside))
        except BaseException:
            self._before.discard()
            raise
        self.path = path

    def earlier(self) -> Iterator[Event]:
        """What the record holds, its end left out; once all of it has been read, more can be told."""
        last_ns = 0
        try:
            for event in self._reader:
                if isinstance(event, LogClosed):
                    break
                if isinstance(event, LogOpened):
                    self._opened = event
                self._take(event)
                last_ns = event.t_ns
                yield event
            self._sink.flush()
            self._beside.replace(self._target)
        except BaseException:
            self.discard()
            raise
        # Time goes on where the record stopped.
        self._start = monotonic_ns() - last_ns

    def give_back(self) -> Iterator[Event]:
        """What the record holds, and the record as it was."""
        self.discard()
        yield from self._reader

    def close(self) -> None:
        """End the record properly."""
        super().close()
        self._before.discard()

    def discard(self) -> None:
        """Leave the record as it was."""
        super().discard()
        self._before.discard()
        with contextlib.suppress(FileNotFoundError):
            self._beside.unlink()


class Progress:
    """What a record says of the run that it was begun by."""

    def __init__(self) -> None:
        self.started: dict[tuple[str, str], BoundaryStressStarted] = {}
        """By level and subject, in the order of the run."""
        self.done: Counter[tuple[str, str, str, int]] = Counter()
        """Cells by level, subject, mode and length."""
        self.closed = False
        """Whether the record was closed properly."""

    def feed(self, event: Event) -> None:
        """Take in the next event of the record."""
        if isinstance(event, BoundaryStressStarted):
            self.started.setdefault((event.level, event.subject), event)
        elif isinstance(event, BoundaryChecked):
            self.done[event.level, event.subject, event.mode, event.length] += 1
        elif isinstance(event, LogClosed):
            self.closed = True

    @property
    def plans(self) -> list[Plan]:
        """What the run consists of."""
        return [plan_of(event) for event in self.started.values()]

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.closed and self.done.total() >= self.num_cells

    @property
    def num_cells(self) -> int:
        """Cells of the whole run."""
        return sum(event.cells for event in self.started.values())


def progress_of(path: str) -> Progress:
    """How far the run of a record came.

    Raises:
        LogError: the file cannot be read, or is no log.
        InputError: it is the record of something else, or of a run that never began.
    """
    progress = Progress()
    for event in read_log(path):
        if not isinstance(event, _OF_STRESS):
            raise InputError(f"{path} is no record of a stress run: event {event.seq} is a {type(event).__name__}")
        progress.feed(event)
    if not progress.started:
        raise InputError(f"{path} is no record of a stress run: it says of none that it began")
    return progress


def plan_of(event: BoundaryStressStarted) -> Plan:
    """The plan that a run began with."""
    return Plan(
        level=event.level,
        subject=event.asked or event.subject,
        lengths=event.lengths,
        modes=event.modes,
        seed=event.seed,
        options=dict(event.options),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
