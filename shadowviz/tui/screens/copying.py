"""Puts a command into the clipboard of the terminal, and shows it."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp


def copy_command(app: "ShadowvizApp", words: Sequence[str]) -> None:
    """Copy a command made of these words, quoted as a shell wants them; none that hides what it does."""
    if not all(word.isprintable() for word in words):
        app.say("nothing is copied: a name in the command holds characters that a terminal obeys or hides")
        return
    copy_text(app, shlex.join(words))


def copy_text(app: "ShadowvizApp", text: str) -> None:
    """Copy a command; what a terminal without a clipboard shows can be marked by hand."""
    app.copy_to_clipboard(text)
    app.say(f"copied: {text}")
