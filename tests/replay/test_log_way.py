"""A log read in bulk, in chunks and by several processes: what is found, and what is said of a damaged one."""

import os
import random
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_runs import ByNumber
from walked_logs import LoggedWalk, write_log

from shadowviz.replay import tree_moment
from shadowviz.replay.bulk import chunks, workers
from shadowviz.replay.bulk import way as ways
from shadowviz.replay.bulk.chunks import Chunks
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz.replay.bulk.way import LogWay
from shadowviz.replay.moment import moment_at, of_request, state_at
from shadowviz.sources.logfile import LogFile
from shadowviz_engine.core import log_lines
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import (
    Event,
    LogClosed,
    LogOpened,
    LookupDone,
    PathEnded,
    RequestSubmitted,
    SlotRun,
    SlotsFreed,
)
from shadowviz_engine.core.holdings import Run
from shadowviz_engine.core.log_reader import LogSummary, read_log
from shadowviz_engine.core.presets import preset

STORED = Path(__file__).parents[2] / "fixtures" / "logs" / "schema-1.jsonl"
OPENED = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall"))
Outcome: TypeAlias = tuple[int, LogSummary] | str


class Recorded(LogFile):
    """A log of which it is noted how far it was read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.told: list[int] = []

    def tell_progress(self, num_events: int) -> None:
        self.told.append(num_events)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "CHUNK_BYTES", 300)
    monkeypatch.setattr(tree_moment, "LARGE_BYTES", 0)


def whole_outcome(path: Path) -> Outcome:
    try:
        reader = read_log(path)
        return sum(1 for _ in reader), reader.summary
    except LogError as error:
        return str(error)


def bulk_outcome(path: Path, chunk_bytes: int) -> Outcome:
    """What a way says that goes past the events without applying any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "CHUNK_BYTES", chunk_bytes)
        try:
            log = read_log(path)
            with LogWay(log) as way:
                return way.last_seq() + 1, log.summary
        except LogError as error:
            return str(error)


PIECES = st.sampled_from([b"", b"\n", b"{", b"}", b'"', b" ", b"7", b"x", b"\xff", b"\n\n"])
DAMAGE = st.lists(st.tuples(st.integers(0, 10**6), PIECES), max_size=2)


@given(DAMAGE, st.integers(0, 400), st.sampled_from([1, 300, 32 * 1024]))
def test_a_reading_in_bulk_says_what_a_whole_one_says_of_a_damaged_log(
    damage: list[tuple[int, bytes]], cut: int, chunk_bytes: int
) -> None:
    data = STORED.read_bytes()
    for place, piece in damage:
        at = place % len(data)
        data = data[:at] + piece + data[at + 1 :]
    data = data[: len(data) - cut]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_bytes(data)
        whole, bulk = whole_outcome(path), bulk_outcome(path, chunk_bytes)
    # A field that no picture needs may be wrong; nothing that reads whole is read otherwise.
    assert bulk == whole or (isinstance(whole, str) and "no event: " in whole)


def ended(seq: int) -> PathEnded:
    return PathEnded(seq=seq, t_ns=seq, node=1)


def log_of(tmp_path: Path, *lines: str | Event) -> Path:
    path = tmp_path / "log.jsonl"
    encoded = [line.encode() if isinstance(line, str) else msgspec.json.encode(line) for line in (OPENED, *lines)]
    path.write_bytes(b"".join(line + b"\n" for line in encoded))
    return path


def test_fields_without_use_are_passed_over_and_unknown_events_are_told(tmp_path: Path) -> None:
    odd = '{"type":"Odd","seq":2,"t_ns":5}'
    path = log_of(tmp_path, '{"type":"PathEnded","seq":1,"t_ns":"soon","node":4,"more":[1,{"a":2}]}', odd)
    assert "no event" in str(whole_outcome(path))
    outcome = bulk_outcome(path, 1)
    assert isinstance(outcome, tuple)
    assert (outcome[0], outcome[1].unknown) == (3, {"Odd": 1})
    assert "line 2" in str(bulk_outcome(log_of(tmp_path, '{"type":"PathEnded","seq":1,"t_ns":1,"node":"4"}'), 1))
    for odd_lines in (
        ["{}{}", "", "{}"],
        ["{}{}", "{}"],
        ["{", "}{}", "{}"],
        ["{} {}", "{}", ""],
        ["", "{}", "{}", "{}"],
    ):
        # As many objects as numbers, and more or fewer lines.
        seqs_left = iter(range(300, 400))
        odd = [line.replace("{}", "%s") for line in odd_lines]
        odd = [
            line % tuple(msgspec.json.encode(ended(next(seqs_left))).decode() for _ in range(line.count("%s")))
            for line in odd
        ]
        path = log_of(tmp_path, *map(ended, range(1, 300)), *odd, *map(ended, range(303, 400)))
        assert isinstance(whole_outcome(path), str)
        assert bulk_outcome(path, 4_000) == whole_outcome(path)
    for seqs, found in (((1, 3), "line 3: seq 3 where 2"), ((1, 1), "line 3: seq 1 where 2"), ((2,), "line 2: seq 2")):
        for chunk_bytes in (1, 10_000):
            assert found in str(bulk_outcome(log_of(tmp_path, *map(ended, seqs)), chunk_bytes))
    gap = [ended(seq) for seq in range(1, 300) if seq != 250]
    assert "line 251: seq 251 where 250 was expected" in str(bulk_outcome(log_of(tmp_path, *gap), 4_000))


