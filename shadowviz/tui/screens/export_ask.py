"""Asks for a file and has it written beside the screens, which go on meanwhile."""

from pathlib import Path
from typing import TYPE_CHECKING

from shadowviz.sources.names import free_name
from shadowviz.tui.exporting import Exportable, export_to
from shadowviz.tui.helpers import start_told
from shadowviz.tui.screens.ask import AskScreen

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp


def ask_and_export(app: "ShadowvizApp", shown: Exportable) -> None:
    """Ask where to write what is shown to, write it, and say so."""
    log = app.session.follower.path

    def write(file: str | None) -> None:
        if file:
            start_told(app, lambda: export_to(file, log, shown))
        elif file is not None:
            app.say("nothing is written: no file was named")

    about = f"export {shown.what} to a file, its ending tells how: {' '.join(shown.makers)}"
    app.push_screen(AskScreen(about, str(free_name(Path(shown.name)))), write)
