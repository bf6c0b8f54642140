"""A log that is followed: its events by number and kind, and what befalls its file."""

import json
import os
from contextlib import closing
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walked_logs import LoggedWalk, lines_of, write_log

from shadowviz.sources import follow
from shadowviz.sources.follow import Follower
from shadowviz.sources.line_index import KINDS, LineIndex
from shadowviz.sources.log_health import TORN_AFTER_S
from shadowviz.sources.states import LogState
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import EVENT_TYPES, Event, RequestSubmitted
from shadowviz_engine.core.log_lines import UnknownEvent
from shadowviz_engine.core.log_reader import read_log


@cache
def record() -> tuple[Event, ...]:
    return LoggedWalk(2, 100).events()


def ends(events: tuple[Event, ...]) -> list[int]:
    """Where each line ends."""
    found, at = [], 0
    for event in events:
        at += len(lines_of([event]))
        found.append(at)
    return found


class Ticking:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@given(st.lists(st.integers(0, 200_000), max_size=12))
def test_however_a_log_grows_every_event_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("log") / "run.jsonl"
    data, line_ends = lines_of(record()), ends(record())
    path.write_bytes(b"")
    follower, seen, written = Follower(path), 0, 0
    for cut in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        with path.open("ab") as file:
            file.write(data[written:cut])
        written = max(written, cut)
        polled = follower.poll()
        whole = sum(end <= written for end in line_ends)
        assert polled.new == range(seen, whole)
        assert follower.events(seen, whole) == list(record()[seen:whole])
        seen = whole
    assert follower.state is LogState.CLOSED
    follower.close()


def test_newest_events_of_a_large_log_are_read_without_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "TAIL_BYTES", 600)
    monkeypatch.setattr(follow, "CHUNK_BYTES", 1_000)
    follower = Follower(write_log(tmp_path / "run.jsonl", record()))
    assert not follower.indexed
    assert not follower.is_indexed
    assert follower.head == len(record()) - 1
    assert follower.newest(3) == list(record()[-3:])
    assert not follower.index(0.0), "one slice is not the whole log"
    assert 0 < follower.indexed < len(record())
    assert follower.index()
    assert follower.events(0, len(record())) == list(record())
    follower.close()


def test_a_log_that_grows_while_its_beginning_is_indexed_stays_dense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "TAIL_BYTES", 600)
    monkeypatch.setattr(follow, "CHUNK_BYTES", 1_000)
    line_ends, data = ends(record()), lines_of(record())
    path = tmp_path / "run.jsonl"
    path.write_bytes(data[: line_ends[150]])
    follower = Follower(path)
    follower.index(0.0)
    path.write_bytes(data)
    assert follower.poll().new == range(151, len(record()))
    assert follower.events(140, 160) == list(record()[140:160])
    assert follower.event_at(7) == record()[7]
    follower.close()


def test_kinds_are_known_without_decoding_and_are_those_of_the_events(tmp_path: Path) -> None:
    follower = Follower(write_log(tmp_path / "run.jsonl", record()))
    kinds = [type(event).__name__ for event in record()]
    assert [follower.kind_at(seq) for seq in range(len(kinds))] == kinds
    for kind in ("SpanEvicted", "LookupDone"):
        for at in range(-1, len(kinds), 13):
            later = [seq for seq, name in enumerate(kinds) if name == kind and seq > at]
            before = [seq for seq, name in enumerate(kinds) if name == kind and seq < at]
            assert follower.next_of([kind], at) == min(later, default=None)
            assert follower.previous_of([kind], at) == max(before, default=None)
    follower.close()


def test_the_index_knows_every_kind_of_event_and_lines_of_other_writers() -> None:
    lines = [f'{{"type":"{kind.__name__}","seq":{at}}}\n' for at, kind in enumerate(EVENT_TYPES)]
    lines += [
        '{ "type": "LookupDone", "seq": 1}\n',
        '{"seq":5,"type":"SwaFreed"}\n',
        '{"type":"Later","seq":9}\n',
        "\n",
    ]
    index = LineIndex()
    assert index.add("".join(lines).encode()) == len(lines)
    expected = [*(kind.__name__ for kind in EVENT_TYPES), "LookupDone", "SwaFreed", "", ""]
    assert [KINDS[code] for code in index.kinds] == expected


