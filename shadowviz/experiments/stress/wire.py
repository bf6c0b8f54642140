"""How a stress run and the processes that check its cells talk: JSON, one message a line."""

from typing import TypeAlias

import msgspec

from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.geometry import Geometry


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Anything that goes over the pipes."""

    plan: int
    """Which of the run's plans it is about."""


class Prepare(Message, frozen=True, kw_only=True):
    """Asks what a plan consists of; answered by `Ready` or `Failed`."""

    asked: Plan


class Check(Message, frozen=True, kw_only=True):
    """Asks for the results of a group; answered by any number of `Results`, then `Checked` or `Failed`."""

    asked: Plan
    group: Group


class Ready(Message, frozen=True, kw_only=True):
    """A plan can run."""

    subject: str
    geometry: Geometry
    groups: tuple[Group, ...]
    left_out: tuple[str, ...] = ()


class Results(Message, frozen=True, kw_only=True):
    """Cells of the group at hand."""

    cells: tuple[CellResult, ...]


class Checked(Message, frozen=True, kw_only=True):
    """The group at hand is done."""


class Failed(Message, frozen=True, kw_only=True):
    """The plan cannot be made ready, or the group cannot be checked."""

    error: str
    exit_code: int


Request: TypeAlias = Prepare | Check
Reply: TypeAlias = Ready | Results | Checked | Failed

_ENCODER = msgspec.json.Encoder()
_REQUESTS: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_REPLIES: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def to_line(message: Request | Reply) -> bytes:
    """A message as one line."""
    return _ENCODER.encode(message) + b"\n"


def request_of(line: bytes) -> Request:
    """The request in a line that `to_line` wrote."""
    return _REQUESTS.decode(line)


def reply_of(line: bytes) -> Reply:
    """The reply in a line that `to_line` wrote."""
    return _REPLIES.decode(line)


def span_of(group: Group) -> str:
    """A group in words."""
    first, last = group.lengths[0], group.lengths[-1]
    return f"mode {group.mode} at {first}" if first == last else f"mode {group.mode} at {first} to {last}"
