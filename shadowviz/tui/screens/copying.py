"""Puts a command into the clipboard of the terminal, and shows it."""

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shadowviz.sources.names import free_name
from shadowviz.tui.helpers import start_told
from shadowviz.tui.screens.ask import AskScreen

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp

RECORD = "run.jsonl"
KEEP = "the record goes when you quit; keep it for this command as"


class KeptAs(NamedTuple):
    """A log, the file that it is to be kept in, and the name that it has for its sidecar."""

    log: Path
    file: str
    sidecar: str


def copy_log_command(app: "ShadowvizApp", words_of: Callable[[str], Sequence[str]]) -> None:
    """Copy a command about the log, made from its name.

    A log that goes with the interface is kept first, in a file that the user names; without one nothing is copied,
    since the command would find no log.
    """
    name = log_name(app)
    if name:
        copy_command(app, words_of(name))
        return

    # Asked of the log for which the key was pressed: another may be shown by the time that it is copied.
    follower = app.session.follower
    path, sidecar = follower.path, follower.opened.sidecar if follower.opened is not None else ""
    if path in app.being_kept:
        app.say("the record is being kept: once that is done it can be copied from")
        return

    def keep(file: str | None) -> None:
        if file:
            app.being_kept.add(path)
            start_told(app, lambda: _keep_and_copy(app, KeptAs(path, file, sidecar), words_of))
        else:
            app.say("nothing is copied: the record was not kept")

    app.push_screen(AskScreen(KEEP, str(free_name(Path(RECORD)))), keep)


def log_name(app: "ShadowvizApp") -> str:
    """The log as a command may name it, also once the interface has ended; empty = it goes then."""
    path = app.session.follower.path
    kept = app.kept.get(path)
    if kept is not None:
        path = kept.target
    elif app.runs.shown.fleeting:
        return ""
    return _name_of(path)


def _name_of(path: Path) -> str:
    # What begins with a dash would be an option.
    return f"./{path}" if str(path).startswith("-") else str(path)


def why_words(log: str, request: str) -> list[str]:
    """A command that tells why a request reused no more."""
    # A name may begin as an option does.
    return ["shadowviz", "why", *(["--"] if request.startswith("-") else []), log, request]


def copy_command(app: "ShadowvizApp", words: Sequence[str]) -> None:
    """Copy a command made of these words, quoted as a shell wants them."""
    copy_text(app, shlex.join(words))


def copy_text(app: "ShadowvizApp", text: str) -> None:
    """Copy a command, none that hides what it does; what a terminal without a clipboard shows can be marked by hand."""
    if not text.isprintable():
        app.say("nothing is copied: a name in the command holds characters that a terminal obeys or hides")
        return
    app.copy_to_clipboard(text)
    app.say(f"copied: {text}")


def _keep_and_copy(app: "ShadowvizApp", kept_as: KeptAs, words_of: Callable[[str], Sequence[str]]) -> str:
    from shadowviz.tui.keeping import KeptLog

    try:
        app.kept[kept_as.log] = KeptLog(*kept_as)
    finally:
        app.being_kept.discard(kept_as.log)
    # An interface that has ended meanwhile copies nothing; that the record is kept is told at its end.
    with contextlib.suppress(RuntimeError):
        app.call_later(_copy_kept, app, kept_as.log, words_of)
    return ""


def _copy_kept(app: "ShadowvizApp", log: Path, words_of: Callable[[str], Sequence[str]]) -> None:
    copy_command(app, words_of(_name_of(app.kept[log].target)))