def test_events_of_an_unknown_type_are_kept(tmp_path: Path) -> None:
    events = [json.loads(line) for line in lines_of(record()[:6]).splitlines()]
    events[4] = {"type": "FromTheFuture", "seq": 4, "t_ns": 9, "more": [1]}
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    follower = Follower(path)
    event = follower.event_at(4)
    assert isinstance(event, UnknownEvent)
    assert event.kind == "FromTheFuture"
    assert follower.events(0, 6) == list(read_log(path))
    follower.close()


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    follower = Follower(path)
    assert follower.state is LogState.WAITING
    assert "is not there yet" in follower.poll().words
    path.write_bytes(lines_of(record()[:1])[:-5])
    assert follower.poll().state is LogState.WAITING
    write_log(path, record()[:3])
    polled = follower.poll()
    assert (polled.new, polled.state) == (range(3), LogState.FOLLOWING)
    assert follower.opened == record()[0]
    follower.close()


def test_an_unfinished_line_counts_as_torn_only_after_a_while(tmp_path: Path) -> None:
    path, clock = tmp_path / "run.jsonl", Ticking()
    path.write_bytes(lines_of(record()[:9])[:-4])
    follower = Follower(path, clock)
    assert follower.poll().state is LogState.FOLLOWING
    clock.now_s += TORN_AFTER_S
    torn = follower.poll()
    assert torn.state is LogState.TORN
    assert torn.words.endswith("ends inside line 9: the event with seq 8 is not whole")
    write_log(path, record()[:10])
    assert follower.poll().new == range(8, 10)
    assert follower.state is LogState.FOLLOWING
    follower.close()


def test_a_log_that_is_cut_is_told_and_what_is_left_stays_readable(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record())
    follower = Follower(path)
    os.truncate(path, ends(record())[49] + 7)
    polled = follower.poll()
    assert polled.state is LogState.TRUNCATED
    assert "was cut off or written anew" in polled.words
    assert follower.event_at(49) == record()[49]
    with pytest.raises(LogError, match="event 60 is cut off"):
        follower.event_at(60)
    assert follower.restart().new == range(50)
    assert follower.events(0, 50) == list(record()[:50])
    follower.close()


@pytest.mark.parametrize("num_events", [40, 120])
def test_a_log_that_is_written_anew_in_place_is_noticed_though_it_is_as_long(tmp_path: Path, num_events: int) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:40])
    follower = Follower(path)
    other = LoggedWalk(4, 100).events()
    write_log(path, other[:num_events])
    assert follower.poll().state is LogState.TRUNCATED
    assert follower.poll().state is LogState.TRUNCATED, "it stays told until somebody restarts"
    assert follower.restart().state is LogState.FOLLOWING
    assert follower.events(0, num_events) == list(other[:num_events])
    follower.close()


def test_a_replaced_log_stays_readable_until_a_restart_reads_the_other(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record())
    follower = Follower(path)
    other = LoggedWalk(4, 60).events()
    write_log(tmp_path / "other.jsonl", other).replace(path)
    polled = follower.poll()
    assert polled.state is LogState.REPLACED
    assert polled.state.restartable
    assert "another file stands under the name" in polled.words
    assert follower.events(0, len(record())) == list(record())
    assert follower.restart().new == range(len(other))
    assert follower.event_at(20) == other[20]
    follower.close()


