"""Keys that lead from one screen to another, at two sizes, with what is selected carried along at once."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app

from shadowviz.cli.main import main
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.themed import AppOptions

SIZES = [(80, 24), (120, 40)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


@pytest.mark.parametrize("size", SIZES)
def test_d_compares_the_chosen_request_with_the_marked_one_else_with_what_its_lookup_met(
    log: Path, size: tuple[int, int]
) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "j", "j", "d")
        assert app.screen._names == ("r1", "r4")
        shown = await press(app, pilot, "backspace", "j", "m")
        assert "[A is r3" in shown
        await press(app, pilot, "k", "d")
        assert app.screen._names == ("r3", "r4")
        await press(app, pilot, "escape")
        assert app.screen._names == ("r1", "r4")
        shown = await press(app, pilot, "backspace", "m", "d")
        # A request marked and compared with itself says nothing.
        assert app.screen._names == ("r1", "r4")
        assert "[A is" not in await press(app, pilot, "backspace")

    run_app(log, keys, size)


@pytest.mark.parametrize("size", SIZES)
def test_a_node_opens_the_ruler_of_the_request_if_it_is_on_its_path_else_its_own(
    log: Path, size: tuple[int, int]
) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "G", "k", "t")
        assert app.session.selection.current.selection.request == "r2"
        node, state = app.screen._node, app.session.state
        await press(app, pilot, "enter")
        assert app.screen._subject.request == "r2"
        assert app.screen.view.place.token == state.nodes.start[node]
        await press(app, pilot, "backspace")
        on_path = set(state.nodes.path(node))
        other = next(n for n in range(1, len(state.nodes)) if state.nodes.alive[n] and n not in on_path)
        app.screen._go(other)
        await press(app, pilot, "enter")
        assert app.screen._subject.name == f"path of n{other}"
        await press(app, pilot, "backspace")
        assert app.session.selection.current.selection.request == "r2"

    run_app(log, keys, size)


@pytest.mark.parametrize(
    ("screen", "keys", "field"),
    [
        ("events", ("up",), "seq"),
        ("pools", ("end",), "node"),
        ("ruler", ("right",), "token"),
        ("tree", ("up",), "node"),
    ],
)
def test_what_the_cursor_is_on_is_selected_before_any_message_is_read(
    log: Path, screen: str, keys: tuple[str, ...], field: str
) -> None:
    async def move(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "j")
        view = app.screen.view
        before = getattr(app.session.selection.current.selection, field)
        # As the key does, but without the loop that reads messages.
        if screen == "ruler":
            view.action_token(1)
            assert app.session.selection.current.selection.token == view.place.token != before
        else:
            view.move_to(view.num_rows() - 1 if keys == ("end",) else view.cursor - 1)
            after = getattr(app.session.selection.current.selection, field)
            expected = {
                "events": lambda: app.screen._seq,
                "pools": lambda: view.target,
                "tree": lambda: app.screen._node,
            }
            assert after == expected[screen]() != before

    run_app(log, move, options=AppOptions(screen=screen))


@pytest.mark.parametrize("screen", ["live", "events"])
def test_the_interface_begins_at_the_event_that_is_named(
    log: Path, screen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tui", str(log), "--plain", "--screen", screen, "--at", "40"]) == 0
    assert capsys.readouterr().out.startswith("REPLAY e40 of 89")
    assert main(["tui", str(log), "--plain", "--at", "90"]) == 2
    assert "has no event 90" in capsys.readouterr().err
    assert main(["tui", "--plain", "--at", "4"]) == 2
    assert "expected a source with it" in capsys.readouterr().err
