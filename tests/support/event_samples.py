"""Events of real caches as a diagram of events, for tests of logs and traces."""

from collections.abc import Sequence

from cache_driver import Driver, options
from cache_walks import CacheWalk
from trees import opened_of

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.events import EventsDiagram
from shadowviz_engine.core.events import SCHEMA, Event, LogOpened
from shadowviz_engine.core.geometry import Geometry


def opened_driver(geometry: Geometry, **changes: object) -> Driver:
    """A driver whose first event opens the log."""
    chosen = options(**changes)
    driver = Driver(geometry, chosen)
    head = opened_of(geometry, chosen)
    fields = {name: getattr(head, name) for name in LogOpened.__struct_fields__ if name not in ("seq", "t_ns", "rank")}
    assert fields["schema"] == SCHEMA
    driver._emit(LogOpened, **fields)
    return driver


def walked_events(walk: CacheWalk) -> tuple[Event, ...]:
    """Events of a random walk behind the one that opens its log; a seq that an event names stays that of the walk."""
    from msgspec.structs import replace

    head = opened_of(walk.geometry, walk.options)
    return (head, *(replace(event, seq=event.seq + 1) for event in walk.driver.events))


def events_diagram(events: Sequence[Event]) -> EventsDiagram:
    """The diagram that `shadowviz export` makes of a run."""
    last = events[-1].seq
    caption = Caption(
        title="Events",
        source="run.jsonl",
        seq=last,
        last_seq=last,
        geometry="",
        shown=len(events),
        total=len(events),
        unit="events",
    )
    return EventsDiagram(caption, lambda: events)
