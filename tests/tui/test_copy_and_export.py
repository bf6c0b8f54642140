"""`y` copies commands that do what they say, and `e` writes what `shadowviz export` writes, over nothing."""

import asyncio
import json
import shlex

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.widgets._toast import Toast
from tui_keys import answer, export_to, run_command, told
from tui_logs import chat_log, write_log
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.cli.main import main
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.exporting import write_new
from shadowviz.tui.screens.copying import copy_text
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LogOpened, RequestSubmitted
from shadowviz_engine.core.presets import preset


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return chat_log(tmp_path_factory.mktemp("a folder") / "chat's log.jsonl")


def test_the_copied_command_tells_why_the_chosen_request_reused_no_more(log, capsys):
    copied = []

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "G", "k", "y")
        assert app.clipboard == shlex.join(["shadowviz", "why", str(log), "r2"])
        assert told(app) == [f"copied: {app.clipboard}"]
        copied.append(app.clipboard)

    run_app(log, keys)
    run_command(copied[0])
    assert capsys.readouterr().out.startswith("r2: ")


def test_a_command_with_hidden_characters_is_not_copied(tmp_path):
    opened = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("tiny"))
    request = RequestSubmitted(seq=1, t_ns=0, request="a\x1b]0;b\nrm -r c", tokens=b"\1\0\0\0")
    path = write_log(tmp_path / "run.jsonl", [opened, request], closed=False)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "y")
        assert app.clipboard == ""
        assert "nothing is copied" in told(app)[-1]

    run_app(path, keys)


@pytest.mark.parametrize("hidden", ["\n", "\x1b]0;b\x07", "\u202e", "\u200b"])
def test_a_command_that_a_log_brings_along_is_not_copied_with_hidden_characters(log, hidden):
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        copy_text(app, f"shadowviz stress tiny-512{hidden}rm -r c")
        await pilot.pause()
        assert app.clipboard == ""
        assert "nothing is copied" in told(app)[-1]

    run_app(log, keys)


def test_the_copied_command_draws_the_node_at_the_moment_shown(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(40)
        await press(app, pilot, "2", "g", "j", "y")
        node = app.session.selection.current.selection.node
        words = shlex.split(app.clipboard)
        assert words[:5] == ["shadowviz", "export", f"{log}@40", "--root", str(node)]
        run_command(app.clipboard)
        assert (tmp_path / words[-1]).read_bytes().rstrip().endswith(b"</svg>")

    run_app(log, keys)


@pytest.mark.parametrize(("screen", "ending"), [("live", "json"), ("live", "html"), ("tree", "svg"), ("tree", "html")])
def test_what_is_on_screen_is_written_as_export_writes_it(log, tmp_path, screen, ending):
    ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(60)
        await press(app, pilot, "j")
        assert str(ours) in await export_to(app, pilot, ours)
        request = app.session.selection.current.selection.request
        names = ["--diagram", "lookups"] if screen == "live" else [f"--request={request}"]
        assert main(["export", f"{log}@60", *names, "-o", str(theirs)]) == 0
        assert ours.read_bytes() == theirs.read_bytes()

    run_app(log, keys, options=AppOptions(screen=screen))


def test_a_table_has_the_lookups_up_to_the_moment_shown_alone(log, tmp_path):
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(40)
        await press(app, pilot, "j")
        await export_to(app, pilot, tmp_path / "lookups.json")
        written = json.loads((tmp_path / "lookups.json").read_text())
        seqs = [msgspec.convert(line["seq"], int) for line in written["content"]["lines"]]
        assert seqs == [seq for seq in range(41) if app.session.follower.kind_at(seq) == "LookupDone"]

    run_app(log, keys)


@pytest.mark.parametrize("screen", ["live", "tree"])
def test_no_file_is_replaced_and_every_fault_is_told(log, tmp_path, screen):
    there = tmp_path / "there.html"
    there.write_text("mine")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert "is there already" in await export_to(app, pilot, there)
        assert "tells no format" in await export_to(app, pilot, tmp_path / "picture.docx")
        assert "in a folder that is there" in await export_to(app, pilot, tmp_path / "no" / "tree.html")
        assert "tells no format" in await export_to(app, pilot, tmp_path / "trace.pftrace")
        assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
        assert there.read_text() == "mine"

    run_app(log, keys, options=AppOptions(screen=screen))


def test_a_name_that_is_taken_meanwhile_is_not_replaced_either(tmp_path):
    (tmp_path / "a.svg").write_bytes(b"mine")
    with pytest.raises(InputError, match="is there already"):
        write_new(tmp_path / "a.svg", [b"ours"])
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.svg", b"mine")]


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
@pytest.mark.parametrize("screen", ["live", "tree", "events", "pools"])
def test_the_question_is_whole_and_offers_a_free_name(log, tmp_path, monkeypatch, screen, size):
    monkeypatch.chdir(tmp_path)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "y", "e")
        offered = app.screen.query_one(Input).value
        stem, _, ending = offered.partition(".")
        asked = app.screen.query_one(Static)
        shown = " ".join(screen_text(app).split())
        assert " ".join(str(asked.content).split()) in shown
        (tmp_path / offered).write_text("mine")
        await press(app, pilot, "escape", "e")
        assert app.screen.query_one(Input).value == f"{stem}-2.{ending}"
        await press(app, pilot, "enter")
        await until(app, pilot, lambda: not app.helpers.are_busy)
        assert (tmp_path / f"{stem}-2.{ending}").stat().st_size
        assert "no file was named" in await answer(app, pilot, "e", "")

    run_app(log, keys, size, AppOptions(screen=screen))


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_a_question_lies_under_no_message(log, size):
    async def run() -> None:
        session = Session(log)
        app = ShadowvizApp(session, "run", AppOptions(screen="tree"))
        async with app.run_test(size=size, notifications=True) as pilot:
            await settled(app, pilot)
            await press(app, pilot, "y", "e")
            (toast,) = app.screen.query(Toast)
            assert toast.region.height
            assert toast.region.bottom <= app.screen.query_one(Static).region.y
        session.close()

    asyncio.run(run())


def test_a_tree_is_written_as_it_is_folded(log, tmp_path):
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "minus")
        index = app.screen._index
        rows = {index.node_at(row) for row in range(len(index))}
        await export_to(app, pilot, tmp_path / "folded.json")
        await press(app, pilot, "plus")
        await export_to(app, pilot, tmp_path / "whole.json")
        folded, whole = (json.loads((tmp_path / f"{name}.json").read_text())["content"] for name in ("folded", "whole"))
        assert {box["node"] for box in folded["boxes"]} == rows
        assert len(rows) < len(whole["boxes"]) == len(index)
        assert {stub["parent"] for stub in folded["stubs"]} == set(folded_away(index, rows))
        assert any("folded: what is below" in note for note in folded["caption"]["notes"])
        assert not any("folded" in note for note in whole["caption"]["notes"])

    def folded_away(index, rows):
        return [node for node in rows if index.has_children(node) and node]

    run_app(log, keys, options=AppOptions(screen="tree"))
