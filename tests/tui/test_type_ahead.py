"""Keys that come faster than the line opens that they are for."""

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input
from tui_logs import chat_log
from tui_runs import press, run_app, settled

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.ask import AskScreen


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


async def at_once(app: ShadowvizApp, pilot: Pilot, text: str, *keys: str) -> None:
    """All keys in one read, as a busy machine, a macro or a paste without brackets gives them."""
    for character in text:
        app.post_message(events.Key({"/": "slash"}.get(character, character), character))
    for key in keys:
        app.post_message(events.Key(key, None))
    await pilot.pause()
    await settled(app, pilot)


def test_words_typed_in_one_go_with_the_key_that_asks_for_them_are_all_taken(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, "/r4")
        assert app.screen.query_one(Input).value == "r4"
        await press(app, pilot, "enter")
        assert len(app.screen.view.rows) == 1

    run_app(log, keys)


def test_words_typed_in_one_go_replace_those_that_stood_there_and_enter_is_not_lost(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, "/r4", "enter")
        await at_once(app, pilot, "/r1", "enter")
        while isinstance(app.screen, AskScreen):
            await pilot.pause()
        assert app.screen.view.rows.pattern == "r1"

    run_app(log, keys)


def test_escape_typed_in_one_go_leaves_the_line_and_what_was_chosen(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, "/r4", "escape")
        while isinstance(app.screen, AskScreen):
            await pilot.pause()
        assert app.screen.view.rows.pattern == ""

    run_app(log, keys)


def test_ctrl_c_says_which_key_quits(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "ctrl+c")
        assert [str(notification.message) for notification in app._notifications] == ["q quits"]

    run_app(log, keys)
