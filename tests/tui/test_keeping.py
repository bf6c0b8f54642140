"""A copied command finds its record: one that goes with the interface is kept first, and completed at the end."""

import math
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from tui_keys import answer, run_command, told
from tui_logs import chat_log
from tui_processes import wait_for
from tui_runs import press, run_app

from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
from shadowviz.sources.selection_index import SelectionIndex
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.helpers import Outcome
from shadowviz.tui.keeping import KeptLog
from shadowviz.tui.runs import ShownRun
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.log_reader import read_log

FLEETING = AppOptions(fleeting=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "goes"
    folder.mkdir()
    return chat_log(folder / "run.jsonl")


def test_the_record_is_kept_where_the_user_says_and_the_command_works_when_it_has_gone(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    copied: list[str] = []

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "j")
        assert await answer(app, pilot, "y", "kept.jsonl") == "copied: shadowviz why kept.jsonl r5"
        copied.append(app.clipboard)
        # The record has a name that stays by now: nothing is asked.
        await press(app, pilot, "2", "y")
        assert "kept.jsonl@" in app.clipboard
        assert list(app.kept) == [log]

    run_app(log, keys, options=FLEETING)
    log.unlink()
    run_command(copied[0])
    assert capsys.readouterr().out.startswith("r5: ")


def test_without_a_name_nothing_is_copied_and_a_name_that_is_taken_is_refused(log: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.jsonl"
    taken.write_text("mine")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "j", "y", "escape")
        assert told(app)[-1] == "nothing is copied: the record was not kept"
        assert "is there already" in await answer(app, pilot, "y", str(taken))
        assert app.clipboard == ""
        assert taken.read_text() == "mine"
        assert not app.kept

    run_app(log, keys, options=FLEETING)


def test_a_record_with_a_name_of_its_own_is_not_kept_twice(log: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "j", "y")
        assert app.clipboard == f"shadowviz why {log} r5"

    run_app(log, keys)


def test_what_is_kept_ends_with_a_whole_line_and_is_the_whole_record_at_the_end(log: Path, tmp_path: Path) -> None:
    data = log.read_bytes()
    log.write_bytes(data[:20_000])
    kept = KeptLog(log, str(tmp_path / "kept.jsonl"))
    assert kept.target.read_bytes() == data[: data.rindex(b"\n", 0, 20_000) + 1]
    log.write_bytes(data)
    assert kept.finish() == Outcome(f"{kept.target} has the whole record")
    assert kept.target.read_bytes() == data
    assert read_log(kept.target).summary.complete
    assert sorted(path.name for path in tmp_path.iterdir()) == ["goes", "kept.jsonl"]


@pytest.mark.parametrize("line", [b"", b"x" * 200_000])
def test_a_record_without_a_whole_line_is_kept_empty(tmp_path: Path, line: bytes) -> None:
    log = tmp_path / "run.jsonl"
    log.write_bytes(line)
    kept = KeptLog(log, str(tmp_path / "kept.jsonl"))
    assert kept.target.read_bytes() == b""


def test_a_copy_that_somebody_has_written_to_is_left_to_them(log: Path, tmp_path: Path) -> None:
    kept = KeptLog(log, str(tmp_path / "kept.jsonl"))
    kept.target.write_text("theirs")
    assert "left as it is" in kept.finish().words
    assert kept.finish().code == 2
    assert kept.target.read_text() == "theirs"
    kept.target.unlink()
    assert "left as it is" in kept.finish().words
    assert kept.finish().code == 2
    assert not kept.target.exists()
    with pytest.raises(InputError, match="folder that is there"):
        KeptLog(log, str(tmp_path / "no" / "kept.jsonl"))


def test_quitting_while_a_copy_is_made_leaves_a_whole_one(log: Path, tmp_path: Path) -> None:
    target, apps = tmp_path / "kept.jsonl", list[ShadowvizApp]()

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "y")
        app.screen.query_one(Input).value = str(target)
        await pilot.press("enter", "q")
        apps.append(app)

    run_app(log, keys, options=FLEETING)
    apps[0].helpers.wait()
    assert target.read_bytes() == log.read_bytes()


def test_the_record_that_the_key_was_pressed_for_is_kept_though_another_is_shown_by_then(
    log: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(log.read_bytes()[:20_000])

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "y")
        app.runs.shown = ShownRun(Session(other), "other")
        app.screen.query_one(Input).value = str(tmp_path / "kept.jsonl")
        await pilot.press("enter")
        app.helpers.wait()
        app.runs.shown.session.close()
        app.runs.shown = app.runs.main
        assert (tmp_path / "kept.jsonl").read_bytes() == log.read_bytes()
        assert list(app.kept) == [log]

    run_app(log, keys, options=FLEETING)


def test_a_sidecar_is_kept_with_its_log_and_found_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "goes"
    folder.mkdir()
    setup = Setup(
        options={"model": "tiny", "pool_bytes": 64 << 20, "record": "full", "sidecar": str(folder / "run.jsonl.topk")},
        log=str(folder / "run.jsonl"),
    )
    child = EngineChild(setup)
    try:
        child.submit({"token_ids": list(range(5, 300)), "max_tokens": 2, "id": "a"})
        wait_for(lambda: child.log.exists() and b"RequestFinished" in child.log.read_bytes(), "the request")
        kept = KeptLog(child.log, str(tmp_path / "kept.jsonl"), "run.jsonl.topk")
    finally:
        child.close()
    assert kept.finish() == Outcome(f"{kept.target} has the whole record")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["goes", "kept.jsonl", "kept.jsonl.topk"]
    shutil.rmtree(folder)
    record = read_log(kept.target)
    assert record.opened.sidecar == "kept.jsonl.topk"
    index = SelectionIndex(kept.target, record.opened.sidecar)
    assert index.sync(math.inf)
    assert (index.fault, bool(index.layers("a"))) == ("", True)
    index.close()
    assert record.summary.complete


def test_a_sidecar_whose_name_is_taken_keeps_the_record_from_being_kept(log: Path, tmp_path: Path) -> None:
    (log.parent / "run.jsonl.topk").write_text("{}\n")
    taken = tmp_path / "kept.jsonl.topk"
    taken.write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        KeptLog(log, str(tmp_path / "kept.jsonl"), "run.jsonl.topk")
    assert not (tmp_path / "kept.jsonl").exists()
    assert taken.read_text() == "mine"
