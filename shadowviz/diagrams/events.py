"""The events of a run as they are, for formats that are logs or traces and no pictures."""

from collections.abc import Callable, Iterable

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz_engine.core.events import Event


class EventsDiagram(msgspec.Struct, frozen=True):
    """All events up to the one that the caption names, in order."""

    caption: Caption
    events: Callable[[], Iterable[Event]]
    """Gives them from the first, as often as it is called; a record is read anew each time."""
