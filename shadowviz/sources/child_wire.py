"""How the terminal interface and the child process with its engine talk: JSON, one value a line."""

from typing import Any, Literal, TypeVar

import msgspec

from shadowviz.sources.states import EngineState

Deed = Literal["submit", "submit_file", "pause", "resume", "step", "abort", "flush", "stop"]


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The first line that the child is sent: all that it needs to start."""

    options: dict[str, Any]
    """Engine options by name."""
    log: str
    """File that takes the record."""
    overwrite: bool = False
    script: str = ""
    """What runs by itself: `tour`, `demo`, or a file of requests; empty = nothing."""
    pace_s: float = 0.0
    """Wait between two steps of a script, so that eyes can follow."""
    record_text: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A wish; its effects show as events in the log, and the answer only says whether it was taken."""

    id: int
    do: Deed
    line: dict[str, Any] | None = None
    """A request as a line of a request file has it, for `submit`."""
    path: str = ""
    """A file of requests or text, for `submit_file`."""
    request: str = ""
    """For `abort`."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a command, or what became of the engine (`id` -1)."""

    id: int = -1
    taken: bool = True
    words: str = ""
    """Why it was refused, or what is worth saying."""
    requests: tuple[str, ...] = ()
    """Ids of what was submitted."""
    state: EngineState | None = None
    """The engine's, where it changed."""


Wire = TypeVar("Wire", Setup, Command, Answer)

_ENCODER = msgspec.json.Encoder()


def to_line(value: Setup | Command | Answer) -> bytes:
    """One line."""
    return _ENCODER.encode(value) + b"\n"


def from_line(line: bytes, kind: type[Wire]) -> Wire:
    """The value of a line that `to_line` wrote.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return msgspec.json.decode(line, type=kind)
