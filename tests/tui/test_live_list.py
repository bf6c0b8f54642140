"""What the list of requests says where an engine waits, and the ends of ids that it keeps."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text, settled

from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
from shadowviz.sources.states import EngineState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.models.cells import fit_middle
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.request_view import Columns

OPTIONS = {"model": "tiny", "page_size": 128, "num_full_pages": 16, "num_swa_pages": 12}


def test_an_engine_that_waits_is_asked_with_a_key_that_the_foot_names(tmp_path: Path) -> None:
    async def run() -> None:
        child = EngineChild(Setup(options=OPTIONS, log=str(tmp_path / "run.jsonl")))
        session = Session(child.log, child)
        try:
            while child.state is not EngineState.RUNNING:
                assert child.state.alive, child.words
                session.tick()
                await asyncio.sleep(0.05)
            app = ShadowvizApp(session, "embedded engine")
            async with app.run_test(size=(80, 24)) as pilot:
                await settled(app, pilot)
                shown = screen_text(app)
                assert "The engine waits for requests: n types a prompt." in shown
                assert " n new prompt " in shown.splitlines()[-1]
                assert " / filter " in shown.splitlines()[-1]
        finally:
            session.close()

    asyncio.run(run())


def test_without_an_engine_the_foot_names_other_keys(tmp_path: Path) -> None:
    async def keys(app, pilot):
        assert "new prompt" not in (await press(app, pilot)).splitlines()[-1]

    run_app(chat_log(tmp_path / "chat.jsonl"), keys)


@given(st.text(min_size=0, max_size=40), st.integers(4, 30), st.sampled_from(["…", "~"]))
def test_what_is_cut_in_its_middle_keeps_both_ends_and_fills_its_cells(text: str, width: int, more: str) -> None:
    cut = fit_middle(text, width, more)
    assert cell_len(cut) == width
    if cell_len(text) <= width:
        assert cut.rstrip(" ") == text.rstrip(" ")
    elif text.isascii() and text.isprintable():
        head, tail = (width - 1) - (width - 1) // 2, (width - 1) // 2
        assert cut == text[:head] + more + text[len(text) - tail :]


def test_ids_of_a_server_can_be_told_apart_in_every_width() -> None:
    ids = [f"chatcmpl-{number:032x}" for number in range(200)]
    for width in (58, 64, 74, 78, 110, 150):
        assert len({fit_middle(one, Columns(width).name) for one in ids}) == len(ids)


@pytest.mark.parametrize(("terminal", "width"), [((60, 16), 58), ((80, 24), 78), ((120, 40), 74), ((200, 50), 154)])
def test_columns_fit_and_leave_room_for_the_verdict(terminal: tuple[int, int], width: int) -> None:
    columns = Columns(width)
    assert columns.verdict >= 14
    assert columns.name >= (16 if terminal[0] >= 110 else 10)
    used = [columns.name, columns.state, columns.prompt, columns.reused, columns.bar, columns.ttft, columns.lost]
    assert sum(one + 1 for one in used if one) + 2 + columns.verdict == width
