"""The ruler on the screen, step by step, beside stored ones, and beside what the kinds say themselves."""

import re
from pathlib import Path

import msgspec
import pytest
from golden import check_golden
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text

from shadowviz.tui.widgets.ruler_rows import LABEL
from shadowviz_engine.core.kinds import read_tokens
from shadowviz_engine.core.selections import FORMAT, VERSION, SelectionHeader, SelectionRow
from shadowviz_engine.core.spans import Extent

GOLDEN = Path(__file__).parent / "golden"
QUERY, CHOSEN = 1_286, (0, 3, 255, 318, 320)

STEPS = (
    ("the cut of the lookup", ("a",)),
    ("a CSA entry with its overlap, apart from its own tokens", ("left", "left", "left", "left")),
    ("an HCA entry", ("down", "down")),
    ("tokens spelled", ("plus",)),
    ("four tokens a cell", ("minus", "minus")),
    ("sixteen tokens a cell", ("minus",)),
    ("128 tokens a cell", ("minus",)),
    ("the first layer, which has a window alone", ("plus", "plus", "plus", "J")),
    ("a layer with an indexer, and what a query selected", ("J", "J", "c", *("right",) * 6)),
    ("another cut", ("m",)),
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "chat.jsonl"
    rows = [SelectionHeader(FORMAT, VERSION, 512), SelectionRow("r2", 2, QUERY, (CHOSEN,))]
    path.with_name("chat.topk").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return chat_log(path, sidecar="chat.topk")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16)])
def test_the_ruler_is_the_stored_one_step_by_step(log: Path, size: tuple[int, int]) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r2")
        await press(app, pilot, "3")
        shown = []
        for name, keys in STEPS:
            await press(app, pilot, *keys)
            _, _, *body, _ = screen_text(app).splitlines()
            shown += [f"== {name}: {' '.join(keys)}", *body]
        check_golden(GOLDEN / f"ruler-steps-{size[0]}x{size[1]}.txt", "\n".join([*shown, ""]).encode())

    run_app(log, look, size)


def row(shown: str, name: str) -> str:
    """Cells of a row of the ruler, without what the list puts around them."""
    line = next(line for line in shown.splitlines() if line[2:].startswith(name))
    return line[2 + LABEL :]


@pytest.mark.parametrize("token", [1_024, 1_027, 1_028])
def test_the_source_of_an_entry_stands_apart_from_its_own_tokens(log: Path, token: int) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r2", token=token)
        shown = await press(app, pilot, "3")
        place, kind = app.screen.view.place, app.session.state.opened.geometry.kind("csa_kv")
        entry = token // kind.unit
        reads = read_tokens(kind, Extent(entry, entry + 1))
        cells = row(shown, "made from")
        own = range(entry * kind.unit - place.first, (entry + 1) * kind.unit - place.first)
        before = range(reads.start - place.first, own.start)
        assert len(before) == kind.unit
        assert [cell for cell, mark in enumerate(cells) if mark == "═"] == [*own]
        assert [cell for cell, mark in enumerate(cells) if mark == "╌"] == [*before]
        assert f"so {kind.unit} before its own" in app.screen.inspector.text

    run_app(log, look)


@pytest.mark.parametrize("zoom", ["4", "16", "128"])
def test_entries_that_a_query_selected_are_marked_at_every_zoom(log: Path, zoom: str) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r2", token=QUERY)
        await press(app, pilot, "3", "J", "J", "J")
        shown = await press(app, pilot, *("minus",) * (1 + ["4", "16", "128"].index(zoom)))
        place = app.screen.view.place
        assert f"1 cell = {zoom} tokens" in shown
        unit = app.session.state.opened.geometry.kind("csa_kv").unit
        marked = {place.first + cell * int(zoom) for cell, mark in enumerate(row(shown, "selected")) if mark == "◆"}
        first, stop = place.first, place.first + int(zoom) * place.num_cells(app.screen.view.ruler_width)
        seen = {entry * unit // int(zoom) * int(zoom) for entry in CHOSEN if first <= entry * unit < stop}
        assert marked == seen
        assert f"query {QUERY:,}: 5 entries: 0, 3, 255, 318, 320" in app.screen.inspector.text
        assert f"query {QUERY:,}" not in (await press(app, pilot, "right"), app.screen.inspector.text)[1]

    run_app(log, look)


def test_reused_is_left_of_the_cut_and_computed_right_of_it_at_every_zoom(log: Path) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r2")
        await press(app, pilot, "3", "a")
        for _ in range(5):
            place, cut = app.screen.view.place, app.screen._model.cut
            cells = row(screen_text(app), "cut")
            at = (cut - place.first) // place.per_cell
            assert cells[at] == "▲"
            assert set(re.sub("[A-Z]", "", cells[:at])) <= {"━"}
            assert set(re.sub("[A-Z]", "", cells[at + 1 :])) <= {"╌", " "}
            await press(app, pilot, "minus")

    run_app(log, look)