@pytest.mark.parametrize("more", [0, 1, 2, 900])
def test_a_line_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    for module in (log_lines, chunks):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 6_000)
    line = msgspec.json.encode(ended(1)).decode()
    path = log_of(tmp_path, line[:-1] + " " * (5_999 - len(line) + more) + "}", ended(2))
    for chunk_bytes in (1, 400, 100_000):
        outcome = bulk_outcome(path, chunk_bytes)
        assert outcome == whole_outcome(path)
        assert ("line 2: longer than 6000 bytes" in str(outcome)) == (more > 0)


def test_what_follows_the_end_is_refused(tmp_path: Path) -> None:
    closed = LogClosed(seq=1, t_ns=1, count=1, digest="x")
    path = log_of(tmp_path, closed, ended(2))
    for chunk_bytes in (1, 10_000):
        assert bulk_outcome(path, chunk_bytes) == whole_outcome(path)
        assert "line 3: something follows LogClosed" in str(bulk_outcome(path, chunk_bytes))


LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=12)


@given(LINES, st.booleans(), st.integers(1, 60))
def test_every_line_is_in_the_chunk_that_it_begins_in(lines: list[bytes], ends: bool, chunk_bytes: int) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    begins = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10 and at + 1 < len(data))] if data else []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        path.write_bytes(data)
        parts = Chunks(os.fsencode(path), len(data), chunk_bytes)
        found = [parts.lines(number) for number in range(parts.num)]
    expected = [b""] * parts.num
    for begin, end in zip(begins, [*begins[1:], len(data)][: len(begins)], strict=True):
        expected[begin // chunk_bytes] += data[begin:end]
    assert found == expected


def test_what_is_written_behind_the_size_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert Chunks(os.fsencode(path), 6, 100).lines(0) == b"one\ntwo\n"
    with pytest.raises(LogError, match=r"cannot read .*No such file"):
        Chunks(os.fsencode(tmp_path / "none"), 6).lines(0)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([1, 500, 1 << 18]))
def test_a_way_stops_where_it_is_asked_to(seed: int, num_steps: int, chunk_bytes: int) -> None:
    events, rng = LoggedWalk(seed, num_steps).events(), random.Random(seed)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "CHUNK_BYTES", chunk_bytes)
        path = write_log(Path(folder) / "log.jsonl", events)
        stops = sorted(rng.choices(range(-1, len(events)), k=4))
        with LogWay(read_log(path)) as way:
            for stop in stops:
                state, expected = way.until(stop), state_at(events, stop).state
                assert state.seq == stop
                assert state.nodes.last_used == expected.nodes.last_used
                assert [state.node_tokens(node) for node in range(len(state.nodes))] == [
                    expected.node_tokens(node) for node in range(len(expected.nodes))
                ]
            assert way.last_seq() == len(events) - 1


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([1, 500, 1 << 18]))
def test_a_way_stops_before_the_first_lookup_of_a_request(seed: int, num_steps: int, chunk_bytes: int) -> None:
    events, rng = LoggedWalk(seed, num_steps).events(), random.Random(seed)
    submitted = [event.request for event in events if isinstance(event, RequestSubmitted)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "CHUNK_BYTES", chunk_bytes)
        path = write_log(Path(folder) / "log.jsonl", events)
        for name in [*rng.sample(submitted, min(len(submitted), 3)), "nobody"]:
            looked_up = [event.seq for event in events if isinstance(event, LookupDone) and event.request == name]
            for at in (None, rng.randrange(len(events))):
                expected = next((seq for seq in looked_up if at is None or seq <= at), None)
                with LogWay(read_log(path), name) as way:
                    assert way.until_lookup(at) == expected
                    if expected is not None:
                        assert way.until(expected - 1).seq == expected - 1
                    assert way.until(at).seq == (len(events) - 1 if at is None else at)
                    assert way.last_seq() == len(events) - 1


