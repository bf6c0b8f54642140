"""Runs the terminal interface without a terminal, key by key."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot
from tui_processes import PATIENCE_S

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions


def screen_text(app: ShadowvizApp) -> str:
    """What the terminal would show, without colours."""
    lines = app.screen._compositor.render_strips()
    return "\n".join(line.text.rstrip() for line in lines)


def run_app(
    log: Path,
    keys: Callable[[ShadowvizApp, Pilot], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
    options: AppOptions | None = None,
) -> None:
    """Start the interface on a log, wait until it shows its end, and do what `keys` does."""

    async def run() -> None:
        session = Session(log)
        try:
            app = ShadowvizApp(session, log.name, options)
            async with app.run_test(size=size) as pilot:
                await settled(app, pilot)
                await keys(app, pilot)
        finally:
            session.close()

    asyncio.run(run())


async def until(app: ShadowvizApp, pilot: Pilot, found: Callable[[], bool], what: str = "what is awaited") -> None:
    """Wait until it is so; an interface that has crashed is waited for no longer."""
    stop = time.monotonic() + PATIENCE_S
    while not found():
        assert app._exception is None, f"waited for {what}: {app._exception!r}"
        assert time.monotonic() < stop, f"waited in vain for {what}:\n{screen_text(app)}"
        await pilot.pause(0.01)


def is_shown(app: ShadowvizApp) -> bool:
    """Whether the screen that is on is there with all its parts."""
    return bool(app.screen_stack) and bool(getattr(app.screen, "is_ready", True)) and app.focused is not None


async def settled(app: ShadowvizApp, pilot: Pilot) -> None:
    """Until the state is the one asked for, and all of it is shown."""
    app.session.settle()
    await pilot.pause()
    await until(app, pilot, lambda: is_shown(app), "a screen")
    app.tick()
    if app._words is not None:
        app._words.wait()
    app.tick()
    await pilot.pause()


async def press(app: ShadowvizApp, pilot: Pilot, *keys: str) -> str:
    """Press keys, one after another; what is shown then."""
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)
    return screen_text(app)


async def same_twice(app: ShadowvizApp, pilot: Pilot) -> None:
    """Until a second look shows what the first did: some panes read the record a slice a tick."""
    before, stop = "", time.monotonic() + PATIENCE_S
    if isinstance(app.screen, PaneScreen):
        app.screen.finish()
    while before != screen_text(app):
        assert time.monotonic() < stop, f"what is shown never stays:\n{before}"
        before = screen_text(app)
        for _ in range(3):
            await settled(app, pilot)
