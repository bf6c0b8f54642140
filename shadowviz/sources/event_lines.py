"""Lines of a log as events, where which of them are wanted is known by their place in the file."""

from pathlib import Path

from shadowviz_engine.core.events import Event
from shadowviz_engine.core.log_lines import decode_block, decode_line, line_error


def events_of(path: Path, block: bytes, first_seq: int) -> list[Event]:
    """Events of whole lines of the log `path`, which must be numbered densely from `first_seq` on.

    Raises:
        LogError: a line is no event, or not the one that comes next.
    """
    events = decode_block(block)
    if events is None:
        events = [_event_of(path, line, seq) for seq, line in enumerate(block.split(b"\n")[:-1], first_seq)]
    if [event.seq for event in events] != list(range(first_seq, first_seq + len(events))):
        seq, event = next((seq, event) for seq, event in enumerate(events, first_seq) if event.seq != seq)
        found = f"seq {event.seq} where {seq} was expected: events are missing or doubled"
        raise line_error(path, seq + 1, found)
    return events


def _event_of(path: Path, line: bytes, seq: int) -> Event:
    event = decode_line(path, seq + 1, line + b"\n")
    assert event is not None, "a whole line is not torn off"
    return event