@pytest.mark.parametrize("num_workers", [1, 2, 3])
def test_other_processes_parse_what_this_one_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_chunks: None, num_workers: int
) -> None:
    monkeypatch.setattr(ways, "_num_workers", lambda _size: num_workers)
    events = LoggedWalk(5, 80).events()
    odd = tmp_path / os.fsdecode(b"odd \xff name.jsonl")
    path = write_log(odd, events)
    log = read_log(path)
    with LogWay(log) as way:
        state = way.until(None)
        assert way.last_seq() == len(events) - 1
    assert log.summary.complete
    expected = state_at(events).state
    assert state.nodes.parent == expected.nodes.parent
    for pool in ("full", "swa"):
        slots, wanted = ({slot for run in one.held_runs(pool) for slot in slots_of(run)} for one in (state, expected))
        assert slots == wanted


def slots_of(run: Run) -> range:
    start, stop, slot = run
    return range(slot, slot + stop - start)


def test_a_run_read_in_bulk_is_explained_as_the_whole_one(tmp_path: Path, small_chunks: None) -> None:
    events = LoggedWalk(11, 60).events()
    run = Recorded(write_log(tmp_path / "log.jsonl", events))
    name = next(event.request for event in events if isinstance(event, LookupDone) and event.seq > len(events) // 3)
    moment = tree_moment.request_tree_at(run, ByNumber(), name)
    assert moment.explanations == moment_at(events, ByNumber(), None, of_request(name)).explanations[:1]
    assert run.told[-1] == len(events)
    before, after = tree_moment.trees_at(run, 20, 10)
    assert (before.seq, after.seq) == (20, 10)
    assert before.state.nodes.parent == state_at(events, 20).state.nodes.parent
    assert after.state.nodes.parent == state_at(events, 10).state.nodes.parent
    same = tree_moment.trees_at(run, None, None)
    assert same[0].seq == same[1].seq == len(events) - 1
    with pytest.raises(InputError, match=f"no event {len(events)}: expected one up to {len(events) - 1}"):
        tree_moment.trees_at(run, 3, len(events))


def test_what_is_wrong_in_bulk_is_told_as_reading_one_by_one_tells_it(tmp_path: Path, small_chunks: None) -> None:
    freed = SlotsFreed(seq=2, t_ns=0, request="a", pool="full", runs=(SlotRun(0, 4, 0),))
    submitted = RequestSubmitted(seq=1, t_ns=0, request="a", tokens=b"")
    run = Recorded(log_of(tmp_path, submitted, freed))
    with LogWay(run.log) as way, pytest.raises(Unsound):
        way.until(None)
    for read in (
        lambda: tree_moment.tree_at(run),
        lambda: tree_moment.trees_at(run, 0, None),
        lambda: tree_moment.request_tree_at(run, ByNumber(), "a"),
    ):
        with pytest.raises(LogError, match=r"SlotsFreed at seq 2 cannot apply: .*not hold all of the full slots"):
            read()
    assert tree_moment.tree_at(run, 1).seq == 1


def test_a_worker_that_is_killed_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_chunks: None
) -> None:
    monkeypatch.setattr(ways, "_num_workers", lambda _size: 1)
    begun: list[workers._Worker] = []

    class Killed(workers._Worker):
        def __init__(self, task: workers.Task) -> None:
            super().__init__(task)
            begun.append(self)
            os.kill(self._process.pid, signal.SIGKILL)

    monkeypatch.setattr(workers, "_Worker", Killed)
    events = LoggedWalk(5, 40).events()
    run = Recorded(write_log(tmp_path / "log.jsonl", events))
    assert tree_moment.tree_at(run).state.nodes.parent == state_at(events).state.nodes.parent
    assert len(begun) == 1
    assert begun[0]._process.poll() is not None


def test_a_worker_that_cannot_be_had_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_chunks: None
) -> None:
    monkeypatch.setattr(ways, "_num_workers", lambda _size: 3)
    begun: list[workers._Worker] = []

    class Last(workers._Worker):
        def __init__(self, task: workers.Task) -> None:
            if begun:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            super().__init__(task)
            begun.append(self)

    monkeypatch.setattr(workers, "_Worker", Last)
    events = LoggedWalk(5, 40).events()
    with LogWay(read_log(write_log(tmp_path / "log.jsonl", events))) as way:
        assert way.until(None).nodes.parent == state_at(events).state.nodes.parent
    assert begun[0]._process.poll() is not None


def test_a_log_that_changes_while_it_is_read_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "CHUNK_BYTES", 4_000)
    path = write_log(tmp_path / "log.jsonl", events := LoggedWalk(5, 60).events())
    size = path.stat().st_size
    lines = Chunks(os.fsencode(path), size, 4_000).lines(1).splitlines()
    first = msgspec.json.decode(lines[0])["seq"]
    assert len(lines) > 6
    for num_left in (1, first - 2, first + 3):
        write_log(path, events)
        with LogWay(read_log(path)) as way:
            way.until(first + 1)
            write_log(path, events[:num_left])
            with pytest.raises(Unsound, match="has changed"):
                way.until(first + 4)
