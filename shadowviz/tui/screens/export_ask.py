"""Asks for a file and has it written beside the screens, which go on meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shadowviz.exporters.formats import DiagramName
from shadowviz.tui.exporting import Export, endings_of, export_to
from shadowviz.tui.screens.ask import AskScreen
from shadowviz_engine.core.errors import ShadowvizError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp


def ask_and_export(app: "ShadowvizApp", what: str, diagram: DiagramName, make: Export) -> None:
    """Ask where to write a diagram to, write it, and say so; `what` names it."""
    log = app.session.follower.path

    def write(file: str | None) -> None:
        if not file:
            return
        app.run_worker(lambda: _in_words(lambda: export_to(file, log, diagram, make), app), thread=True)

    app.push_screen(AskScreen(f"export {what} to a file, by ending: {endings_of(diagram)}"), write)


def _in_words(write: Callable[[], str], app: "ShadowvizApp") -> None:
    try:
        words = write()
    except ShadowvizError as error:
        words = str(error)
    app.call_from_thread(app.say, words)
