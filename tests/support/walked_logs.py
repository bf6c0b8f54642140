"""Logs of random caches, as events, as a file, and as a log in memory that grows."""

import random
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec
from cache_walks import CacheWalk
from trees import opened_of

from shadowviz_engine.core.events import Event, LogClosed


class LoggedWalk(CacheWalk):
    """A walk whose bookkeeping other tests check after every step, with the head of a log before it."""

    def __init__(self, seed: int, num_steps: int) -> None:
        super().__init__(random.Random(seed))
        emitter = self.driver.manager.state.emitter
        seq, t_ns = emitter.next()
        emitter.emit(msgspec.structs.replace(opened_of(self.geometry, self.options), seq=seq, t_ns=t_ns))
        for _ in range(num_steps):
            self.step()

    def check(self) -> None:
        pass

    def check_lookup(self, *_: object) -> None:
        pass

    def events(self) -> tuple[Event, ...]:
        """The whole record, closed."""
        recorded = self.driver.events
        count = len(recorded)
        return (*recorded, LogClosed(seq=count, t_ns=self.driver.now_ns, count=count, digest=self.driver.digest()))


def lines_of(events: Sequence[Event]) -> bytes:
    """The events as a log holds them."""
    return msgspec.json.Encoder().encode_lines(events)


def write_log(path: Path, events: Sequence[Event]) -> Path:
    """A log file of the events."""
    path.write_bytes(lines_of(events))
    return path


class GrowingLog:
    """A log in memory, of which only the first events are there yet."""

    def __init__(self, events: Sequence[Event], num_there: int) -> None:
        self._events = events
        self.num_there = num_there

    @property
    def head(self) -> int:
        return self.num_there - 1

    def grow(self, num_events: int) -> None:
        self.num_there = min(len(self._events), self.num_there + num_events)

    def event_at(self, seq: int) -> Event:
        return self.events(seq, seq + 1)[0]

    def events(self, start: int, stop: int) -> list[Event]:
        assert 0 <= start <= stop <= self.num_there
        return list(self._events[start:stop])

    def next_of(self, kinds: Collection[str], seq: int) -> int | None:
        later = range(max(0, seq + 1), self.num_there)
        return next((at for at in later if type(self._events[at]).__name__ in kinds), None)

    def previous_of(self, kinds: Collection[str], seq: int) -> int | None:
        return next((at for at in range(seq - 1, -1, -1) if type(self._events[at]).__name__ in kinds), None)
