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


@pytest.mark.parametrize("key", ["w", "W", "!", "%", "f5", "ctrl+x", "exclamation_mark", "percent_sign", "w,ctrl+y"])
def test_keys_by_any_of_their_names_are_taken_and_work(log: Path, key: str) -> None:
    check_keymap({"app.quit": key})

    async def run() -> None:
        session = Session(log)
        app = ShadowvizApp(session, log.name, AppOptions(keymap={"app.quit": key}))
        async with app.run_test() as pilot:
            await settled(app, pilot)
            for one in key.split(","):
                names = {"!": "exclamation_mark", "%": "percent_sign"}
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


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"app.quit": "j"}, "app.quit: on the screen live the key j is that of row.down"),
        ({"row.down": "s"}, "row.down: on the screen live the key s is that of live.sort"),
        ({"pane.top": "s"}, "pane.top: on the screen live the key s is that of live.sort"),
        ({"app.quit": "x"}, "on the screen diff the key x is that of diff.swap"),
        ({"app.quit": "?"}, "the key question_mark is that of app.help"),
        ({"stress.rows": "home"}, "on the screen stress the key home is that of"),
        ({"ruler.cut": "Q", "app.quit": "Q"}, "on the screen ruler the key Q is that of"),
    ],
)
def test_a_key_that_does_something_else_on_a_screen_is_refused(keys: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match="choose another, or give") as found:
        check_keymap(keys)
    assert words in str(found.value)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"app.quit": "?", "app.help": "f1"},
        {"row.down": "up", "row.up": "down", "pane.down": "up", "pane.up": "down"},
        {"tree.fold": "x"},
        {"live.sort": "c"},
    ],
)
def test_keys_that_change_places_or_meet_on_no_screen_are_taken(keys: dict[str, str]) -> None:
    check_keymap(keys)
