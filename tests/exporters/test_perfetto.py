"""Perfetto traces, read back by their own schema: tracks, nested stretches, counters, and what each says."""

import random
from collections import defaultdict
from typing import Any

import pytest
from cache_walks import CacheWalk
from event_samples import events_diagram, opened_driver, walked_events
from hostile import TEXTS
from msgspec.structs import replace
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket

from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.events import EventsDiagram
from shadowviz.diagrams.memory_tiles import num_pages_taken
from shadowviz.diagrams.trace_of import TRACKS
from shadowviz.exporters.perfetto import BATCH, UUID, render
from shadowviz_engine.core.columns import DONE
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    Event,
    LogOpened,
    LookupDone,
    NotStored,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    SpanEvicted,
    StepDone,
    SwaFreed,
)
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids
from shadowviz_engine.core.verdict import Verdict


class ReadTrace:
    """A trace as a viewer takes it: by track, in order of time."""

    def __init__(self, diagram: EventsDiagram) -> None:
        drawing = render(diagram)
        self.trace = Trace()
        self.trace.ParseFromString(drawing.data + b"".join(drawing.parts))
        assert self.trace.packet[0].sequence_flags == TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        self.names: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.stretches: dict[int, list[tuple[str, int, int, dict[str, Any]]]] = defaultdict(list)
        self.open: dict[int, list[tuple[str, int, dict[str, Any]]]] = defaultdict(list)
        self.instants: dict[int, list[tuple[int, str, dict[str, Any]]]] = defaultdict(list)
        self.counters: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for packet in self.trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            assert packet.IsInitialized()
            if packet.HasField("track_descriptor"):
                self._describe(packet.track_descriptor)
        for packet in sorted((p for p in self.trace.packet if p.HasField("track_event")), key=lambda p: p.timestamp):
            self._take(packet)

    def _describe(self, descriptor: Any) -> None:
        assert descriptor.uuid not in self.names
        self.names[descriptor.uuid] = descriptor.name
        self.parents[descriptor.uuid] = descriptor.parent_uuid
        assert not descriptor.parent_uuid or descriptor.parent_uuid in self.names

    def _take(self, packet: Any) -> None:
        event = packet.track_event
        track, args = event.track_uuid, {}
        assert track in self.names
        for note in event.debug_annotations:
            args[note.name] = getattr(note, note.WhichOneof("value"))
        if event.type == event.TYPE_SLICE_BEGIN:
            self.open[track].append((event.name, packet.timestamp, args))
        elif event.type == event.TYPE_SLICE_END:
            name, start, begun = self.open[track].pop()
            self.stretches[track].append((name, start, packet.timestamp, begun | args))
        elif event.type == event.TYPE_INSTANT:
            self.instants[track].append((packet.timestamp, event.name, args))
        else:
            assert event.type == event.TYPE_COUNTER
            self.counters[track].append((packet.timestamp, event.counter_value))

    def track(self, name: str) -> int:
        return next(uuid for uuid, given in self.names.items() if given == name)

    def last(self, name: str) -> float:
        return self.counters[self.track(name)][-1][1]


def replayed(events: tuple[Event, ...]) -> Replayer:
    state = Replayer()
    for event in events:
        state.apply(event)
    return state


