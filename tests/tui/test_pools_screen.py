"""What the pools screen says beside its lines: of the line at the cursor first, then what leaves and what fits."""

from pathlib import Path

import pytest
from tui_logs import chat_log
from tui_runs import press, run_app, same_twice, screen_text

from shadowviz.tui.models.eviction_order import EvictionOrder


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


@pytest.fixture(scope="module")
def fifo_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "fifo.jsonl", policy="fifo")


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (120, 40)])
def test_what_is_at_the_cursor_what_leaves_and_what_fits_is_seen_at_once(log: Path, size: tuple[int, int]) -> None:
    async def look(app, pilot):
        await press(app, pilot, "6")
        await same_twice(app, pilot)
        shown, state = screen_text(app), app.session.state
        order = EvictionOrder(state, state.opened)
        said = app.screen.inspector.text.splitlines()
        assert said[0].startswith("full pool, for compressed entries: 20 pages used, 8 of them locked")
        assert said[1] == f"▽ out   {', '.join(f'n{node}' for node in order.leaving(6))} ... (derived)"
        assert said[3].startswith(f"▽ rows  n{order.freed(1)[0].node}, ")
        assert said[2].startswith("fit     14 of 1,024 tokens, 14 of 4,096 tokens, 3 of 32,768 tokens (derived)")
        assert "▽ out   n2, n5, n8" in shown
        assert "fit     14 of 1,024 tokens" in shown
        await press(app, pilot, "down", "down")
        assert app.screen.inspector.text.splitlines()[0].startswith("share of the prompt tokens")
        assert app.screen.inspector.text.splitlines()[1:] == said[1:]

    run_app(log, look, size)


def test_every_line_that_says_something_has_its_words_and_every_node_leads_to_the_tree(log: Path) -> None:
    async def look(app, pilot):
        await press(app, pilot, "6")
        await same_twice(app, pilot)
        lines, state = app.screen.view.lines, app.session.state
        assert all(line.about for line in lines if line.text)
        order = EvictionOrder(state, state.opened)
        expected = [*order.leaving(100), *(rows.node for rows in order.freed(100))]
        assert [line.target for line in lines if line.target] == expected
        await press(app, pilot, "b")
        assert f"n{expected[0]}: Enter shows it in the tree" in app.screen.inspector.text
        await press(app, pilot, "enter")
        assert app.screen.name_of_screen == "tree"
        assert app.session.selection.current.selection.node == expected[0]
        assert "next to be evicted (derived)" in app.screen.inspector.text

    run_app(log, look)


def test_with_fifo_what_was_stored_first_leaves_first(fifo_log: Path) -> None:
    async def look(app, pilot):
        await press(app, pilot, "6")
        await same_twice(app, pilot)
        nodes, texts = app.session.state.nodes, [line.text for line in app.screen.view.lines]
        assert any("next to leave" in text and "stored" in text for text in texts)
        first = EvictionOrder(app.session.state, app.session.state.opened).first
        assert any(text.startswith(f"1. n{first} ") and f"e{nodes.created[first]}" in text for text in texts)
        assert "not known" not in app.screen.inspector.text

    run_app(fifo_log, look)
