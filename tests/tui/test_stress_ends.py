"""How a stress run stands once it or its process has ended: by its record, whatever moment is shown."""

import shlex
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from textual import events
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_processes import PATIENCE_S, wait_for
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.experiments.stress.record import Record
from shadowviz.sources.follow import Follower
from shadowviz.sources.states import LogState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.stress_ask import StressAskScreen
from shadowviz.tui.stress_ask import StressAsk
from shadowviz.tui.stress_checks import StressChecks, is_whole
from shadowviz.tui.stress_run import RunState, StressRun
from shadowviz.tui.stress_words import stand_of, stand_words
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.presets import preset

STRESS = AppOptions(screen="stress")
KEYS = ("x", "c", "n")
CRASH = """
import sys

class Crash:
    def find_spec(self, name, path=None, target=None):
        if name == "shadowviz.cli.stress_progress":
            raise RuntimeError("a fault of its own")

sys.meta_path.insert(0, Crash())
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def whole_record(path: Path) -> Path:
    """Twenty lengths, of which one differs, ended as a run ends it."""
    record, geometry = Record(str(path)), preset("tiny")
    record.open(geometry)
    record.tell(
        BoundaryStressStarted, level="numeric", subject="tiny", geometry=geometry, seed=7, modes=("cut",),
        lengths=((120, 140),), cells=20,
    )  # fmt: skip
    for length in range(120, 140):
        outcome = "differs" if length == 128 else "same"
        record.tell(BoundaryChecked, level="numeric", subject="tiny", mode="cut", length=length, outcome=outcome)
    record.close()
    return path


def cut(record: Path, num_lines: int) -> None:
    """Leave only the first lines of a record."""
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:num_lines]))


def state_at_end(run: StressRun) -> RunState:
    """The state of a run once its process has ended."""

    def has_ended() -> bool:
        run.poll()
        return not run.state.alive

    wait_for(has_ended, "the end of the run")
    return run.state


def words_of(run: StressRun | None, record: Path) -> str:
    follower, checks = Follower(record), StressChecks()
    checks.sync(follower, follower.head, None, PATIENCE_S)
    words = stand_words(stand_of(checks, run, follower.state, follower.head), *KEYS)
    follower.close()
    return words


def go_on(record: Path) -> StressRun:
    return StressRun(["stress", "--continue", str(record)], record)


def test_only_a_record_with_every_check_and_its_end_is_whole(here: Path) -> None:
    record = whole_record(here / "run.jsonl")
    assert is_whole(record)
    cut(record, 22)
    assert not is_whole(record), "its end is missing"
    assert not is_whole(here / "none.jsonl")
    assert not is_whole(chat_log(here / "chat.jsonl"))
    short = Record(str(here / "short.jsonl"))
    short.open(preset("tiny"))
    short.tell(
        BoundaryStressStarted, level="numeric", subject="tiny", geometry=preset("tiny"), seed=7, modes=("cut",),
        lengths=((1, 2),), cells=1,
    )  # fmt: skip
    short.close()
    assert not is_whole(here / "short.jsonl"), "a check is missing"


def test_a_run_with_findings_is_done_and_one_that_crashed_with_the_same_code_has_failed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = whole_record(here / "run.jsonl")
    run = go_on(record)
    assert state_at_end(run) is RunState.DONE
    assert run.child.code == 1
    assert run.has_findings
    assert words_of(run, record).startswith("DONE: 1 finding")
    assert run.close() == ""

    (here / "own").mkdir()
    (here / "own" / "sitecustomize.py").write_text(CRASH)
    monkeypatch.setenv("PYTHONPATH", str(here / "own"))
    cut(record, 12)
    run = go_on(record)
    assert state_at_end(run) is RunState.FAILED
    assert run.child.code == 1
    assert not run.has_findings
    assert "a fault of its own" in run.reason
    assert "STOPPED at 10 of 20 checks" in words_of(run, record)
    assert "a fault of its own" in words_of(run, record)
    assert run.close().endswith(f"go on with: shadowviz stress --continue {record}")


def test_a_run_that_crashed_unseen_is_told_of_at_the_end(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = whole_record(here / "run.jsonl")
    (here / "own").mkdir()
    (here / "own" / "sitecustomize.py").write_text(CRASH)
    monkeypatch.setenv("PYTHONPATH", str(here / "own"))
    cut(record, 12)
    run = go_on(record)
    run.child._process.wait(PATIENCE_S)
    words = run.close()
    assert "a fault of its own" in words
    assert "go on with: shadowviz stress --continue" in words


def test_a_run_that_says_done_is_not_waited_for_where_its_record_lacks_checks(here: Path) -> None:
    record = small_stress_log(here / "run.jsonl")
    cut(record, 12)
    run = StressRun(["--help"], record)
    assert state_at_end(run) is RunState.DONE
    assert words_of(run, record).startswith("STOPPED at 10 of 40 checks")
    run.close()


def test_the_hint_to_go_on_is_one_that_a_shell_takes(here: Path) -> None:
    record = small_stress_log(Path("-a record; $(x).jsonl"))
    run = StressRun(["stress", "v4-flash", "--level", "arithmetic", "--lengths", "1:60001"], record)
    words = run.close().partition("go on with: ")[2]
    assert shlex.split(words) == ["shadowviz", "stress", "--continue", f"./{record}"]


def test_a_complete_record_is_done_at_every_moment_of_it(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert "DONE: 1 finding" in screen_text(app)
        app.session.go_to(6)
        await settled(app, pilot)
        text = screen_text(app)
        assert "DONE: 1 finding" in text
        assert "5 of 20 checks" in text, "the grid is of the moment"
        assert not app.screen.check_action("go_on", ())

    run_app(whole_record(here / "run.jsonl"), keys, options=STRESS)


def test_a_run_that_ends_while_another_moment_is_shown_is_told_as_ended(here: Path) -> None:
    record = whole_record(here / "run.jsonl")
    lines = record.read_bytes().splitlines(keepends=True)
    cut(record, 12)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert "at 10 of 20 checks" in screen_text(app)
        await press(app, pilot, "p")
        with record.open("ab") as file:
            file.write(b"".join(lines[12:]))
        await settled(app, pilot)
        assert "DONE: 1 finding" in screen_text(app)
        assert "10 of 20 checks" in screen_text(app)

    run_app(record, keys, options=STRESS)


def test_a_run_goes_on_in_the_sentence_while_another_moment_is_shown(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        record = here / "run.jsonl"
        arguments = ["stress", "v4-flash", "--level", "arithmetic", "--lengths", "1:60001", "-o", str(record)]
        run = StressRun(arguments, record)
        app.runs.begin_stress(run)
        try:
            await until(app, pilot, lambda: run.session is app.session and bool(app.screen._grid.num_checks))
            await press(app, pilot, "p")
            shown, screen = app.screen._grid.num_checks, app.screen
            await until(app, pilot, lambda: screen._stand.num_checks > shown and screen._stand.left_s is not None)
            assert screen._grid.num_checks == shown
            await press(app, pilot, "x")
            await until(app, pilot, lambda: run.state is RunState.STOPPED and screen._stand.is_read)
            num_checked = read_log(record).summary.num_events - 3
            await until(app, pilot, lambda: screen._stand.num_checks == num_checked)
            await settled(app, pilot)
            assert f"STOPPED at {num_checked:,} of" in screen_text(app)
        finally:
            app.close_runs()

    run_app(chat_log(here / "chat.jsonl"), keys, options=STRESS)


def test_checks_that_cannot_be_read_are_not_passed_over_in_silence(here: Path) -> None:
    record = small_stress_log(here / "run.jsonl")
    follower, checks = Follower(record), StressChecks()
    cut(record, 30)
    checks.sync(follower, follower.head, None, PATIENCE_S)
    assert not checks.has_all(follower.head)
    stand = stand_of(checks, None, LogState.TRUNCATED, follower.head)
    assert not stand.can_go_on
    assert stand_words(stand, *KEYS).startswith("NOT READABLE to its end: ")
    follower.close()


@pytest.mark.parametrize(
    "keys_ahead", [("enter", "enter", "enter"), ("enter", "escape"), ("escape", "enter", "escape")]
)
def test_keys_that_end_the_form_end_it_once_however_many_come_ahead(here: Path, keys_ahead: tuple[str, ...]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        ends = list[object]()
        form = StressAskScreen(StressAsk(subject="tiny", lengths="1:9", record="mine.jsonl"))
        # All of them before the form is there, and again once it is about to go.
        for key in keys_ahead:
            form.typed_ahead(events.Key(key, None))
        await app.push_screen(form, ends.append)
        for key in keys_ahead:
            form.typed_ahead(events.Key(key, None))
        await until(app, pilot, lambda: bool(ends), "the end of the form")
        await settled(app, pilot)
        assert len(ends) == 1
        assert (ends[0] is None) == (keys_ahead[0] == "escape")
        assert app.current_mode == "stress"

    run_app(chat_log(here / "chat.jsonl"), keys, options=STRESS)


def test_escape_typed_ahead_of_the_form_leaves_it_whatever_follows(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        for key in ("r", "escape", "enter", "escape"):
            app.post_message(events.Key(key, "r" if key == "r" else None))
        await pilot.pause()
        await settled(app, pilot)
        await until(app, pilot, lambda: not isinstance(app.screen, StressAskScreen), "the end of the form")
        assert app.runs.stress is None

    run_app(chat_log(here / "chat.jsonl"), keys, options=STRESS)


def test_a_grid_that_went_is_drawn_anew_though_the_next_one_has_its_place(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        screen = app.screen
        before = screen._drawn
        assert before
        app.session.go_to(0)
        await settled(app, pilot)
        assert screen.view.rows is None
        assert screen._drawn == ()
        app.session.live()
        await settled(app, pilot)
        assert screen.view.rows is not None

    run_app(whole_record(here / "run.jsonl"), keys, options=STRESS)