def timed(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The same with a clock that ticks, twice or not at all between two events."""
    return tuple(replace(event, t_ns=1_000 * (place * 2 // 3)) for place, event in enumerate(events))


@pytest.mark.parametrize("seed", range(16))
def test_counters_end_at_what_the_replayed_state_holds(seed: int) -> None:
    walk = CacheWalk(random.Random(seed))
    for _ in range(70):
        walk.step()
    events = timed(walked_events(walk))
    read, state = ReadTrace(events_diagram(events)), replayed(events)
    columns, page = TreeColumns(state), walk.geometry.page_size
    for pool, runs in (("full", columns.full), ("swa", columns.swa)):
        held = [run for of_request in state.held[pool].values() for run in of_request]
        assert read.last(f"{pool} pages in use") == num_pages_taken(runs, columns.living, held, page)
    assert read.last("tokens in the tree") == columns.subtree[1][0]
    alive = [row for row in range(len(state.requests)) if state.requests.state[row] < DONE]
    assert read.last("requests running") + read.last("requests waiting") == len(alive)


@pytest.mark.parametrize("seed", range(16))
def test_every_event_that_a_track_is_for_is_on_it(seed: int) -> None:
    walk = CacheWalk(random.Random(seed))
    for _ in range(70):
        walk.step()
    events = timed(walked_events(walk))
    read = ReadTrace(events_diagram(events))
    kinds: dict[type[Event], int] = defaultdict(int)
    for event in events:
        kinds[type(event)] += 1
    named = [word for instants in read.instants.values() for _, word, _ in instants]
    assert sum(word.startswith("evicted: ") for word in named) == kinds[SpanEvicted]
    assert sum(word.startswith("tombstone: ") for word in named) == kinds[SwaFreed]
    assert sum(word.startswith("not stored: ") for word in named) == kinds[NotStored]
    assert named.count("aborted") == kinds[RequestAborted]
    assert named.count("finished") == kinds[RequestFinished]
    verdicts = tuple(Verdict)
    assert sum(word.partition("(")[0] in verdicts for word in named) == kinds[LookupDone]
    assert sum(read.parents[track] == UUID + 1 for track in read.names) == kinds[RequestSubmitted]


def a_run() -> tuple[Event, ...]:
    """One request in two chunks and three decode passes, then the same prompt again, unfinished."""
    driver = opened_driver(preset("recall"))

    def at(t_ns: int, kind: type[Event] | None = None, **fields: object) -> None:
        driver.now_ns = t_ns
        if kind is not None:
            driver._emit(kind, **fields)

    at(100)
    first, _ = driver.start(range(40))
    driver.prefill(first, 40)
    at(200, StepDone, prefill=((first, 0, 32),))
    at(300, StepDone, prefill=((first, 32, 40),))
    for t_ns in (400, 500):
        at(t_ns, StepDone, decode=(first,))
    at(600)
    driver.outputs[first] = [7, 8]
    driver._emit(RequestFinished, request=first, reason="length", tokens=pack_ids([7, 8]), ttft_ns=2_000_000)
    driver.manager.finish(first)
    at(700)
    driver.start(range(40))
    return driver.events


def test_a_request_has_queue_prefill_chunks_and_decode() -> None:
    read = ReadTrace(events_diagram(a_run()))
    track = read.track("r1")
    # In the order in which they end: chunks lie within the prefill.
    assert [item[:3] for item in read.stretches[track]] == [
        ("queue", 100, 100),
        ("[0,32)", 100, 200),
        ("[32,40)", 200, 300),
        ("prefill", 100, 300),
        ("decode", 300, 600),
    ]
    assert read.stretches[track][-1][3] == {"tokens": 2}
    assert [item[:2] for item in read.instants[track]] == [(100, "COLD"), (600, "finished")]
    assert read.instants[track][1][2] == {"reason": "length", "output tokens": 2, "time to first token ms": 2.0}
    passes = read.track("Passes of the model")
    assert [item[:3] for item in read.stretches[passes]] == [
        ("prefill", 100, 200),
        ("prefill", 200, 300),
        ("decode", 300, 400),
        ("decode", 400, 500),
    ]
    assert read.stretches[passes][0][3] == {"prefill tokens": 32, "prefill chunks": 1, "decoded tokens": 0}


def test_a_lookup_says_its_verdict_and_what_it_reused() -> None:
    read = ReadTrace(events_diagram(a_run()))
    track = read.track("r2")
    when, word, args = read.instants[track][0]
    assert (when, word.partition("(")[0]) == (700, args["why"].split(",")[0].split(":")[0].partition("(")[0])
    assert (args["num prompt"], args["common"], args["reused"]) == (40, 40, 32)
    # It has not ended: its last stretch is open, as a viewer shows it.
    assert [name for name, *_ in read.open[track]] == ["prefill"]


def test_the_same_run_gives_the_same_bytes() -> None:
    first, second = (b"".join(render(events_diagram(a_run())).parts) for _ in range(2))
    assert first == second


def test_packets_are_written_as_events_are_read() -> None:
    seen = []
    opened = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall"))

    def events() -> Any:
        yield opened
        for seq in range(1, 6 * BATCH):
            seen.append(seq)
            yield RequestSubmitted(seq=seq, t_ns=seq, request=f"r{seq}", tokens=b"")

    drawing = render(replace(events_diagram([opened]), events=events))
    parts = iter(drawing.parts)
    assert seen == []
    next(parts)
    assert 0 < len(seen) < BATCH
    assert sum(len(list(Trace.FromString(part).packet)) > 0 for part in parts) > 6
    assert len(seen) == 6 * BATCH - 1


@pytest.mark.parametrize("text", TEXTS)
def test_names_of_any_sort_are_carried_inert(text: str) -> None:
    name = text[:100_000]
    events = [
        LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall")),
        RequestSubmitted(seq=1, t_ns=-5, request=name, tokens=pack_ids([1, 2])),
        RequestAborted(seq=2, t_ns=2**70, request=name, reason=name),
    ]
    read = ReadTrace(events_diagram(events))
    for shown in read.names.values():
        assert shown.isprintable()
        assert len(shown) < 1_200
    assert len(read.names) == len(TRACKS) + 2


def test_events_that_contradict_each_other_are_told() -> None:
    events = [
        LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall")),
        SpanEvicted(seq=1, t_ns=0, node=9, reason="lru"),
    ]
    with pytest.raises(LogError):
        b"".join(render(events_diagram(events)).parts)
