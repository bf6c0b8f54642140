"""What the terminal interface tells, writes and copies, driven by keys."""

import shlex
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input
from tui_runs import press, until

from shadowviz.cli.main import main
from shadowviz.tui.app import ShadowvizApp


def told(app: ShadowvizApp) -> list[str]:
    """All that the user was told."""
    return [str(notification.message) for notification in app._notifications]


async def answer(app: ShadowvizApp, pilot: Pilot, key: str, text: str) -> str:
    """Press a key that asks for a line, and type it; what is told when all is done."""
    await press(app, pilot, key)
    app.screen.query_one(Input).value = text
    await press(app, pilot, "enter")
    await until(app, pilot, lambda: not app.helpers.are_busy, "what helpers do")
    await pilot.pause()
    return told(app)[-1]


async def export_to(app: ShadowvizApp, pilot: Pilot, file: Path) -> str:
    """Have the screen write a file; what it says."""
    return await answer(app, pilot, "e", str(file))


def run_command(line: str, code: int = 0) -> None:
    """Run a copied command, which must end with this code."""
    program, *arguments = shlex.split(line)
    assert (program, main(arguments)) == ("shadowviz", code)
