"""Asks for a file and has it written beside the screens, which go on meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shadowviz.tui.exporting import Exportable, export_to
from shadowviz.tui.screens.ask import AskScreen
from shadowviz_engine.core.errors import ShadowvizError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp


def ask_and_export(app: "ShadowvizApp", shown: Exportable) -> None:
    """Ask where to write what is shown to, write it, and say so."""
    log = app.session.follower.path

    def write(file: str | None) -> None:
        if file:
            app.helpers.start(lambda: _in_words(lambda: export_to(file, log, shown), app))

    app.push_screen(AskScreen(f"export {shown.what} to a file: {' '.join(shown.makers)}"), write)


def _in_words(write: Callable[[], str], app: "ShadowvizApp") -> None:
    try:
        words = write()
    except ShadowvizError as error:
        words = str(error)
    # Nobody waits for it: an interface that ends meanwhile says nothing any more.
    app.call_later(app.say, words)
