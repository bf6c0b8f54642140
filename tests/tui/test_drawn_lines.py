"""What is kept of drawn lines: the terminal shows at any moment what it would show if all was drawn anew."""

import asyncio
from pathlib import Path
from random import Random

import pytest
from painted import Cell, Painted, painted_anew, painting
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.scrollbar import ScrollBar
from tui_logs import chat_log
from tui_runs import press, run_app, settled

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS
from shadowviz.tui.themed import AppOptions
from shadowviz.tui.widgets.bar import Bar

KEYS = ("j", "k", "down", "up", "pagedown", "pageup", "end", "home", "h", "l", "space", "tab", "minus", "plus", "z")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


async def drive(app: ShadowvizApp, pilot: Pilot, keys: list[str]) -> None:
    painted = Painted()
    with painting(app, painted):
        app.screen.refresh()
        await settled(app, pilot)
        for key in keys:
            await press(app, pilot, key)
            assert not painted.differences(painted_anew(app)), key
    assert painted.num_updates > len(keys) / 4


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16)])
@pytest.mark.parametrize("screen", [entry.name for entry in SCREENS])
def test_what_is_painted_bit_by_bit_is_what_is_painted_anew(
    log: Path, screen: str, size: tuple[int, int], long_form: bool
) -> None:
    rng = Random(f"{screen}{size}")
    keys = rng.choices(KEYS, k=200 if long_form else 6)
    run_app(log, lambda app, pilot: drive(app, pilot, keys), size, AppOptions(screen=screen))


@pytest.mark.parametrize("screen", ["tree", "events"])
def test_another_theme_and_another_size_are_painted_whole(log: Path, screen: str) -> None:
    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        painted = Painted()
        with painting(app, painted):
            for theme in ("nord", "high-contrast", "textual-light"):
                app.theme = theme
                await press(app, pilot, "j")
                assert not painted.differences(painted_anew(app)), theme
            for size in ((100, 30), (130, 20), (80, 24)):
                await pilot.resize_terminal(*size)
                await settled(app, pilot)
                # A terminal forgets what stood beyond its edges.
                painted.cells.clear()
                app.screen.refresh()
                await press(app, pilot, "k")
                assert not painted.differences(painted_anew(app)), size

    run_app(log, look, options=AppOptions(screen=screen))


@pytest.mark.parametrize("screen", ["tree", "events", "pools"])
def test_a_key_that_moves_the_cursor_has_the_screen_painted_once(log: Path, screen: str) -> None:
    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "k", "j")
        painted = Painted()
        with painting(app, painted):
            for key in ("k", "j", "k", "j"):
                before = painted.num_updates
                await pilot.press(key)
                await pilot.pause()
                assert painted.num_updates == before + 1, key
                # A tick later nothing is left to be told.
                app.tick()
                await pilot.pause()
                assert painted.num_updates == before + 1, key

    # Where a text is longer than its pane, a bar comes or goes with it.
    run_app(log, look, (120, 40), AppOptions(screen=screen))


class BarApp(App[None]):
    """A bar and nothing else."""

    def compose(self) -> ComposeResult:
        bar = Bar()
        bar.styles.width, bar.styles.height = 1, "1fr"
        yield bar


@pytest.mark.parametrize("height", [1, 7, 24])
def test_a_bar_is_textuals_own_wherever_its_thumb_is(height: int) -> None:
    async def look() -> None:
        app, rng, painted = BarApp(), Random(height), Painted()
        async with app.run_test(size=(1, height)) as pilot:
            with painting(app, painted):
                bar = app.query_one(Bar)
                for num_rows in (0, height, height + 1, 3 * height, 100, 1_000_000):
                    bar.window_size, bar.window_virtual_size = height, num_rows
                    most = max(0, num_rows - height)
                    for position in (0, 1, most // 2, most, *(rng.randint(0, most) for _ in range(5))):
                        bar.position = position
                        await pilot.pause()
                        theirs = [strip.render(app.console) for strip in ScrollBar.render_lines(bar, bar.size.region)]
                        whole = Painted()
                        whole.write("\n".join(theirs))
                        assert [*map(seen, painted.cells.items())] == [*map(seen, whole.cells.items())], num_rows

    asyncio.run(look())


def seen(place: tuple[tuple[int, int], Cell]) -> tuple[object, ...]:
    """A cell without the colour that nothing is written in."""
    at, (character, ink) = place
    codes = [int(code) for code in ink.split(";") if code]
    is_reverse = 7 in codes
    is_front = [30 <= code < 40 or 90 <= code < 98 for code in codes]
    wanted = [code for code, front in zip(codes, is_front, strict=True) if character != " " or front == is_reverse]
    return (at, character, is_reverse, tuple(wanted))


def test_a_step_among_a_million_rows_leaves_the_bar_as_it_is(log: Path) -> None:
    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        bar = Bar()
        await app.screen.query_one("#main").mount(bar)
        bar.styles.height = 20
        bar.window_size, bar.window_virtual_size = 20, 1_000_000
        await settled(app, pilot)
        await settled(app, pilot)
        painted = Painted()
        with painting(app, painted):
            for step in range(20):
                bar.position = step
                await pilot.pause()
            assert not painted.num_updates
            bar.position = 500_000
            await pilot.pause()
            assert painted.num_updates == 1

    run_app(log, look)
