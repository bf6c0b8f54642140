"""What the palette offers, how keys are written, and what is told of the engine's answers."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.binding import ActiveBinding

from shadowviz.sources.child_wire import Answer
from shadowviz.tokens.inert import printable
from shadowviz.tui.screens.registry import ScreenEntry

if TYPE_CHECKING:
    from textual.command import Provider

    from shadowviz.tui.app import ShadowvizApp

KEY_WORDS = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "backspace": "backspace",
    "minus": "-",
    "plus": "+",
    "equals_sign": "=",
    "enter": "enter",
    "space": "space",
    "escape": "esc",
    "ctrl+l": "ctrl+l",
}
_NO_COMMANDS = (
    *("screen.", "row.", "page.", "pane.", "app.command"),
    *(f"{screen}.{move}" for screen in ("ruler", "stress") for move in ("left", "right", "first", "last", "page")),
)


def places_provider() -> "type[Provider]":
    """What finds requests, nodes and events for the palette; loaded when that opens."""
    from shadowviz.tui.palette_places import Places

    return Places


def answer_words(answer: Answer) -> str:
    """What the user is told of an answer of the engine; empty = nothing."""
    if answer.taken:
        return f"submitted: {printable(', '.join(answer.requests))}" if answer.requests else ""
    return f"refused: {answer.words}" if answer.id >= 0 else answer.words


def app_commands(app: "ShadowvizApp", active: Iterable[ActiveBinding]) -> Iterator[SystemCommand]:
    """Every screen by its number, and everything that a key does where the user is."""
    yield from (_screen_command(app, entry) for entry in app.entries)
    seen = set[str]()
    for found in active:
        action = found.binding.action
        # Moves of a cursor and the palette itself are nothing to choose here; other keys of ours have an id.
        if not found.enabled or not found.binding.id or action in seen or found.binding.id.startswith(_NO_COMMANDS):
            continue
        seen.add(action)
        yield _key_command(app, found)
    run = app.runs.stress
    if "begin" not in seen and not (run is not None and run.state.alive):
        yield SystemCommand("Begin a stress run", "prove every length of a model", app.action_begin_stress)


def _key_command(app: "ShadowvizApp", found: ActiveBinding) -> SystemCommand:
    binding, node = found.binding, found.node
    return SystemCommand(
        binding.description.capitalize(),
        f"key {app.key_words(binding)}",
        lambda: app.call_later(app.run_action, binding.action, node),
    )


def _screen_command(app: "ShadowvizApp", entry: ScreenEntry) -> SystemCommand:
    return SystemCommand(
        f"Screen {app.key_of(f'screen.{entry.name}', entry.key)}: {entry.title}",
        entry.says,
        lambda: app.action_visit(entry.name),
    )
