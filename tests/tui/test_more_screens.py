"""Ruler, diff, stress, pools and events, key by key, at two sizes; and their plain forms beside stored ones."""

from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from golden import check_golden
from textual.pilot import Pilot
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.plain import plain_lines
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions

LOG = Path(__file__).parents[2] / "fixtures/logs/schema-1.jsonl"
STORED = Path(__file__).parent / "stored"
SIZES = [(80, 24), (120, 40)]


@pytest.mark.parametrize("size", SIZES)
def test_the_ruler_moves_by_token_boundary_layer_and_zoom(size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "enter")
        ruler = app.screen
        cut = ruler._model.cut
        assert ruler.view.place.token == cut
        await press(app, pilot, "home")
        assert ruler.view.place.token == app.session.selection.current.selection.token == 0
        await press(app, pilot, "right_square_bracket")
        unit = ruler.view.rows.lane_at(ruler.view.cursor).unit
        assert ruler.view.place.token == unit > 1
        text = await press(app, pilot, "m")
        assert "your cut" in text
        assert ruler._model.cut == unit
        await press(app, pilot, "m", "J")
        assert ruler._model.cut == cut
        assert ruler.view.place.layer == 0
        text = await press(app, pilot, "minus")
        assert "1 cell = 4 tokens" in text
        await press(app, pilot, "end")
        assert ruler.view.place.token == ruler._model.length
        await press(app, pilot, "backspace")
        assert app.session.selection.current.screen == "live"

    run_app(LOG, keys, size)


def test_the_ruler_shows_what_the_lookup_met() -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "enter")
        lookup = app.screen._subject.lookup
        text = await press(app, pilot, "a")
        assert app.frame is not None
        assert app.frame.at == lookup.seq
        assert "REPLAY" in text.splitlines()[0]
        assert app.screen._subject.note == "Rows as its lookup met them."

    run_app(LOG, keys)


@pytest.mark.parametrize("size", SIZES)
def test_the_whole_interface_goes_to_the_event_at_the_cursor(size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        head = app.session.follower.head
        text = await press(app, pilot, "k", "k", "enter")
        assert f"REPLAY e{head - 2} of {head}" in text.splitlines()[0]
        await press(app, pilot, "less_than_sign")
        assert app.session.timeline.at == head - 3
        await press(app, pilot, "greater_than_sign", "greater_than_sign")
        assert app.session.timeline.at == head - 1
        await press(app, pilot, "b", "N")
        kind = app.session.follower.kind_at(head - 1)
        assert app.session.follower.kind_at(app.session.timeline.at) == kind
        assert app.session.timeline.at < head - 1 or kind not in map(app.session.follower.kind_at, range(head - 1))
        await press(app, pilot, "left")
        text = await press(app, pilot, "1")
        assert "REPLAY" in text.splitlines()[0]
        await press(app, pilot, "7", "f")
        assert app.session.timeline.at == head

    run_app(LOG, keys, size, AppOptions(screen="events"))


def test_events_are_filtered_by_what_is_typed() -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "slash", *"lookupdone", "enter")
        view = app.screen.view
        kinds = {app.session.follower.kind_at(view.rows.at(row)) for row in range(view.num_rows())}
        assert kinds == {"LookupDone"}
        await press(app, pilot, "escape")
        assert view.num_rows() == app.session.follower.head + 1

    run_app(LOG, keys, options=AppOptions(screen="events"))


@pytest.mark.parametrize("size", SIZES)
def test_a_stress_cell_opens_the_ruler_and_copies_its_command(tmp_path: Path, size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        text = await press(app, pilot, "n")
        assert "length 128" in text
        assert "hca_kv layer 3" in text
        await press(app, pilot, "y")
        assert app.clipboard == "shadowviz stress tiny --lengths 128"
        await press(app, pilot, "n")
        assert app.screen.view.place.length == 132
        text = await press(app, pilot, "enter")
        assert "132 tokens (tiny)" in text
        assert app.screen._model.cut == 132

    run_app(small_stress_log(tmp_path / "stress.jsonl"), keys, size, AppOptions(screen="stress"))


@pytest.mark.parametrize("size", SIZES)
def test_a_leaf_of_the_pools_is_shown_in_the_tree(size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        text = await press(app, pilot, "b")
        node = app.screen.view.target
        assert node
        assert f"n{node}: Enter shows it" in text
        await press(app, pilot, "enter")
        assert app.session.selection.current.screen == "tree"
        assert app.session.selection.current.selection.node == node

    run_app(LOG, keys, size, AppOptions(screen="pools"))


@pytest.mark.parametrize("size", SIZES)
def test_two_requests_are_compared_with_cause_and_cost(size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        comparison = app.screen._comparison
        comparison.wait()
        await settled(app, pilot)
        text = screen_text(app)
        assert comparison.answer.report.verdict[:20] in text
        a, b = app.screen._names
        await press(app, pilot, "x")
        assert app.screen._names == (b, a)
        await press(app, pilot, "escape")
        assert app.screen._names == (a, b)

    run_app(LOG, keys, size, AppOptions(screen="diff"))


@pytest.mark.parametrize("screen", ["ruler", "diff", "pools", "events"])
def test_the_plain_form_is_the_stored_one(screen: str) -> None:
    session = Session(LOG)
    text = "\n".join(plain_lines(session, screen, 100, ascii_only=False)) + "\n"
    session.close()
    check_golden(STORED / f"plain-{screen}.txt", text.encode())


def test_the_plain_heat_map_is_the_stored_one(tmp_path: Path) -> None:
    session = Session(small_stress_log(tmp_path / "stress.jsonl"))
    text = "\n".join(plain_lines(session, "stress", 100, ascii_only=True)) + "\n"
    session.close()
    assert text.isascii()
    check_golden(STORED / "plain-stress.txt", text.encode())


def test_the_history_of_the_pools_is_worked_on_until_it_is_whole() -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        history = app.screen._history

        def is_done() -> bool:
            assert not app.screen.is_working or history.is_behind
            return not app.screen.is_working

        await until(app, pilot, is_done, "the history")
        assert not history.is_behind
        assert history._state.seq == app.session.follower.head

    run_app(LOG, keys, options=AppOptions(screen="pools"))
