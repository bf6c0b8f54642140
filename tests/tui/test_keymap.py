"""Keys of the user's own: every id that the help shows may be given another, and a slip is told."""

import asyncio
import json
from pathlib import Path

import pytest
from tui_logs import chat_log
from tui_runs import settled

from shadowviz.cli.main import main
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.keymap import check_keymap, known_ids
from shadowviz.tui.screens.registry import SCREENS
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.errors import InputError


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


def test_every_id_that_a_screen_shows_is_known(log: Path) -> None:
    async def run() -> None:
        session = Session(log)
        app = ShadowvizApp(session, log.name)
        async with app.run_test() as pilot:
            for entry in SCREENS:
                app.action_visit(entry.name)
                await settled(app, pilot)
                shown = {found.binding.id for found in app.screen.active_bindings.values() if found.binding.id}
                assert shown <= set(known_ids()), entry.name
                assert shown
        session.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "key", ["x", "X", "?", "+", "f5", "ctrl+x", "question_mark", "left_square_bracket", "a,ctrl+y"]
)
def test_keys_by_any_of_their_names_are_taken_and_work(log: Path, key: str) -> None:
    check_keymap({"app.quit": key})

    async def run() -> None:
        session = Session(log)
        app = ShadowvizApp(session, log.name, AppOptions(keymap={"app.quit": key}))
        async with app.run_test() as pilot:
            await settled(app, pilot)
            for one in key.split(","):
                names = {"?": "question_mark", "+": "plus"}
                assert [
                    found.binding.id
                    for name, found in app.screen.active_bindings.items()
                    if name == names.get(one, one)
                ] == ["app.quit"]
        session.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"app.quitt": "x"}, "perhaps app.quit"),
        ({"nothing": "x"}, "? in the interface shows the ids"),
        ({"app.quit": "nokeyatall!!"}, "is no key"),
        ({"app.quit": ""}, "is no key"),
        ({"app.quit": "x,"}, "is no key"),
        ({"app.quit": "hold+x"}, "is no key"),
        ({"app.quit": "\x1b"}, "is no key"),
    ],
)
def test_a_slip_is_told(
    log: Path, keys: dict[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="no key"):
        check_keymap(keys)
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(keys))
    assert main(["tui", str(log), "--web", "--address", "127.0.0.1:0", "--keys", str(file)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "keys.json" in told
    assert "\x1b" not in told
