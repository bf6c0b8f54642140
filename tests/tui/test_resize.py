"""A terminal that shrinks and grows while the interface runs: it stays, says so in words, and draws all of it again."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text, settled

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS
from shadowviz.tui.themed import AppOptions

WORDS = "too small"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


async def resized(app: ShadowvizApp, pilot: Pilot, width: int, height: int) -> str:
    await pilot.resize_terminal(width, height)
    await settled(app, pilot)
    return screen_text(app)


@pytest.mark.parametrize("screen", [entry.name for entry in SCREENS])
def test_a_terminal_that_shrinks_is_told_and_one_that_grows_shows_everything_again(log: Path, screen: str) -> None:
    async def sizes(app: ShadowvizApp, pilot: Pilot) -> None:
        before = screen_text(app)
        assert WORDS not in before
        assert "hit " in before.splitlines()[0]
        for width, height in ((59, 24), (80, 15), (12, 4), (1, 1)):
            shown = await resized(app, pilot, width, height)
            words = f" ▲ too small: {width}x{height}, needs 60x16"
            assert shown.split("\n")[0] == words[:width].rstrip()
            await press(app, pilot, "j")
        for width, height in ((200, 60), (60, 16), (80, 24)):
            shown = await resized(app, pilot, width, height)
            assert WORDS not in shown
            assert len(shown.split("\n")) == height
        assert app.focused is not None
        # The cursor was moved meanwhile; head and foot are as before.
        after = screen_text(app).splitlines()
        assert (after[0], after[-1]) == (before.splitlines()[0], before.splitlines()[-1])

    run_app(log, sizes, options=AppOptions(screen=screen))


def test_a_line_that_is_asked_for_outlives_a_resize(log: Path) -> None:
    async def sizes(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "slash", "r", "2")
        await pilot.resize_terminal(30, 6)
        await pilot.resize_terminal(80, 24)
        shown = await press(app, pilot, "enter")
        assert "/r2" in shown

    run_app(log, sizes)
