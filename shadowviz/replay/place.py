"""A state that moves along a log, forward by events and back by undo records."""

from collections.abc import Callable

from shadowviz.replay.keyframe import Keyframe, Stores
from shadowviz.replay.undo_log import UndoLog
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.replayer import Replayer

Taken = Callable[[Event, Replayer], None]
"""Told of every event that was applied, with the state after it."""


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

    def apply(self, event: Event) -> None:
        """Go on by one event, and remember the way back.

        Raises:
            LogError: the event contradicts the state, which stays as it was.
        """
        self._undo.push(self.state.apply(event))

    def rush(self, event: Event) -> None:
        """Go on by one event without the way back: none leads further back from here.

        Raises:
            LogError: the event contradicts the state, which stays as it was.
        """
        self.state.apply(event)
        if len(self._undo):
            self._undo.clear()

    def back(self, num_events: int) -> None:
        """Go back, as far as undo records lead."""
        undo, pop = self.state.undo, self._undo.pop
        for _ in range(num_events):
            undo(pop())

    def jump(self, keyframe: Keyframe | None, stores: Stores) -> None:
        """Be where a keyframe was taken; None = before the first event."""
        self.state = Replayer() if keyframe is None else keyframe.restore(stores)
        self._undo.clear()
