"""Begins a stress run from what the user asks for, or goes on with one that ended early."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from shadowviz.sources.names import free_name
from shadowviz.tokens.inert import printable
from shadowviz.tui.runs import STRESS
from shadowviz.tui.stress_ask import RECORD, StressAsk
from shadowviz.tui.stress_run import StressRun, go_on_arguments
from shadowviz_engine.core.errors import ShadowvizError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp


def ask_and_begin(app: "ShadowvizApp") -> None:
    """Ask what is to be checked, begin it, and show it."""
    from shadowviz.tui.screens.stress_ask import StressAskScreen

    if _is_taken(app):
        return
    ask = msgspec.structs.replace(app.runs.asked or StressAsk(), record=str(free_name(Path(RECORD))))

    def begin(ask: StressAsk | None) -> None:
        if ask is not None:
            app.runs.asked = ask
            with _told(app):
                arguments = ask.ready()
                _begin(app, arguments, Path(arguments[-1]))

    app.push_screen(StressAskScreen(ask), begin)


def go_on(app: "ShadowvizApp", record: Path) -> None:
    """Take up the run of a record where it stopped, and show it."""
    if not _is_taken(app):
        with _told(app):
            _begin(app, go_on_arguments(record), record)


def _is_taken(app: "ShadowvizApp") -> bool:
    """Whether a stress run goes on already: they would share the cores, and take twice as long."""
    run = app.runs.stress
    is_alive = run is not None and run.state.alive
    if is_alive:
        app.action_visit(STRESS)
        app.say("a stress run goes on: stop it first")
    return is_alive


def _begin(app: "ShadowvizApp", arguments: Sequence[str], record: Path) -> None:
    app.runs.begin_stress(StressRun(arguments, record))
    app.tick()
    app.action_visit(STRESS)


@contextlib.contextmanager
def _told(app: "ShadowvizApp") -> Iterator[None]:
    """Tell the user what goes wrong inside."""
    try:
        yield
    except ShadowvizError as error:
        app.say(printable(str(error)))
