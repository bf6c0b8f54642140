"""Whether the state at the end of a log is the one that the engine had when it closed it."""

from shadowviz.replay.timeline import Timeline
from shadowviz.sources.follow import Follower
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LogClosed

MOST_COMPARED = 5_000
"""Nodes up to which the states are compared: it takes some microseconds a node, and nobody may wait for it."""


class ClosingCheck:
    """Compares the two once, when the end of a closed log is shown."""

    def __init__(self) -> None:
        self._checked: tuple[object, ...] = ()
        self._words = ""

    def words(self, timeline: Timeline, follower: Follower) -> str:
        """That they differ; empty where they do not, where the end is not shown, and of a larger tree."""
        at, state = timeline.at, timeline.state
        if at < 0 or at != follower.head or follower.kind_at(at) != LogClosed.__name__:
            return ""
        if self._checked != (at, id(state)):
            self._checked, self._words = (at, id(state)), ""
            if len(state.nodes) <= MOST_COMPARED:
                self._words = _difference(timeline, follower)
        return self._words


def _difference(timeline: Timeline, follower: Follower) -> str:
    try:
        event = follower.event_at(timeline.at)
        assert isinstance(event, LogClosed), "checked by the caller"
        timeline.state.check_closed(event)
    except LogError as error:
        return f"the state shown differs from the one that the engine had at the end: {error}"
    return ""
