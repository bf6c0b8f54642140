"""Breakpoints on kinds of events: a live run stops at the first that arrives, and goes on from there."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot
from tui_runs import press, run_app, screen_text, settled
from walked_logs import LoggedWalk, lines_of, write_log

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.frame import Mode
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import Event

BEGUN = 60
"""Events that are there when the breakpoints are set."""


@cache
def record() -> tuple[Event, ...]:
    return LoggedWalk(2, 120).events()


def append(path: Path, events: tuple[Event, ...]) -> None:
    with path.open("ab") as file:
        file.write(lines_of(events))


def kinds_of(events: tuple[Event, ...]) -> list[str]:
    return [type(event).__name__ for event in events]


KINDS = sorted(set(kinds_of(record()[:-1])) - {"LogOpened"})


@settings(max_examples=40, deadline=None)
@given(kinds=st.sets(st.sampled_from(KINDS), max_size=3), sizes=st.lists(st.integers(1, 70), min_size=1, max_size=6))
def test_going_on_from_stop_to_stop_meets_every_event_of_those_kinds_once(kinds: set[str], sizes: list[int]) -> None:
    with TemporaryDirectory() as folder:
        path = write_log(Path(folder) / "run.jsonl", record()[:BEGUN])
        session = Session(path)
        session.settle()
        for kind in kinds:
            assert session.breaks.toggle(kind)
        met, done = [], BEGUN
        for size in sizes:
            append(path, record()[done : done + size])
            done = min(done + size, len(record()))
            while (frame := session.settle()).stopped:
                assert (frame.mode, frame.head) == (Mode.PAUSED, done - 1)
                assert frame.stopped == f"e{frame.at:,} {kinds_of(record())[frame.at]}"
                met.append(frame.at)
                session.go_on()
            assert frame.at == done - 1
        session.close()
    assert met == [seq for seq in range(BEGUN, done) if kinds_of(record())[seq] in kinds]


def stopped_session(path: Path) -> tuple[Session, int]:
    """A session that was stopped with more events behind, and the event after that at which it would stop again."""
    kind = max(KINDS, key=kinds_of(record()[BEGUN:]).count)
    session = Session(write_log(path, record()[:BEGUN]))
    session.settle()
    session.breaks.toggle(kind)
    append(path, record()[BEGUN:])
    first, second = [seq for seq in range(BEGUN, len(record())) if kinds_of(record())[seq] == kind][:2]
    assert session.settle().at == first
    return session, second


@pytest.mark.parametrize("way", ["live", "step", "go_to", "toggle"])
def test_a_stop_is_left_for_good_by_any_other_way(tmp_path: Path, way: str) -> None:
    session, second = stopped_session(tmp_path / "run.jsonl")
    at = session.timeline.at
    if way == "live":
        session.live()
    elif way == "step":
        session.step(1)
    elif way == "go_to":
        session.go_to(at)
    else:
        session.breaks.toggle(session.follower.kind_at(at))
        session.go_on()
    frame = session.settle()
    assert frame.stopped == ""
    assert frame.at == {"step": at + 1, "go_to": at}.get(way, len(record()) - 1)
    session.go_on()
    assert session.settle().at == len(record()) - 1
    assert second < len(record()) - 1
    session.close()


def test_nothing_stops_while_another_moment_is_shown_or_where_events_were_there_before(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:BEGUN])
    session = Session(path)
    session.settle()
    for kind in KINDS:
        session.breaks.toggle(kind)
    assert session.settle().stopped == ""
    session.pause()
    append(path, record()[BEGUN : BEGUN + 20])
    assert session.settle().at == BEGUN - 1
    session.go_on()
    frame = session.settle()
    assert (frame.at, frame.stopped) == (BEGUN + 19, "")
    session.close()


def test_a_kind_that_this_version_does_not_know_is_refused(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()[:BEGUN]))
    assert not session.breaks.toggle("SpanPainted")
    assert session.breaks.kinds == frozenset()
    session.close()


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (120, 40)])
def test_the_whole_interface_stops_and_says_where_and_which_key_goes_on(tmp_path: Path, size: tuple[int, int]) -> None:
    path = write_log(tmp_path / "run.jsonl", record()[:BEGUN])
    kind = kinds_of(record())[BEGUN - 1]
    found = [seq for seq in range(BEGUN, len(record())) if kinds_of(record())[seq] == kind]

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert f"breaks at {kind}" in await press(app, pilot, "b")
        await press(app, pilot, "1")
        append(path, record()[BEGUN:])
        await settled(app, pilot)
        for stop in found[:2]:
            shown = screen_text(app)
            words = " ".join(shown.replace("▲", " ").split())
            assert f"PAUSED e{stop}" in shown.splitlines()[0]
            assert f"a breakpoint stopped here, at e{stop} {kind}: p goes on" in words
            await press(app, pilot, "p")
        shown = await press(app, pilot, "7", "f")
        assert "a breakpoint stopped" not in shown
        assert app.session.timeline.at == len(record()) - 1

    run_app(path, keys, size, AppOptions(screen="events"))


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_all_breakpoints_are_told_in_full(tmp_path: Path, size: tuple[int, int]) -> None:
    path = write_log(tmp_path / "run.jsonl", record())

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        for kind in KINDS[:5]:
            app.session.breaks.toggle(kind)
        await settled(app, pilot)
        shown = " ".join(screen_text(app).split())
        assert f"breaks at {', '.join(KINDS[:5])}" in shown

    run_app(path, keys, size, AppOptions(screen="events"))
