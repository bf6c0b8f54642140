"""Numbers of the moment shown that every screen's head and status line name, counted without a copy of the state."""

from collections.abc import Callable

import numpy as np

from shadowviz.tui.frame import PoolFill
from shadowviz.tui.pool_fill import pool_fills
from shadowviz_engine.core.columns import DECODE, DONE, PREFILL, QUEUED, WAITING
from shadowviz_engine.core.replayer import Replayer

REST = 40
"""Pools are counted anew after this many times as long as counting them took."""


def num_living_nodes(state: Replayer) -> int:
    """Nodes in the tree, the root left out."""
    return int(np.count_nonzero(np.frombuffer(state.nodes.alive, dtype=np.bool_))) - 1


def num_running(state: Replayer) -> int:
    """Requests whose tokens are being computed."""
    return _num_in(state, PREFILL, DECODE)


def num_waiting(state: Replayer) -> int:
    """Requests in the queue, or waiting for room."""
    return _num_in(state, QUEUED, WAITING)


def _num_in(state: Replayer, *states: int) -> int:
    if not state.requests.state:
        return 0
    counts = np.bincount(np.frombuffer(state.requests.state, dtype=np.uint8), minlength=DONE + 2)
    return sum(int(counts[each]) for each in states)


class PoolCounter:
    """Fill of both pools, counted now and then: in a large tree counting takes longer than a frame may."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._fills: tuple[PoolFill, ...] = ()
        self._counted: tuple[int, int] = (-1, 0)
        self._due_s = 0.0

    def be_due(self) -> None:
        """Count them anew the next time, however long that takes."""
        self._due_s = 0.0

    @property
    def at(self) -> int:
        """Event after which they were counted last."""
        return self._counted[0]

    def fills(self, at: int, state: Replayer) -> tuple[PoolFill, ...]:
        """As they were counted last; counted anew for the state after event `at` if that is due."""
        now_s, moment = self._clock(), (at, id(state))
        if moment != self._counted and now_s >= self._due_s:
            self._fills, self._counted = pool_fills(state), moment
            done_s = self._clock()
            self._due_s = done_s + REST * (done_s - now_s)
        return self._fills
