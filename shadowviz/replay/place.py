"""A state that moves along a log, forward by events and back by undo records."""

from collections.abc import Iterable

from shadowviz.replay.keyframe import Keyframe, Stores
from shadowviz.replay.undo_log import UndoLog
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.replayer import Replayer


class Place:
    """A replayer and the way back from where it is."""

    def __init__(self, max_undo_bytes: int) -> None:
        self.state = Replayer()
        self._undo = UndoLog(max_undo_bytes)

    @property
    def seq(self) -> int:
        """Event after which the state is; -1 = before the first."""
        return self.state.seq

    @property
    def earliest(self) -> int:
        """The first event that undo records lead back to."""
        return self.state.seq - len(self._undo)

    @property
    def undo_bytes(self) -> int:
        """About what the undo records take."""
        return self._undo.num_bytes

    def apply(self, events: Iterable[Event]) -> None:
        """Go on by these events, and remember the way back.

        Raises:
            LogError: one of them contradicts the state; those before it are applied.
        """
        apply, push = self.state.apply, self._undo.push
        for event in events:
            push(apply(event))

    def rush(self, events: Iterable[Event]) -> None:
        """Go on by these events without the way back: none leads further back from there.

        Raises:
            LogError: one of them contradicts the state; those before it are applied.
        """
        self._undo.clear()
        self.state.advance(events)

    def back(self, num_events: int) -> None:
        """Go back, as far as undo records lead."""
        undo, pop = self.state.undo, self._undo.pop
        for _ in range(num_events):
            undo(pop())

    def jump(self, keyframe: Keyframe | None, stores: Stores) -> None:
        """Be where a keyframe was taken; None = before the first event."""
        self.state = Replayer() if keyframe is None else keyframe.restore(stores)
        self._undo.clear()
