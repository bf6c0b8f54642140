"""Keys that come faster than the line opens that they are for."""

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input
from tui_keys import told
from tui_logs import chat_log
from tui_runs import press, run_app, settled, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.help import HelpScreen
from shadowviz.tui.screens.palette import Palette


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


async def at_once(app: ShadowvizApp, pilot: Pilot, text: str, *keys: str) -> None:
    """All keys in one read, as a busy machine, a macro or a paste without brackets gives them."""
    for character in text:
        app.post_message(events.Key({"/": "slash", ":": "colon", " ": "space"}.get(character, character), character))
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
        await until(app, pilot, lambda: not isinstance(app.screen, AskScreen), "the line to close")
        assert app.screen.view.rows.pattern == "r1"

    run_app(log, keys)


def test_escape_typed_in_one_go_leaves_the_line_and_what_was_chosen(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, "/r4", "escape")
        await until(app, pilot, lambda: not isinstance(app.screen, AskScreen), "the line to close")
        assert app.screen.view.rows.pattern == ""

    run_app(log, keys)


def test_what_is_typed_behind_enter_is_no_part_of_the_line_and_is_done(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "slash")
        app.post_message(events.Key("r", "r"))
        app.post_message(events.Key("4", "4"))
        app.post_message(events.Key("enter", None))
        app.post_message(events.Key("6", "6"))
        await until(app, pilot, lambda: app.current_mode == "pools", "the screen behind Enter")
        await press(app, pilot, "1")
        assert app.screen.view.rows.pattern == "r4"

    run_app(log, keys)


def test_ctrl_c_says_which_key_quits(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "ctrl+c")
        assert told(app) == ["q quits"]

    run_app(log, keys)


async def offered(app: ShadowvizApp, pilot: Pilot) -> None:
    """Until the palette has searched for what stands in its line."""

    def searched() -> bool:
        palette = app.screen
        assert isinstance(palette, Palette)
        return palette._is_done and palette._searched == palette.query_one(Input).value.strip()

    await until(app, pilot, lambda: isinstance(app.screen, Palette) and bool(app.screen.query(Input)), "the palette")
    await until(app, pilot, searched, "the search")


async def closed(app: ShadowvizApp, pilot: Pilot) -> None:
    """Until the palette has closed, and what was chosen is done."""
    await until(app, pilot, lambda: not isinstance(app.screen, Palette), "the palette to close")
    await settled(app, pilot)


@pytest.mark.parametrize("words", ["screen 6", "pools", "6: pools"])
def test_a_command_typed_in_one_go_is_the_one_that_is_done(log: Path, words: str) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, f":{words}", "enter")
        await until(app, pilot, lambda: app.current_mode == "pools", "what was chosen")

    run_app(log, keys)


def test_enter_waits_until_what_was_typed_has_been_searched_for(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "colon")
        await offered(app, pilot)
        # The whole list is offered now, and its first entry is another.
        await at_once(app, pilot, "pools", "enter")
        await until(app, pilot, lambda: app.current_mode == "pools", "what was chosen")

    run_app(log, keys)


def test_a_command_that_there_is_not_does_nothing_and_escape_leaves(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await at_once(app, pilot, ":zzzz", "enter")
        await offered(app, pilot)
        await settled(app, pilot)
        assert isinstance(app.screen, Palette)
        await press(app, pilot, "escape")
        assert app.current_mode == "live"
        await at_once(app, pilot, ":pools", "escape")
        await closed(app, pilot)
        assert app.current_mode == "live"
        assert len(app.screen_stack) == 1

    run_app(log, keys)


@pytest.mark.parametrize("is_open", [False, True], ids=["before the line is there", "in the line"])
def test_what_is_typed_behind_enter_changes_nothing_that_it_chooses_and_is_done(log: Path, is_open: bool) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        if is_open:
            await press(app, pilot, "colon")
            await offered(app, pilot)
        for character in "pools" if is_open else ":pools":
            app.post_message(events.Key("colon" if character == ":" else character, character))
        for key in ("enter", "question_mark"):
            app.post_message(events.Key(key, {"question_mark": "?"}.get(key)))
        await until(app, pilot, lambda: isinstance(app.screen, HelpScreen), "the help")
        assert app.current_mode == "pools"

    run_app(log, keys)


def test_what_is_typed_behind_enter_that_finds_nothing_goes_on_with_the_line(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "colon")
        await offered(app, pilot)
        for character in "zz\nyy":
            app.post_message(events.Key("enter", None) if character == "\n" else events.Key(character, character))
        await until(app, pilot, lambda: app.screen.query_one(Input).value == "zzyy", "what was typed behind Enter")
        await press(app, pilot, "escape")
        assert len(app.screen_stack) == 1

    run_app(log, keys)


def test_escape_behind_enter_leaves_and_takes_along_what_was_typed_between_them(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "colon")
        await offered(app, pilot)
        for key, character in (*zip("pools", "pools", strict=True), ("enter", None), ("question_mark", "?")):
            app.post_message(events.Key(key, character))
        app.post_message(events.Key("escape", None))
        await closed(app, pilot)
        assert len(app.screen_stack) == 1

    run_app(log, keys)
