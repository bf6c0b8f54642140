"""With ASCII alone, whatever opens over a screen is drawn with it, too; and the locale C asks for that."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


@pytest.mark.parametrize("screen", ["live", "stress"])
def test_help_palette_themes_and_questions_are_ascii(log: Path, screen: str) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        asks = ("r", "stress run") if screen == "stress" else ("slash", "filter")
        for opens, words in (("question_mark", "Keys"), ("colon", "key backspace"), asks):
            await press(app, pilot, opens)
            await until(app, pilot, lambda words=words: words in screen_text(app), words)
            assert screen_text(app).isascii(), screen_text(app)
            await press(app, pilot, "escape")
        app.search_themes()
        await until(app, pilot, lambda: "ansi-dark" in screen_text(app), "the themes")
        assert screen_text(app).isascii(), screen_text(app)
        await press(app, pilot, "escape")

    run_app(log, keys, options=AppOptions(ascii=True, screen=screen))


def test_a_message_is_ascii(log: Path) -> None:
    async def run() -> None:
        session = Session(log)
        app = ShadowvizApp(session, log.name, AppOptions(ascii=True))
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settled(app, pilot)
            app.say("something is told")
            await until(app, pilot, lambda: "something is told" in screen_text(app), "the message")
            shown = screen_text(app)
            assert shown.isascii(), shown
        session.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("environment", "is_ascii"),
    [
        ({"LC_ALL": "C"}, True),
        ({"LANG": "C"}, True),
        ({"LANG": "POSIX"}, True),
        ({}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, False),
    ],
)
def test_the_locale_c_asks_for_ascii_where_somebody_has_chosen_it(
    log: Path, environment: dict[str, str], is_ascii: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shadowviz", "tui", str(log), "--plain"],
        env={"PATH": "", **environment},
        capture_output=True,
        check=True,
    )
    assert done.stdout.isascii() == is_ascii
