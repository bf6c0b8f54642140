"""How long a stress run still takes, on a clock that only the test moves."""

from pathlib import Path

import pytest
from tui_processes import wait_for

from shadowviz.tui.stress_run import RunState, StressRun


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_time_left_is_that_of_the_checks_left_at_the_speed_of_those_that_were_seen(tmp_path: Path) -> None:
    clock, record = Clock(), tmp_path / "run.jsonl"
    arguments = ["stress", "v4-flash", "--level", "arithmetic", "--lengths", "1:60001", "-o", str(record)]
    run = StressRun(arguments, record, clock)

    def runs() -> bool:
        run.poll()
        return run.state is not RunState.PREPARING

    try:
        assert run.left_s(3, 100) is None, "nothing runs yet"
        wait_for(runs, "the run")
        assert run.state is RunState.RUNNING, run.reason
        assert run.left_s(0, 100) is None
        clock.now_s += 50
        # Those that were there before, as of a run that is gone on with, say nothing of its speed.
        assert run.left_s(10, 100) is None
        clock.now_s += 5
        assert run.left_s(10, 100) is None
        assert run.left_s(20, 100) == pytest.approx(5 * 80 / 10)
        clock.now_s += 5
        assert run.left_s(60, 100) == pytest.approx(10 * 40 / 50)
        assert run.left_s(100, 100) == 0
        # Written anew, the record is that of another stretch of time.
        assert run.left_s(4, 100) is None
        clock.now_s += 3
        assert run.left_s(10, 100) == pytest.approx(3 * 90 / 6)
    finally:
        run.stop()
        run.close()
    assert run.left_s(20, 100) is None, "it has ended"
