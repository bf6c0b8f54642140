"""When the interface works on the run and when it draws: keys first, then arriving; little where nothing happens."""

from collections.abc import Callable
from typing import Final

from shadowviz.sources.states import LogState
from shadowviz.tui.frame import Frame

HOLD_S: Final = 0.04
"""After a key nothing else is done for so long: what it asks for passes through many hands, and each would wait."""
TYPING_S: Final = 1.0
"""After a key more of them are expected for so long."""
SLICE_S: Final = 0.02
"""Work that is done in one go: short enough that a key which comes meanwhile is still answered in time."""
TYPING_SLICE_S: Final = 0.008
"""The same while keys are expected: each has to wait for half of it, or for all."""
STARVED_S: Final = 0.3
"""Where keys come all the time, work is done so often nevertheless."""
YIELD_S: Final = 0.001
"""Between two slices of the way to a moment."""
DRAW_S: Final = 0.5
"""Between two frames that are drawn on the way to a moment."""
WORKING_S: Final = 0.01
"""Between two frames of a screen that has work of its own to do, such as a search."""
TICK_S: Final = 0.1
"""Between two looks at the log."""
IDLE_TICK_S: Final = 0.25
"""The same, after nothing was new for a while."""
QUIET_TICKS: Final = 20
"""Looks without anything new after which they become fewer."""


class Pace:
    """Says what is due, from what has happened; the clock is the only thing it looks at."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._key_s = self._work_s = self._draw_s = float("-inf")
        self._num_quiet = 0
        self._is_stuck = False

    def key_came(self) -> None:
        """The user did something."""
        self._key_s = self._clock()
        self._num_quiet = 0

    def hold_s(self) -> float:
        """Seconds until work may be done; 0 = now."""
        now_s = self._clock()
        if now_s - self._work_s >= STARVED_S:
            return 0.0
        return max(0.0, self._key_s + HOLD_S - now_s)

    def slice_s(self) -> float:
        """Seconds of work to be done in one go."""
        return TYPING_SLICE_S if self._clock() < self._key_s + TYPING_S else SLICE_S

    def worked(self, before: Frame | None, frame: Frame) -> None:
        """A slice of work has led from one frame to the next."""
        self._work_s = self._clock()
        is_new = before is None or (before.at, before.head, before.version) != (frame.at, frame.head, frame.version)
        self._is_stuck = not is_new
        self._num_quiet = 0 if is_new else self._num_quiet + 1

    def draws(self, before: Frame | None, frame: Frame) -> bool:
        """Whether a frame is to be drawn: on the way forward only some are, back from where rows may go all."""
        now_s = self._clock()
        if not is_on_the_way(frame) or before is None or frame.at < before.at or now_s - self._draw_s >= DRAW_S:
            self._draw_s = now_s
            return True
        return False

    def rest_s(self, frame: Frame, *, is_indexed: bool, is_screen_working: bool) -> float:
        """Seconds until the next slice."""
        if is_on_the_way(frame) and not (self._is_stuck and is_indexed):
            return YIELD_S
        if is_screen_working:
            return WORKING_S
        return IDLE_TICK_S if self._num_quiet > QUIET_TICKS else TICK_S


def is_on_the_way(frame: Frame) -> bool:
    """Whether the state has still to go to the moment that was asked for."""
    return not frame.arrival.settled and frame.log is not LogState.BROKEN
