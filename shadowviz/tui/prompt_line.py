"""Submits a prompt of the user's own to the engine of a session, from one line as it was typed."""

from pathlib import Path
from typing import Any

import msgspec

from shadowviz.sources.child import EngineChild
from shadowviz.tokens.inert import printable, shorten
from shadowviz_engine.core.errors import InputError

ABOUT = "prompt: text, @FILE, chat: TEXT or JSON, text: AS IT IS"
"""What the line may hold."""
MAX_JSON_BYTES = 64 << 20
"""Of a file of JSON that is read here; files of other kinds are read by the engine."""


def submit_line(child: EngineChild | None, line: str) -> None:
    """Send the prompt to the engine; its answer comes with a later tick.

    A line is the text of a prompt. `@FILE` submits a file: JSON lines are requests, `.json` is a chat, and anything
    else is text. `chat:` puts what follows into a user's message, or takes it as messages where it is JSON.

    Raises:
        InputError: there is no engine, nothing was typed, or the file or the JSON is none.
    """
    engine = living(child)
    kind, rest = _kind(line)
    if not rest.strip():
        raise InputError("the prompt is empty: expected text, @FILE, or chat: with messages")
    if kind == "@":
        _submit_file(engine, rest.strip())
    elif kind == "chat:":
        _submit_chat(engine, rest.strip())
    else:
        engine.submit_text(rest)


def living(child: EngineChild | None) -> EngineChild:
    """The engine, if there is one that takes prompts.

    Raises:
        InputError: there is none.
    """
    if child is None:
        raise InputError("this is a record and has no engine: shadowviz tui without a source starts one")
    if not child.state.alive:
        raise InputError("the engine has ended and takes no prompt: R starts one anew")
    return child


def _kind(line: str) -> tuple[str, str]:
    for lead in ("@", "chat:", "text:"):
        if line.startswith(lead):
            return lead, line.removeprefix(lead)
    return "text:", line


def _submit_chat(engine: EngineChild, text: str) -> None:
    if text.startswith(("[", "{")):
        engine.submit(_request_of(text.encode(), "chat:"))
    else:
        engine.submit_chat(text)


def _submit_file(engine: EngineChild, name: str) -> None:
    shown = shorten(printable(name), 60)
    try:
        path = Path(name).expanduser()
        if not path.is_file():
            raise InputError(f"{shown} is no file: expected text, JSON lines of requests, or a .json chat")
        if path.suffix.lower() != ".json":
            engine.submit_file(str(path))
            return
        if path.stat().st_size > MAX_JSON_BYTES:
            raise InputError(f"{shown} has more than {MAX_JSON_BYTES:,} bytes: expected one chat")
        engine.submit(_request_of(path.read_bytes(), shown))
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _request_of(text: bytes, source: str) -> dict[str, Any]:
    """A request as a line of a request file has it: messages alone, or an object with more."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"{source} is no JSON: {printable(str(error))}: expected a list of messages") from None
    if isinstance(value, list):
        return {"messages": value}
    if isinstance(value, dict):
        return value
    raise InputError(f"{source} holds neither messages nor a request: expected such as [{{...}}] with role and content")
