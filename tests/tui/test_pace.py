"""When the interface works and draws, on a clock that only the test moves."""

from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot
from tui_runs import run_app, until
from walked_logs import LoggedWalk, write_log

from shadowviz.sources.states import LogState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.frame import Arrival, Frame
from shadowviz.tui.pace import (
    DRAW_S,
    HOLD_S,
    IDLE_TICK_S,
    QUIET_TICKS,
    SLICE_S,
    STARVED_S,
    TICK_S,
    TYPING_S,
    TYPING_SLICE_S,
    WORKING_S,
    YIELD_S,
    Pace,
)
from shadowviz.tui.session import Session


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def still(tmp_path: Path) -> Frame:
    """A frame of a state that has arrived."""
    session = Session(write_log(tmp_path / "run.jsonl", LoggedWalk(2, 20).events()))
    frame = session.settle()
    session.close()
    return frame


def on_the_way(frame: Frame, at: int) -> Frame:
    arrival = Arrival(at, frame.arrival.target + 1_000, -1)
    return msgspec.structs.replace(frame, arrival=arrival, version=frame.version + at)


def test_slices_are_short_while_keys_are_expected_and_long_when_nobody_types(clock: Clock) -> None:
    pace = Pace(clock)
    assert pace.slice_s() == SLICE_S
    pace.key_came()
    clock.now_s += TYPING_S * 0.9
    assert pace.slice_s() == TYPING_SLICE_S < SLICE_S / 2
    pace.key_came()
    clock.now_s += TYPING_S * 0.9
    assert pace.slice_s() == TYPING_SLICE_S
    clock.now_s += TYPING_S * 0.2
    assert pace.slice_s() == SLICE_S


def test_after_a_key_work_waits_but_not_for_ever(clock: Clock, still: Frame) -> None:
    pace = Pace(clock)
    pace.worked(None, still)
    assert pace.hold_s() == 0
    waited = 0
    while waited < 1_000:
        pace.key_came()
        hold = pace.hold_s()
        if not hold:
            break
        assert hold == pytest.approx(HOLD_S)
        clock.now_s += HOLD_S / 2
        waited += 1
    assert waited == pytest.approx(2 * STARVED_S / HOLD_S, abs=1), "a key that is held down leaves the work its turn"
    pace.worked(still, still)
    pace.key_came()
    clock.now_s += HOLD_S
    assert pace.hold_s() == 0


def test_on_the_way_there_is_no_rest_and_only_some_frames_are_drawn(clock: Clock, still: Frame) -> None:
    pace, before, num_drawn = Pace(clock), still, 0
    for at in range(1, 101):
        frame = on_the_way(still, at)
        pace.worked(before, frame)
        num_drawn += pace.draws(before, frame)
        assert pace.rest_s(frame, is_indexed=True, is_screen_working=False) == YIELD_S
        before = frame
        clock.now_s += DRAW_S / 10
    assert num_drawn == 10
    assert pace.draws(before, still), "the moment asked for is drawn at once"


def test_on_the_way_back_every_frame_is_drawn(clock: Clock, still: Frame) -> None:
    pace = Pace(clock)
    for at in range(100, 1, -1):
        assert pace.draws(on_the_way(still, at), on_the_way(still, at - 1))


def test_where_nothing_happens_looks_become_fewer_until_a_key_or_an_event_comes(clock: Clock, still: Frame) -> None:
    pace, rests = Pace(clock), []
    for _ in range(QUIET_TICKS + 5):
        pace.worked(still, still)
        rests.append(pace.rest_s(still, is_indexed=True, is_screen_working=False))
    assert rests == [TICK_S] * QUIET_TICKS + [IDLE_TICK_S] * 5
    pace.key_came()
    assert pace.rest_s(still, is_indexed=True, is_screen_working=False) == TICK_S
    assert pace.rest_s(still, is_indexed=True, is_screen_working=True) == WORKING_S
    pace.worked(still, msgspec.structs.replace(still, head=still.head + 1))
    assert pace.rest_s(still, is_indexed=True, is_screen_working=False) == TICK_S


def test_a_state_that_cannot_go_on_keeps_nobody_busy(clock: Clock, still: Frame) -> None:
    pace, stuck = Pace(clock), on_the_way(still, 5)
    pace.worked(stuck, stuck)
    assert pace.rest_s(stuck, is_indexed=True, is_screen_working=False) == TICK_S
    assert pace.rest_s(stuck, is_indexed=False, is_screen_working=False) == YIELD_S, "its places are being found"
    broken = msgspec.structs.replace(stuck, log=LogState.BROKEN)
    assert pace.rest_s(broken, is_indexed=False, is_screen_working=False) == TICK_S


def test_work_goes_on_where_a_timer_never_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, ticks = write_log(tmp_path / "run.jsonl", LoggedWalk(2, 20).events()), list[float]()
    monkeypatch.setattr(ShadowvizApp, "set_timer", lambda *_args, **_named: None)

    async def look(app: ShadowvizApp, pilot: Pilot[None]) -> None:
        tick = app.session.tick
        monkeypatch.setattr(app.session, "tick", lambda budget_s: ticks.append(budget_s) or tick(budget_s))
        await until(app, pilot, lambda: len(ticks) > 2, "work that goes on")

    run_app(log, look)