def test_a_log_that_is_moved_away_goes_on_and_comes_back(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:30])
    follower = Follower(path)
    path.rename(tmp_path / "moved.jsonl")
    assert follower.poll().state is LogState.GONE
    with (tmp_path / "moved.jsonl").open("ab") as file:
        file.write(lines_of(record()[30:40]))
    assert follower.poll().new == range(30, 40), "its writer knows nothing of the name"
    (tmp_path / "moved.jsonl").rename(path)
    assert follower.poll().state is LogState.FOLLOWING
    follower.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello\n", "is no log: line 1 is not a JSON object"),
        (b"hello", "is no log: line 1 is not a JSON object"),
        (b'{"type":"StepDone","seq":0,"t_ns":0}\n', "begins with 'StepDone', expected LogOpened"),
        (b'{"type":"LogOpened","seq":0,"t_ns":0,"schema":99}\n', "has schema 99"),
    ],
)
def test_what_is_no_log_is_refused_at_once_and_told_when_it_comes_later(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "run.jsonl"
    late = Follower(path)
    path.write_bytes(content)
    with pytest.raises(LogError, match=words):
        Follower(path)
    polled = late.poll()
    assert polled.state is LogState.BROKEN
    assert words in polled.words
    late.close()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="is not a regular file"):
        Follower(tmp_path)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda events: [*events[:20], *events[21:]], "line 21: seq 21 where 20 was expected"),
        (lambda events: [*events, msgspec.structs.replace(events[9], seq=len(events))], "something follows LogClosed"),
        (lambda events: [*events[:5], msgspec.structs.replace(events[0], seq=5)], "line 6: a second LogOpened"),
    ],
)
def test_events_that_contradict_their_place_are_named(tmp_path: Path, spoil, words: str) -> None:
    follower = Follower(write_log(tmp_path / "run.jsonl", spoil(list(record()))))
    with pytest.raises(LogError, match=words):
        follower.events(0, follower.head + 1)
    follower.close()


def test_events_that_are_missing_before_the_end_are_found_by_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "TAIL_BYTES", 600)
    events = [*record()[:20], *record()[21:]]
    follower = Follower(write_log(tmp_path / "run.jsonl", events))
    with pytest.raises(LogError, match="events are missing or doubled"):
        follower.index()
    follower.close()


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    lines = lines_of(record()).splitlines(keepends=True)
    lines[8] = b'{"type":"SpanSplit","seq":8,"t_ns":"soon"}\n'
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    follower = Follower(path)
    with pytest.raises(LogError, match="line 9: no event"):
        follower.events(0, 20)
    assert follower.event_at(9) == record()[9]
    follower.close()


def test_a_prompt_longer_than_a_chunk_is_one_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "TAIL_BYTES", 600)
    monkeypatch.setattr(follow, "CHUNK_BYTES", 1_000)
    long = RequestSubmitted(seq=1, t_ns=0, request="r", tokens=bytes(40_000))
    follower = Follower(write_log(tmp_path / "run.jsonl", [record()[0], long]))
    assert follower.events(0, 2) == [record()[0], long]
    follower.close()


def test_numbers_outside_the_log_are_refused(tmp_path: Path) -> None:
    follower = Follower(write_log(tmp_path / "run.jsonl", record()[:10]))
    for start, stop in ((10, 11), (-1, 2), (8, 12)):
        with pytest.raises(LogError, match="its newest is 9"):
            follower.events(start, stop)
    assert follower.events(5, 5) == []
    follower.close()


def test_a_line_that_is_longer_than_what_is_read_at_once_does_not_double_the_newest_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "TAIL_BYTES", 600)
    monkeypatch.setattr(follow, "CHUNK_BYTES", 1_000)
    opened = record()[0]
    prompts = [
        RequestSubmitted(seq=seq, t_ns=0, request=f"r{seq}", tokens=b"\1\0\0\0" * (1_500 if seq == 4 else 1))
        for seq in range(1, 12)
    ]
    follower = Follower(write_log(tmp_path / "run.jsonl", [opened, *prompts]))
    assert not follower.is_indexed
    assert follower.index()
    assert follower.events(0, 12) == [opened, *prompts]
    follower.close()


def test_kinds_of_a_stretch_are_those_of_its_events(tmp_path: Path) -> None:
    events = LoggedWalk(2, 60).events()
    with closing(Follower(write_log(tmp_path / "run.jsonl", events))) as follower:
        for start in range(0, len(events), 9):
            for stop in range(start, len(events) + 1, 11):
                assert follower.kinds_between(start, stop) == {type(event).__name__ for event in events[start:stop]}
        assert follower.kinds_between(0, len(events) + 1) is None
        assert follower.kinds_between(-1, 3) is None
