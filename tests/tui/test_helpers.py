"""What becomes of work beside the screens is told, in the interface or at its end."""

from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from tui_keys import told
from tui_logs import chat_log
from tui_runs import press, run_app

from shadowviz.cli.tui_end import end, end_code
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.helpers import start_told
from shadowviz.tui.screens.stress_start import go_on
from shadowviz_engine.core.errors import CapacityError, InputError


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


FAULTS = [
    (InputError("no \x1b[31m file"), "no \\u001b[31m file", 2),
    (CapacityError("no room"), "no room", 3),
    (ValueError("a defect"), "ValueError: a defect", 1),
    (MemoryError(), "MemoryError", 1),
]


@pytest.mark.parametrize(("error", "words", "code"), FAULTS)
def test_what_goes_wrong_after_the_end_is_told_by_the_command_with_its_exit_code(
    log: Path, capsys: pytest.CaptureFixture[str], error: Exception, words: str, code: int
) -> None:
    ended, apps = Event(), list[ShadowvizApp]()

    def work() -> str:
        ended.wait()
        raise error

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        apps.append(app)
        start_told(app, lambda: "is written")
        app.helpers.wait()
        await pilot.pause()
        start_told(app, work)
        await pilot.press("q")

    run_app(log, keys)
    ended.set()
    (app,) = apps
    end(app, None, None)
    assert words in capsys.readouterr().err
    assert [words in outcome.words for outcome in app.helpers.untold] == [True]
    assert end_code(app) == code


@pytest.mark.parametrize(("error", "words", "code"), FAULTS)
def test_what_goes_wrong_before_the_end_is_told_there_and_not_again(
    log: Path, capsys: pytest.CaptureFixture[str], error: Exception, words: str, code: int
) -> None:
    def work() -> str:
        raise error

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        start_told(app, work)
        app.helpers.wait()
        await press(app, pilot, "j")
        assert words in told(app)[-1]
        assert not app.helpers.untold
        end(app, None, None)
        assert (capsys.readouterr().err, end_code(app)) == ("", 0)

    run_app(log, keys)


def test_a_file_that_became_whole_after_the_end_is_told_without_a_fault(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, apps = Event(), list[ShadowvizApp]()

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        apps.append(app)
        start_told(app, lambda: str(ended.wait()) and "tree.svg: 3 nodes")
        await pilot.press("q")

    run_app(log, keys)
    ended.set()
    end(apps[0], None, None)
    assert "shadowviz: tree.svg: 3 nodes" in capsys.readouterr().err
    assert end_code(apps[0]) == 0


def test_a_record_that_cannot_be_gone_on_with_is_told_without_its_escapes(log: Path, tmp_path: Path) -> None:
    record = tmp_path / "a\x1b]0;b\njsonl"
    record.write_text("no record\n")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        go_on(app, record)
        await pilot.pause()
        assert "\\u001b]0;b\\n" in told(app)[-1]
        assert told(app)[-1].isprintable()

    run_app(log, keys)


def test_what_comes_between_quitting_and_the_end_counts_as_untold(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apps = list[ShadowvizApp]()

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        apps.append(app)
        start_told(app, lambda: "tree.svg: 3 nodes")
        # Its words wait for the interface, which has not come to them.
        app.helpers.wait()
        app.exit()
        await pilot.pause()

    run_app(log, keys)
    end(apps[0], None, None)
    assert capsys.readouterr().err == "shadowviz: tree.svg: 3 nodes\n"
