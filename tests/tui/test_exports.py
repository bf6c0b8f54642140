"""`e` writes what is on the screen: the stretch, the filter and the moment that are shown, and nothing else."""

import json
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from tui_keys import export_to, run_command, told
from tui_logs import chat_log
from tui_runs import press, run_app

from shadowviz.cli.main import main
from shadowviz.sources.logfile import LogFile
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.models.event_words import event_words
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


def shown_then(log: Path, screen: str, keys: Callable[[ShadowvizApp, Pilot], Awaitable[None]]) -> None:
    run_app(log, keys, options=AppOptions(screen=screen))


def exported(log: Path, file: Path, *words: str) -> bytes:
    assert main(["export", str(log), *words, "-o", str(file)]) == 0
    return file.read_bytes()


@pytest.mark.parametrize("ending", ["svg", "json"])
def test_the_ruler_writes_the_stretch_and_the_cut_that_are_seen(log: Path, tmp_path: Path, ending: str) -> None:
    ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(60)
        app.session.selection.select(request="r3")
        await press(app, pilot, "home", "minus", "right_square_bracket", "m", "e", "escape")
        screen = app.screen
        place, width = screen.view.place, screen.view.ruler_width
        await export_to(app, pilot, ours)
        span = f"{place.first}:{min(screen._model.length, place.first + 4 * width)}"
        wanted = ["--at", "60", "--diagram", "derivation", "--request", "r3", "--span", span, "--cut", str(place.token)]
        assert ours.read_bytes() == exported(log, theirs, *wanted)

    shown_then(log, "ruler", keys)


def test_the_ruler_of_one_layer_has_the_lanes_of_that_layer_alone(log: Path, tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "J", "J", "J")
        lanes = {lane.kind.label for lane in app.screen._model.lanes_of(app.screen.view.place.layer)}
        assert lanes < {lane.kind.label for lane in app.screen._model.lanes}
        await export_to(app, pilot, tmp_path / "layer.json")
        content = json.loads((tmp_path / "layer.json").read_text())["content"]
        assert {lane["kind"] for lane in content["lanes"]} == lanes
        assert "Only what layer 2 owns or reads." in content["caption"]["notes"]

    shown_then(log, "ruler", keys)


def test_the_ruler_of_a_node_is_drawn_and_its_command_draws_the_same(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        node = next(node for node in range(1, 9) if app.session.state.nodes.alive[node])
        app.session.selection.select(request="", node=node)
        await press(app, pilot, "3", "y")
        run_command(app.clipboard)
        await export_to(app, pilot, tmp_path / "ours.svg")
        assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / "ruler.svg").read_bytes()
        assert f"--root={node}" in shlex.split(app.clipboard)

    shown_then(log, "tree", keys)


@pytest.mark.parametrize("ending", ["svg", "html", "json", "txt"])
def test_the_pools_write_the_bytes_of_the_moment_that_is_shown(log: Path, tmp_path: Path, ending: str) -> None:
    ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(40)
        await press(app, pilot, "j")
        await export_to(app, pilot, ours)
        assert ours.read_bytes() == exported(log, theirs, "--at", "40", "--diagram", "memory")

    shown_then(log, "pools", keys)


def test_the_heat_map_has_the_rows_and_the_checks_that_are_shown(tmp_path: Path) -> None:
    log = small_stress_log(tmp_path / "stress.jsonl")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "s", "s")
        assert app.screen._rows_by == "kind"
        await export_to(app, pilot, tmp_path / "whole.json")
        assert (tmp_path / "whole.json").read_bytes() == exported(log, tmp_path / "theirs.json", "--rows", "kind")
        app.session.go_to(11)
        await press(app, pilot, "j")
        words = await export_to(app, pilot, tmp_path / "part.svg")
        assert "10 of 40 checks shown" in words
        await export_to(app, pilot, tmp_path / "part.json")
        cells = json.loads((tmp_path / "part.json").read_text())["content"]["cells"]
        assert max(cell["last"] for cell in cells) == 124

    shown_then(log, "stress", keys)


