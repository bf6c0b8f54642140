"""A session: frames while a log grows, the moment shown, and what befalls log and engine; without a terminal."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tui_processes import PATIENCE_S, wait_for
from walked_logs import LoggedWalk, lines_of, write_log

from shadowviz.replay.timeline import Budgets
from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
from shadowviz.sources.states import EngineState, LogState
from shadowviz.tui.frame import Crumb, Frame, Mode, PoolFill, Selection
from shadowviz.tui.pool_fill import pool_fills
from shadowviz.tui.session import Session
from shadowviz_engine.core.columns import ABORTED, DECODE, DONE, PREFILL
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LookupDone, RequestFinished
from shadowviz_engine.core.replayer import Replayer

SMALL = {"model": "tiny", "page_size": 128, "num_full_pages": 8, "num_swa_pages": 8}


@cache
def record(seed: int = 2) -> tuple[Event, ...]:
    return LoggedWalk(seed, 120).events()


def state_after(events: tuple[Event, ...], seq: int) -> Replayer:
    state = Replayer()
    for event in events[: seq + 1]:
        state.apply(event)
    return state


def counted_by_hand(state: Replayer) -> list[tuple[str, int, int, int]]:
    """Pool, used, locked and held pages, page by page."""
    assert state.opened is not None
    page, found = state.opened.geometry.page_size, []
    for pool, runs_of in (("full", state.full_runs), ("swa", state.swa_runs)):
        tree, locked, held = set(), set(), set()
        for node in range(1, len(state.nodes)):
            for start, stop, slot in runs_of(node) if state.nodes.alive[node] else ():
                pages = {(slot + i) // page for i in range(stop - start)}
                tree |= pages
                locked |= pages if state.nodes.locks[node] else set()
        for runs in state.held[pool].values():
            held |= {(slot + i) // page for start, stop, slot in runs for i in range(stop - start)}
        found.append((pool, len(tree | held), len(locked), len(held - tree)))
    return found


def test_a_recorded_log_is_shown_at_its_end_and_adds_up(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()))
    frame = session.settle()
    state = state_after(record(), len(record()) - 1)
    assert (frame.mode, frame.log, frame.engine) == (Mode.REPLAY, LogState.CLOSED, EngineState.NONE)
    assert frame.at == frame.head == len(record()) - 1
    assert frame.moment_words == f"REPLAY e{frame.at:,} of {frame.head:,}"
    lookups = [event for event in record() if isinstance(event, LookupDone)]
    assert frame.hit.num_lookups == len(lookups)
    assert frame.hit.rate == sum(e.reused for e in lookups) / sum(e.num_prompt for e in lookups)
    states = list(state.requests.state)
    assert frame.num_requests == len(states)
    assert frame.num_running == states.count(PREFILL) + states.count(DECODE)
    assert frame.num_waiting == sum(value < PREFILL for value in states)
    assert frame.num_nodes == sum(state.nodes.alive) - 1
    assert frame.t_ns == record()[-1].t_ns
    session.close()


@pytest.mark.parametrize("seed", range(6))
def test_pages_of_pools_are_counted_as_by_hand(seed: int) -> None:
    events = record(seed)
    for seq in range(-1, len(events), 41):
        state = state_after(events, seq)
        fills = pool_fills(state)
        found = [(fill.pool, fill.used, fill.locked, fill.held) for fill in fills]
        assert found == (counted_by_hand(state) if seq >= 0 else [])
        assert all(fill.used <= fill.num_pages for fill in fills)


def test_the_newest_events_are_there_before_the_state_is(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()))
    frame = session.tick(0.0)
    assert frame.head == len(record()) - 1
    assert session.newest(4) == list(record()[-4:])
    assert frame.at < frame.head
    assert 0.0 <= frame.arrival.fraction < 1.0
    assert "of the way to" in frame.moment_words
    session.close()


def test_a_growing_log_is_live_and_a_pause_counts_what_arrives(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:50])
    session = Session(path)
    first = session.settle()
    assert (first.mode, first.at, first.moment_words) == (Mode.LIVE, 49, "LIVE e49")
    append(path, record()[50:80])
    frame = session.settle()
    assert (frame.at, frame.new_events) == (79, range(50, 80))
    assert frame.version > first.version
    session.pause()
    append(path, record()[80:95])
    paused = session.settle()
    assert (paused.mode, paused.at, paused.unseen) == (Mode.PAUSED, 79, 15)
    assert paused.moment_words == "PAUSED e79 (+15 events)"
    assert paused.version == frame.version, "what is drawn stays right"
    session.live()
    assert session.settle().at == 94
    session.close()


def append(path: Path, events: tuple[Event, ...]) -> None:
    with path.open("ab") as file:
        file.write(lines_of(events))


def facts_of(session: Session) -> dict[str, object]:
    rows = [session.request(row) for row in range(len(session.state.requests))]
    return {row.name: row for row in rows}


def test_requests_are_told_as_they_were_at_the_moment_shown(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()), budgets=Budgets(undo=4_000, way_back=30))
    finished = [event for event in record() if isinstance(event, RequestFinished)]
    for end in finished[::3]:
        session.go_to(end.seq)
        session.settle()
        row = session.state.requests.index[end.request]
        facts = session.request(row)
        assert (facts.state, facts.end, facts.ttft_ms) == ("done", end, end.ttft_ns / 1e6)
        assert facts.lookup is not None
        assert facts.lookup.request == end.request
        session.step(-1)
        session.settle()
        before = session.request(row)
        assert before.state not in ("done", "aborted")
        assert (before.end, before.num_output, before.ttft_ms) == (None, 0, None)
    assert {DONE, ABORTED} & set(session.state.requests.state)
    session.close()


def test_breakpoints_lead_from_event_to_event_of_a_kind(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()))
    expected = [event.seq for event in record() if type(event).__name__ in ("SpanEvicted", "SpanSplit")]
    session.go_to(-1)
    session.settle()
    met = []
    while session.next_of(["SpanEvicted", "SpanSplit"]):
        frame = session.settle()
        assert frame.mode is Mode.REPLAY
        met.append(frame.at)
    assert met == expected
    back = []
    while session.previous_of(["SpanEvicted", "SpanSplit"]):
        back.append(session.settle().at)
    assert back == expected[-2::-1]
    session.close()


def test_a_moment_that_is_not_there_is_refused(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()[:20]))
    with pytest.raises(InputError, match="no event 20"):
        session.go_to(20)
    session.close()


def test_verdicts_from_events_are_sure_only_where_the_explanation_agrees(tmp_path: Path) -> None:
    num_sure = num_all = 0
    for seed in range(6):
        session = Session(write_log(tmp_path / f"{seed}.jsonl", record(seed)))
        session.settle()
        for seq in list(session.timeline.chronicle.lookups):
            lookup = session.event_at(seq)
            assert isinstance(lookup, LookupDone)
            quick = session.verdict(lookup)
            explanation = session.explain(seq, PATIENCE_S)
            assert explanation is not None
            assert not quick.sure or quick.finding == explanation.verdict
            told = session.verdict(lookup)
            assert (told.finding, told.sure) == (explanation.verdict, True)
            num_sure, num_all = num_sure + quick.sure, num_all + 1
        session.close()
    assert 0 < num_sure < num_all


@pytest.mark.parametrize(
    ("befall", "state"),
    [
        (lambda path: os.truncate(path, 3_000), LogState.TRUNCATED),
        (lambda path: write_log(path.with_name("other"), record(3)).replace(path), LogState.REPLACED),
        (lambda path: write_log(path, record(3)), LogState.TRUNCATED),
    ],
)
def test_a_log_that_is_changed_is_told_and_a_restart_shows_what_is_there(
    tmp_path: Path, befall, state: LogState
) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:150])
    session = Session(path)
    session.settle()
    session.selection.select(request="r1", seq=40)
    befall(path)
    frame = session.settle()
    assert (frame.log, frame.at) == (state, 149)
    assert "start again" in frame.log_words
    assert frame.selection.request == "r1"
    session.step(-20)
    assert session.state.seq >= 0
    session.restart_log()
    frame = session.settle()
    assert frame.log in (LogState.FOLLOWING, LogState.CLOSED)
    assert frame.selection.request == ""
    # A log that was cut ends inside a line.
    there = record() if path.stat().st_size == 3_000 else record(3)
    assert frame.at == frame.head >= 0
    assert session.state.digest() == state_after(there, frame.at).digest()
    session.close()


def test_a_log_that_contradicts_itself_is_told_and_stays_usable_before_that(tmp_path: Path) -> None:
    lines = lines_of(record()).splitlines(keepends=True)
    lines[100] = b'{"type":"SpanEvicted","seq":100,"t_ns":1,"node":777,"reason":"\x1b[2Jlru"}\n'.replace(b"\x1b", b"")
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    session = Session(path)
    frame = session.settle()
    assert (frame.log, frame.at) == (LogState.BROKEN, 99)
    assert "node 777 was never made" in frame.log_words
    session.go_to(50)
    assert session.settle().at == 50
    assert session.state.digest() == state_after(record(), 50).digest()
    session.close()


def test_where_the_user_came_from_is_where_back_leads(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()))
    selection = session.selection
    selection.select(request="r2")
    selection.drill("tree")
    selection.select(node=4)
    selection.drill("ruler")
    selection.select(token=9)
    assert [crumb.screen for crumb in session.tick().trail] == ["live", "tree"]
    assert selection.back()
    assert selection.current == Crumb("tree", Selection(request="r2", node=4))
    assert selection.back()
    assert not selection.back()
    assert selection.current.selection.request == "r2"
    selection.drill("tree")
    selection.visit("pools")
    assert not selection.back()
    session.close()


def test_an_engine_that_is_killed_leaves_the_session_usable_and_can_be_started_again(tmp_path: Path) -> None:
    child = EngineChild(Setup(options=SMALL, log=str(tmp_path / "run.jsonl")))
    session = Session(child.log, child)
    try:
        assert session.tick().log is LogState.WAITING
        reached(session, lambda frame: frame.engine is EngineState.RUNNING and frame.head >= 0)
        child.submit_text("Which of the two came first?")
        reached(session, lambda frame: frame.hit.num_lookups == 1 and frame.at == frame.head)
        os.kill(child.pid, signal.SIGKILL)
        frame = reached(session, lambda frame: frame.engine is EngineState.KILLED)
        assert "ended from outside" in frame.engine_words
        assert frame.num_requests == 1
        session.go_to(1)
        assert session.settle().at == 1
        assert session.restart_engine() == tmp_path / "run-2.jsonl"
        frame = reached(session, lambda frame: frame.engine is EngineState.RUNNING and frame.at == 0)
        assert (frame.mode, frame.num_requests) == (Mode.LIVE, 0)
    finally:
        session.close()


def test_a_record_that_an_engine_is_to_write_over_is_not_shown_as_its_own(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record())
    child = EngineChild(Setup(options=SMALL, log=str(path), overwrite=True))
    session = Session(path, child)
    try:
        assert session.tick().head == -1
        assert session.tick().log_words == ""
        frame = reached(session, lambda frame: frame.head >= 0)
        assert (frame.engine, frame.mode) == (EngineState.RUNNING, Mode.LIVE)
        assert frame.head < len(record()) - 1
    finally:
        session.close()


def test_a_file_that_is_no_log_can_be_written_over_by_an_engine(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("shopping list")
    session = Session(path, EngineChild(Setup(options=SMALL, log=str(path), overwrite=True)))
    assert session.tick().log is LogState.WAITING
    session.close()


def reached(session: Session, found: Callable[[Frame], bool]) -> Frame:
    """Wait until a frame is as it should be."""
    frames: list[Frame] = []

    def look() -> bool:
        frames.append(session.tick())
        return found(frames[-1])

    wait_for(look, "a frame")
    return frames[-1]


def test_a_session_needs_neither_a_terminal_nor_torch() -> None:
    look = "import sys, shadowviz.tui.session; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout.split()
    assert "msgspec" in loaded
    assert not {"textual", "torch", "tokenizers", "transformers", "rich"} & set(loaded)


def test_a_fill_without_a_size_is_no_number() -> None:
    assert PoolFill("full", 0, 7, 0, 0).fill == 0.0
    assert PoolFill("full", 8, 6, 0, 0).fill == 0.75
