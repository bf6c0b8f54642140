"""Stress runs that are begun in the terminal interface: asked for, followed live, stopped, gone on with, ended."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from textual.widgets import Input
from tui_keys import run_command, told
from tui_logs import chat_log
from tui_processes import is_running, wait_for
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.stress_ask import StressAskScreen
from shadowviz.tui.stress_run import RunState
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.log_reader import read_log

STRESS = AppOptions(screen="stress")
LONG = ("--level", "arithmetic", "--lengths", "1:60001")

PARENT = """
import sys, time
from pathlib import Path
from shadowviz.tui.stress_run import StressRun
run = StressRun(["stress", "v4-flash", *{long!r}, "-o", "run.jsonl"], "run.jsonl")
while run.state.value == "preparing":
    run.poll(); time.sleep(0.02)
print(run.child.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def begin(app: ShadowvizApp, pilot: Pilot, subject: str, lengths: str) -> None:
    """Fill in the form for checks of formulas alone, and start."""
    await press(app, pilot, "r")
    await press(app, pilot, "tab", "right")
    assert isinstance(app.screen, StressAskScreen)
    app.screen.query_one("#subject", Input).value = subject
    app.screen.query_one("#lengths", Input).value = lengths
    await press(app, pilot, "enter")


async def shown_once(app: ShadowvizApp, pilot: Pilot, found: Callable[[], bool]) -> str:
    """Wait for something that a process brings about; what is shown then."""
    await until(app, pilot, found, "the stress run")
    for _ in range(3):
        await settled(app, pilot)
    return screen_text(app)


def run_here(log: Path, keys: Callable[[ShadowvizApp, Pilot], Awaitable[None]], options: AppOptions = STRESS) -> None:
    """As `run_app`, and end the stress run as the command does."""

    async def closing(app: ShadowvizApp, pilot: Pilot) -> None:
        try:
            await keys(app, pilot)
        finally:
            app.close_runs()

    run_app(log, closing, options=options)


def test_a_run_is_asked_for_followed_and_told_in_words(here: Path) -> None:
    copied: list[str] = []

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        text = await press(app, pilot, "r")
        assert "shadowviz stress tiny-512 --lengths 1:129 -o stress.jsonl" in text
        await press(app, pilot, "escape")
        assert app.runs.stress is None
        await begin(app, pilot, "tiny", "1:33")
        run = app.runs.stress
        assert run is not None
        text = await shown_once(app, pilot, lambda: run.state is RunState.DONE)
        assert "96 of 96 checks (100%)" in text
        assert "DONE: no finding: what is derived is as defined" in text
        assert app.source == "stress.jsonl"
        # It is the stress screen's run alone: the others show the one that the interface was started for.
        await press(app, pilot, "y", "right", "enter")
        copied.append(app.clipboard)
        assert "2 tokens (tiny)" in screen_text(app)
        await press(app, pilot, "backspace")
        assert app.current_mode == "stress"
        text = await press(app, pilot, "1")
        assert app.source == "chat.jsonl"
        assert "r5" in text
        await press(app, pilot, "3")
        assert app.screen._subject.request
        assert "96 of 96" in await press(app, pilot, "5")

    run_here(chat_log(here / "chat.jsonl"), keys)
    record = read_log(here / "stress.jsonl")
    assert record.summary.complete
    assert copied == ["shadowviz stress tiny --level arithmetic --mode derive --lengths 1 --seed 0"]
    run_command(copied[0])


def test_a_run_is_stopped_and_gone_on_with_and_quitting_ends_it(here: Path) -> None:
    words: list[str] = []

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await begin(app, pilot, "v4-flash", "1:60001")
        run = app.runs.stress
        assert run is not None
        assert "PREPARING" in screen_text(app)
        text = await shown_once(app, pilot, lambda: run.state is RunState.RUNNING and app.screen._grid.num_checks > 0)
        assert "RUNNING" in text
        # Another one at the same time would only take its cores.
        await press(app, pilot, "1")
        app.action_begin_stress()
        await pilot.pause()
        assert app.current_mode == "stress"
        assert "stop it first" in told(app)[-1]
        await press(app, pilot, "x")
        text = await shown_once(app, pilot, lambda: run.state is RunState.STOPPED)
        assert "STOPPED at" in text
        assert "c goes on with it" in text
        assert not is_running(run.child.pid)
        assert read_log(run.record).summary.complete
        num_before = app.screen._grid.num_checks
        await press(app, pilot, "c")
        again = app.runs.stress
        assert again is not None
        assert again is not run
        await shown_once(
            app, pilot, lambda: again.state is RunState.RUNNING and app.screen._grid.num_checks > num_before
        )
        words.append(app.close_runs())
        assert not is_running(again.child.pid)

    run_here(chat_log(here / "chat.jsonl"), keys)
    assert words == ["the stress run was stopped; go on with: shadowviz stress --continue stress.jsonl"]
    assert read_log(here / "stress.jsonl").summary.complete


def test_a_followed_record_that_ended_early_is_gone_on_with(here: Path) -> None:
    whole = here / "whole.jsonl"
    run_command(f"shadowviz stress tiny --level arithmetic --lengths 1:33 -o {whole}")
    lines = whole.read_bytes().splitlines(keepends=True)
    record = here / "early.jsonl"
    record.write_bytes(b"".join(lines[:40]))

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert "IN PROGRESS, or cut off, at 38 of 96 checks" in screen_text(app)
        await press(app, pilot, "c")
        run = app.runs.stress
        assert run is not None
        text = await shown_once(app, pilot, lambda: run.state is RunState.DONE)
        assert "DONE: no finding" in text
        # The first session reads the file that was there before; the other screens show what the run made of it.
        text = await press(app, pilot, "7")
        assert f"e{app.session.follower.head}" in text.splitlines()[0]
        assert app.session.follower.head == len(lines), "what was begun again is on record too"

    run_here(record, keys)


@pytest.mark.parametrize(
    ("subject", "lengths", "words"),
    [("no-such-model", "1:9", "no-such-model"), ("tiny", "9:1", "--lengths '9:1' is no range")],
)
def test_a_run_that_cannot_begin_says_why_and_leaves_no_file(
    here: Path, subject: str, lengths: str, words: str
) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await begin(app, pilot, subject, lengths)
        run = app.runs.stress
        assert run is not None
        text = " ".join((await shown_once(app, pilot, lambda: not run.state.alive)).split())
        assert f"NOT BEGUN: {run.reason}"[:60] in text
        assert words in run.reason
        # What was typed is there to be mended.
        await press(app, pilot, "r")
        assert app.screen.query_one("#subject", Input).value == subject
        await press(app, pilot, "escape")

    run_here(chat_log(here / "chat.jsonl"), keys)
    assert sorted(path.name for path in here.iterdir()) == ["chat.jsonl"]


def test_a_run_stopped_before_its_first_check_leaves_no_file(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await begin(app, pilot, "v4-flash", "1:60001")
        await press(app, pilot, "x")
        run = app.runs.stress
        assert run is not None
        text = await shown_once(app, pilot, lambda: not run.state.alive)
        if not run.has_record:
            assert "STOPPED before the first check" in text

    run_here(chat_log(here / "chat.jsonl"), keys)
    record = here / "stress.jsonl"
    assert not record.exists() or read_log(record).summary.complete


def test_the_form_says_what_is_wrong_and_keeps_a_file_that_is_there(here: Path) -> None:
    log = small_stress_log(here / "stress.jsonl")
    before = log.read_bytes()

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        # The name that is offered is free.
        assert "-o stress-2.jsonl" in await press(app, pilot, "r")
        app.screen.query_one("#record", Input).value = "stress.jsonl"
        assert "is there already" in " ".join((await press(app, pilot, "enter")).split())
        app.screen.query_one("#record", Input).value = "mine.jsonl"
        app.screen.query_one("#subject", Input).value = "tiny --force"
        assert "would be an option" in " ".join((await press(app, pilot, "enter")).split())
        app.screen.query_one("#subject", Input).value = "[red]\u202ex"
        assert "[red]\\u202ex" in await press(app, pilot, "tab")
        await press(app, pilot, "escape")
        assert app.runs.stress is None

    run_here(log, keys)
    assert log.read_bytes() == before


def test_keys_that_come_all_at_once_reach_the_field_that_they_are_for(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        from textual import events

        for key, character in (("r", "r"), *((one, one) for one in "tiny"), ("tab", None), ("space", " ")):
            app.post_message(events.Key(key, character))
        await shown_once(app, pilot, lambda: isinstance(app.screen, StressAskScreen) and app.screen.focused is not None)
        ask = app.screen._typed()
        assert (ask.subject, ask.part) == ("tiny", 1)

    run_here(chat_log(here / "chat.jsonl"), keys)


def test_a_run_ends_well_when_the_interface_is_killed(here: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(long=LONG)], stdout=subprocess.PIPE, text=True, cwd=here
    )
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    wait_for(lambda: not is_running(pid), "the end of the run")
    assert read_log(here / "run.jsonl").summary.complete


def test_a_run_that_is_killed_is_told_and_its_record_is_gone_on_with(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await begin(app, pilot, "v4-flash", "1:60001")
        run = app.runs.stress
        assert run is not None
        await shown_once(app, pilot, lambda: run.state is RunState.RUNNING)
        await press(app, pilot, "1")
        os.kill(run.child.pid, signal.SIGKILL)
        await shown_once(app, pilot, lambda: not run.state.alive)
        assert told(app)[-1] == "the stress run has ended: it was ended by signal 9: 5 shows it"
        text = " ".join((await press(app, pilot, "5")).split())
        assert "(it was ended by signal 9)" in text
        assert "c goes on with it" in text
        await press(app, pilot, "c")
        again = app.runs.stress
        assert again is not None
        await shown_once(app, pilot, lambda: again.state is RunState.RUNNING)

    run_here(chat_log(here / "chat.jsonl"), keys)
    assert read_log(here / "stress.jsonl").summary.complete


def test_the_palette_begins_a_run_from_any_screen(here: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        found = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        found["Begin a stress run"]()
        await settled(app, pilot)
        assert isinstance(app.screen, StressAskScreen)
        await press(app, pilot, "escape")

    run_here(chat_log(here / "chat.jsonl"), keys, AppOptions())


def test_every_command_that_the_form_shows_is_one_that_a_shell_reads_back() -> None:
    from shadowviz.tui.stress_ask import PARTS, StressAsk, command_line

    for part in range(len(PARTS)):
        arguments = StressAsk().with_part(part).arguments()
        assert shlex.split(command_line(arguments)) == ["shadowviz", *arguments]
