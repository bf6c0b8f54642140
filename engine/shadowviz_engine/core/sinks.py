"""Where events go, and the emitter that gives each its place in the order and its time."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from shadowviz_engine.core.events import Event

Clock = Callable[[], int]
"""Nanoseconds from any fixed point, never running backwards: `time.monotonic_ns`."""

_EVENTS_A_FLUSH = 4096
"""A power of two: about a megabyte of JSON, which costs less in one write than in many."""


class Sink(Protocol):
    """Takes events in the order of their seq."""

    def emit(self, event: Event, /) -> None:
        """Take one event; it may stay in memory until `flush`."""

    def flush(self) -> None:
        """Hand on everything taken so far; called at the end of an engine step."""

    def close(self) -> None:
        """Flush and let go of what the sink holds; a closed sink takes nothing more, closing again does nothing."""


class NullSink:
    """Forgets every event."""

    def emit(self, event: Event, /) -> None:
        """Forget the event."""

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class MemorySink:
    """Keeps the newest events, all of them without `max_events`; what `close` leaves can still be read."""

    def __init__(self, max_events: int | None = None) -> None:
        self._events: deque[Event] = deque(maxlen=max_events)
        self.emit: Callable[[Event], None] = self._events.append

    @property
    def events(self) -> tuple[Event, ...]:
        """What is kept, oldest first."""
        return tuple(self._events)

    def flush(self) -> None:
        """Do nothing: every event is already here."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


class TeeSink:
    """Passes every event to several sinks, in their order."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)
        self._emits = tuple(sink.emit for sink in self._sinks)

    def emit(self, event: Event, /) -> None:
        """Pass the event on."""
        for emit in self._emits:
            emit(event)

    def flush(self) -> None:
        """Flush every sink."""
        for sink in self._sinks:
            sink.flush()

    def close(self) -> None:
        """Close every sink, the later ones too when an earlier one fails; the first failure is raised.

        Raises:
            Exception: what the first sink that failed raised.
        """
        failures = []
        for sink in self._sinks:
            try:
                sink.close()
            except Exception as failure:
                failures.append(failure)
        if failures:
            raise failures[0]


class Emitter:
    """Numbers events densely from 0 and times them in nanoseconds since it was made; flushes the sink now and then.

    One event costs `seq, t_ns = emitter.next()`, its construction and `emitter.emit(event)`; every pair of
    `next` is emitted, in order.
    """

    __slots__ = ("_clock", "_sink", "_start", "emit", "last_seq")

    def __init__(self, sink: Sink, clock: Clock) -> None:
        self._sink = sink
        self._clock = clock
        self._start = clock()
        self.emit: Callable[[Event], None] = sink.emit
        self.last_seq = -1
        """Seq handed out last; -1 before the first."""

    def next(self) -> tuple[int, int]:
        """Seq and time of the next event."""
        self.last_seq = seq = self.last_seq + 1
        if not seq & (_EVENTS_A_FLUSH - 1):
            self._sink.flush()
        return seq, self._clock() - self._start

    def flush(self) -> None:
        """Flush the sink."""
        self._sink.flush()

    def close(self) -> None:
        """Close the sink."""
        self._sink.close()