@pytest.mark.parametrize("pattern", ["", "lookupdone", "r3 span"])
def test_events_are_written_as_far_as_the_filter_lets_them_through_and_the_moment_goes(
    log: Path, tmp_path: Path, pattern: str
) -> None:
    files = {ending: tmp_path / f"events.{ending}" for ending in ("jsonl", "json", "txt")}

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(70)
        await press(app, pilot, "j")
        if pattern:
            await press(app, pilot, "slash", *(key if key != " " else "space" for key in pattern), "enter")
        wanted = [
            event
            for event in LogFile(log).events()
            if event.seq <= 70 and all(word in event_words(event).searched for word in pattern.split())
        ]
        assert 0 < len(wanted) <= 71
        for file in files.values():
            assert f"{len(wanted):,} events up to e70" in await export_to(app, pilot, file)
        lines = log.read_bytes().splitlines(keepends=True)
        assert files["jsonl"].read_bytes() == b"".join(lines[event.seq] for event in wanted)
        told_of = json.loads(files["json"].read_text())
        assert [event["seq"] for event in told_of["events"]] == [event.seq for event in wanted]
        assert (told_of["filter"], told_of["up_to"]) == (pattern, 70)
        rows = [row.split()[0] for row in files["txt"].read_text().splitlines()[3:]]
        assert rows == [f"e{event.seq}" for event in wanted]

    shown_then(log, "events", keys)


def test_without_a_filter_the_written_lines_are_a_record_and_a_trace_is_offered(log: Path, tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.go_to(70)
        await press(app, pilot, "j")
        await export_to(app, pilot, tmp_path / "part.jsonl")
        session = Session(tmp_path / "part.jsonl")
        session.settle()
        assert session.state.digest() == app.session.state.digest()
        session.close()
        for ending in ("log", "pftrace"):
            await export_to(app, pilot, tmp_path / f"ours.{ending}")
            theirs = exported(log, tmp_path / f"theirs.{ending}", "--at", "70")
            assert (tmp_path / f"ours.{ending}").read_bytes() == theirs
        await press(app, pilot, "slash", "r", "3", "enter")
        assert "tells no format of the filtered events" in await export_to(app, pilot, tmp_path / "filtered.pftrace")

    shown_then(log, "events", keys)


def test_lookups_are_those_of_the_requests_that_the_filter_lets_through(log: Path, tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "slash", *"tenant", "enter")
        await export_to(app, pilot, tmp_path / "lookups.json")
        content = json.loads((tmp_path / "lookups.json").read_text())["content"]
        assert [line["request"] for line in content["lines"]] == ["r5"]
        assert any("the filter 'tenant'" in note for note in content["caption"]["notes"])

    shown_then(log, "live", keys)


def test_a_comparison_is_written_as_a_page_as_a_report_and_line_by_line(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.selection.select(request="r4")
        await press(app, pilot, "4")
        app.screen._comparison.wait()
        await press(app, pilot, "y")
        seen.extend([app.screen._comparison.answer.report.verdict, app.clipboard])
        for ending in ("html", "json", "txt"):
            assert seen[0] in await export_to(app, pilot, tmp_path / f"diff.{ending}")

    shown_then(log, "live", keys)
    verdict, command = seen
    program, *words = shlex.split(command)
    assert (program, main([*words, "--json"])) == ("shadowviz", 1)
    ours, theirs = json.loads((tmp_path / "diff.json").read_text()), json.loads(capfd.readouterr().out)
    for name in ("common", "causes", "cost"):
        assert ours[name] == theirs[name], name
    assert verdict in (tmp_path / "diff.html").read_text()
    text = (tmp_path / "diff.txt").read_text()
    assert text.startswith(verdict)
    assert "\n- " in text
    assert "\n+ " in text


@pytest.mark.parametrize("screen", ["ruler", "diff", "stress", "pools", "events", "tree"])
def test_where_there_is_nothing_to_write_the_screen_says_so(tmp_path: Path, screen: str) -> None:
    empty = tmp_path / "empty.jsonl"

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await pilot.press("e")
        await pilot.pause()
        assert told(app)
        assert told(app)[-1].startswith(("there is no", "there are no", "no stress run"))

    shown_then(empty, screen, keys)


def test_a_request_and_a_node_are_two_rulers_and_a_dead_node_is_none(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["export", str(log), "--diagram", "derivation", "-o", str(tmp_path / "ruler.svg")]
    assert main([*base, "--request", "r2", "--root", "1"]) == 2
    assert "expected one of them" in capsys.readouterr().err
    assert main([*base, "--root", "999"]) == 2
    assert "there is no node n999" in capsys.readouterr().err
    assert main([*base]) == 2
    assert "--root with a node" in capsys.readouterr().err
