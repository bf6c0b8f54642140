"""Sinks and the emitter that numbers and times events."""

from itertools import count

import pytest

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import PathEnded
from shadowviz_engine.core.sinks import Emitter, MemorySink, NullSink, TeeSink


def ended(emitter: Emitter, node: int) -> None:
    seq, t_ns = emitter.next()
    emitter.emit(PathEnded(seq=seq, t_ns=t_ns, node=node))


class BrokenSink(NullSink):
    def close(self) -> None:
        raise LogError("the disk is full")


class ClosingSink(MemorySink):
    closed = flushed = False

    def flush(self) -> None:
        self.flushed = True

    def close(self) -> None:
        self.closed = True


def test_an_emitter_numbers_events_densely_and_times_them_from_its_making() -> None:
    clock = count(1_000, 5)
    sink = MemorySink()
    emitter = Emitter(sink, lambda: next(clock))
    assert emitter.last_seq == -1
    for node in (7, 8, 9):
        ended(emitter, node)
    assert [(e.seq, e.t_ns) for e in sink.events] == [(0, 5), (1, 10), (2, 15)]
    assert emitter.last_seq == 2


def test_a_memory_sink_keeps_the_newest_events() -> None:
    sink = MemorySink(max_events=2)
    emitter = Emitter(sink, lambda: 0)
    for node in (7, 8, 9):
        ended(emitter, node)
    assert [e.seq for e in sink.events] == [1, 2]


def test_a_tee_passes_every_event_flush_and_close_to_all_its_sinks() -> None:
    first, second = ClosingSink(), ClosingSink()
    emitter = Emitter(TeeSink([first, NullSink(), second]), lambda: 0)
    ended(emitter, 1)
    emitter.flush()
    assert first.events == second.events
    assert len(first.events) == 1
    assert (first.flushed, second.flushed) == (True, True)
    emitter.close()
    assert (first.closed, second.closed) == (True, True)


def test_a_tee_closes_the_later_sinks_when_an_earlier_one_fails() -> None:
    later = ClosingSink()
    tee = TeeSink([BrokenSink(), later])
    with pytest.raises(LogError, match="the disk is full"):
        tee.close()
    assert later.closed
