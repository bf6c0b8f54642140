"""Lines of a log reduced to what the tree is made of: fewer fields of its events, of all others the number alone."""

from typing import Literal, TypeAlias, Union

import msgspec

from shadowviz_engine.core.events import EVENT_TYPES
from shadowviz_engine.core.events import LogClosed as WholeLogClosed
from shadowviz_engine.core.events import LogOpened as WholeLogOpened
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.log_lines import UNREADABLE

Pool: TypeAlias = Literal["full", "swa"]

# The classes below have the names and the fields of those in `events`, so that one function gives both their meaning
# and an error names both alike.


class LeanEvent(msgspec.Struct, frozen=True, tag_field="type", tag=True, gc=False):
    """An event of which nothing matters but that it is the next one."""

    seq: int


class RequestSubmitted(LeanEvent, frozen=True, gc=False):
    """A prompt entered the queue."""

    request: str
    tokens: bytes
    namespace: str = ""


class LookupDone(LeanEvent, frozen=True, gc=False):
    """A path was looked up, and is the most recent."""

    request: str
    node: int = 0


class PathLocked(LeanEvent, frozen=True, gc=False):
    """A path is in use."""

    node: int


class PathUnlocked(LeanEvent, frozen=True, gc=False):
    """A path is not in use any more."""

    request: str
    node: int


class SpanSplit(LeanEvent, frozen=True, gc=False):
    """A node has a new parent with its first tokens."""

    node: int
    at: int
    upper: int


class SpanInserted(LeanEvent, frozen=True, gc=False):
    """Tokens of a request became a node."""

    node: int
    parent: int
    request: str
    start: int
    stop: int
    namespace: str = ""
    full: Runs = ()
    swa: Runs = ()
    terminal: bool = False


class PathEnded(LeanEvent, frozen=True, gc=False):
    """A path ends at a node."""

    node: int


class SwaFreed(LeanEvent, frozen=True, gc=False):
    """Window rows of a node are gone."""

    node: int
    start: int
    stop: int


class SwaPublished(LeanEvent, frozen=True, gc=False):
    """Window rows of a request are a node's."""

    node: int
    runs: Runs


class SpanEvicted(LeanEvent, frozen=True, gc=False):
    """A leaf left the tree."""

    node: int


class SlotsTaken(LeanEvent, frozen=True, gc=False):
    """A request holds more slots."""

    pool: Pool
    runs: Runs


class SlotsFreed(LeanEvent, frozen=True, gc=False):
    """A request holds fewer slots."""

    pool: Pool
    runs: Runs


class RequestFinished(LeanEvent, frozen=True, gc=False):
    """The output of a request is known."""

    request: str
    tokens: bytes


LEAN_TYPES: tuple[type[LeanEvent], ...] = (
    RequestSubmitted,
    LookupDone,
    PathLocked,
    PathUnlocked,
    SpanSplit,
    SpanInserted,
    PathEnded,
    SwaFreed,
    SwaPublished,
    SpanEvicted,
    SlotsTaken,
    SlotsFreed,
    RequestFinished,
)
"""Events that change the tree, or what of it belongs to whom."""

_KEPT: tuple[type, ...] = (*LEAN_TYPES, WholeLogOpened, WholeLogClosed)
_NAMES = {kind.__name__ for kind in _KEPT}
# What begins and ends a log is read whole, and so is a block that holds it.
_OTHERS = tuple(
    msgspec.defstruct(kind.__name__, [], bases=(LeanEvent,), frozen=True, gc=False, tag=True)
    for kind in EVENT_TYPES
    if kind.__name__ not in _NAMES
)
_Lean: TypeAlias = Union[(*LEAN_TYPES, *_OTHERS)]  # type: ignore[valid-type]
_decode = msgspec.json.Decoder(_Lean).decode_lines


def decode_lean(lines: bytes) -> list[LeanEvent] | None:
    """The events in some lines; None unless they are JSON, and known events between the first and the last of a log.

    Of each event the number is read; other fields are checked only where they are kept. It is for the caller to see
    that each line holds one of them.
    """
    try:
        return _decode(lines)
    except UNREADABLE:
        return None
