"""Lines of a log as events, where which of them are wanted is known by their place in the file."""

from typing import Union

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import EVENT_TYPES, Event
from shadowviz_engine.core.log_reader import UnknownEvent


class LineHead(msgspec.Struct):
    """What every event has."""

    type: str
    seq: int = 0
    t_ns: int = 0
    rank: int = 0


_EVENTS = msgspec.json.Decoder(Union[EVENT_TYPES])  # noqa: UP007
_HEADS = msgspec.json.Decoder(LineHead)
_KNOWN = frozenset(kind.__name__ for kind in EVENT_TYPES)
# What msgspec raises for input: broken JSON, a value of another type, bad UTF-8, numbers out of range, deep nesting.
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


def head_of(line: bytes) -> LineHead | None:
    """What a line says of itself; None where it is no event."""
    try:
        return _HEADS.decode(line)
    except _UNREADABLE:
        return None


def events_of(block: bytes, first_seq: int) -> list[Event]:
    """Events of whole lines, which must be numbered densely from `first_seq` on.

    Raises:
        LogError: a line is no event, or not the one that comes next.
    """
    try:
        events: list[Event] = _EVENTS.decode_lines(block)
    except _UNREADABLE:
        events = [_event_of(line, seq) for seq, line in enumerate(block.split(b"\n")[:-1], first_seq)]
    for seq, event in enumerate(events, first_seq):
        if event.seq != seq:
            raise LogError(f"line {seq + 1}: seq {event.seq} where {seq} was expected: events are missing or doubled")
    return events


def _event_of(line: bytes, seq: int) -> Event:
    try:
        event: Event = _EVENTS.decode(line)
    except _UNREADABLE as error:
        head = head_of(line)
        if head is None or head.type in _KNOWN:
            raise LogError(f"line {seq + 1}: no event: {error or type(error).__name__}") from None
        return UnknownEvent(seq=head.seq, t_ns=head.t_ns, rank=head.rank, kind=head.type, raw=line)
    return event
