"""The palette finds requests by name, nodes and events by number, and its work is bounded."""

import asyncio
from pathlib import Path

import pytest
from textual.command import Hit
from textual.pilot import Pilot
from tui_logs import chat_log, write_log
from tui_runs import press, run_app, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.palette_places import MOST_HITS, Places
from shadowviz.tui.screens.palette import Palette
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import SCHEMA, LogOpened, RequestSubmitted
from shadowviz_engine.core.presets import preset


async def choose(app: ShadowvizApp, pilot: Pilot, text: str) -> None:
    """Type into the palette, and take what it offers first."""
    await press(app, pilot, "colon")
    await pilot.press(*text)
    await until(app, pilot, lambda: isinstance(app.screen, Palette) and app.screen._is_done, "the search")
    await pilot.press("enter")
    await until(app, pilot, lambda: not isinstance(app.screen, Palette), "what was chosen")
    await press(app, pilot)


async def found(app: ShadowvizApp, query: str) -> list[str]:
    return [str(hit.text) async for hit in Places(app.screen).search(query) if isinstance(hit, Hit)]


@pytest.mark.parametrize("screen", ["live", "pools"])
def test_a_request_a_node_and_an_event_are_gone_to_and_backspace_returns(tmp_path: Path, screen: str) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        trail = app.session.selection
        await choose(app, pilot, "r2")
        assert (trail.current.screen, trail.current.selection.request) == ("live", "r2")
        assert "r2" in app.screen.inspector.text.splitlines()[0]
        await press(app, pilot, "backspace")
        assert trail.current.screen == screen
        node = next(node for node in range(1, 99) if app.session.state.nodes.alive[node])
        await choose(app, pilot, f"n{node}")
        assert (trail.current.screen, trail.current.selection.node) == ("tree", node)
        assert app.screen._node == node
        await choose(app, pilot, "e17")
        assert (trail.current.screen, app.session.timeline.at) == ("events", 17)

    run_app(chat_log(tmp_path / "chat.jsonl"), keys, options=AppOptions(screen=screen))


def test_what_is_not_there_is_not_offered_and_names_are_matched_from_their_beginning(tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        assert await found(app, "n0") == await found(app, "n999999") == await found(app, f"n{'9' * 40}") == []
        assert await found(app, "e999999") == await found(app, "3") == []
        assert await found(app, "R3") == ["request r3"]
        app.session.go_to(0)
        await press(app, pilot, "j")
        assert await found(app, "r3") == []

    run_app(chat_log(tmp_path / "chat.jsonl"), keys)


def test_of_many_requests_the_newest_are_offered_and_other_work_goes_on_meanwhile(tmp_path: Path) -> None:
    events = [LogOpened(seq=0, t_ns=0, schema=SCHEMA, geometry=preset("tiny"))]
    events += [RequestSubmitted(seq=n, t_ns=0, request=f"job-{n}\x1b[31m", tokens=b"\0" * 4) for n in range(1, 5_001)]
    log = write_log(tmp_path / "run.jsonl", events, closed=False)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        names = await found(app, "job-")
        assert len(names) == MOST_HITS
        assert names[0].startswith("request job-5000")
        assert all(name.isprintable() for name in names)
        search = asyncio.create_task(found(app, "nobody"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not search.done(), "it gives way between two slices"
        assert await search == []

    run_app(log, keys)
