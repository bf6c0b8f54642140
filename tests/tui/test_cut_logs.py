"""Logs that are cut off while they are looked at: whatever is pressed, the interface stays and says so."""

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS

KEYS = ("j", "G", "k", "enter", "backspace", "t", "d", "r", "a", "o", "]", "y", "m", "b", "n", "N", "less_than_sign")


@pytest.mark.parametrize("screen", [entry.key for entry in SCREENS])
@pytest.mark.parametrize("left", [0, 0.3, 0.8])
def test_a_log_cut_off_between_two_looks_ends_no_screen(tmp_path: Path, screen: str, left: float) -> None:
    log = chat_log(tmp_path / "chat.jsonl")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, screen)
        os.truncate(log, int(log.stat().st_size * left))
        # Drawn before the next look at the file, as rows are that come into sight.
        app.screen.view.rows_changed()
        app.screen.draw(app.frame)
        await pilot.press(*(each for key in KEYS for each in (key, screen)))
        app.tick()
        await pilot.pause()
        await pilot.pause()
        assert "was cut off or written anew" in screen_text(app)

    run_app(log, keys)


def test_rows_that_cannot_be_read_any_more_say_so(tmp_path: Path) -> None:
    log = chat_log(tmp_path / "chat.jsonl")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        os.truncate(log, 0)
        app.screen.view.rows_changed()
        await pilot.pause()
        assert "what stood here cannot be read any more" in screen_text(app)

    run_app(log, keys)
