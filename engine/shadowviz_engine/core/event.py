"""What every event has: its place in the order of all."""

from typing import ClassVar, NamedTuple

import msgspec


class SlotRun(NamedTuple):
    """Tokens [start, stop) of a path at consecutive slots from `slot` on."""

    start: int
    stop: int
    slot: int


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=True, gc=False):
    """A fact with its place in the order of all events."""

    volatile: ClassVar[bool] = False
    """Whether the event leaves tree, pools and requests as they were."""

    seq: int
    """Dense position in the log, from 0."""
    t_ns: int
    """Nanoseconds since the log was opened."""
    rank: int = 0
    """Data-parallel rank that emitted it."""
