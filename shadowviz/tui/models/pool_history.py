"""How full the pools were and how much was reused, from the first event to the moment shown, in a few steps."""

import time
from array import array
from bisect import bisect_right

from shadowviz.replay.chronicle import Chronicle
from shadowviz.sources.follow import Follower
from shadowviz.tui.pool_fill import pool_fills
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.replayer import Replayer

MAX_EVENTS = 200_000
"""Longest log that is replayed a second time for this; of a longer one only moments that were shown are known."""
SAMPLES = 240
SLICE = 64


class PoolHistory:
    """Fill of both pools at some of the events."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._state: Replayer | None = Replayer()
        self._due = 0
        self._seqs = array("q")
        self._fills: dict[int, tuple[float, ...]] = {}

    @property
    def is_behind(self) -> bool:
        """Whether more is to be replayed."""
        return self._state is not None and self._state.seq < self._follower.head <= MAX_EVENTS

    def sync(self, budget_s: float) -> bool:
        """Replay on for about so long; whether anything came."""
        state, stop_s = self._state, time.monotonic() + budget_s
        if state is None or self._follower.head > MAX_EVENTS or not self._follower.is_indexed:
            self._state = None if self._follower.head > MAX_EVENTS else state
            return False
        before = state.seq
        while state.seq < self._follower.head and time.monotonic() < stop_s:
            try:
                for event in self._follower.events(state.seq + 1, min(state.seq + 1 + SLICE, self._follower.head + 1)):
                    state.apply(event)
            except LogError:
                self._state = None
                return True
            if state.seq >= self._due:
                self._due = state.seq + max(1, self._follower.head // SAMPLES)
                self.note(state.seq, tuple(pool.fill for pool in pool_fills(state)))
        return state.seq != before

    def note(self, seq: int, fills: tuple[float, ...]) -> None:
        """Fills that were seen at an event."""
        if fills and seq not in self._fills:
            self._seqs.insert(bisect_right(self._seqs, seq), seq)
            self._fills[seq] = fills

    def fills(self, pool: int, at: int, num: int) -> list[float | None]:
        """Fill of a pool in `num` steps up to event `at`: the last one known in each; None before the first."""
        found = list[float | None]()
        for step in range(num):
            place = bisect_right(self._seqs, _stop(at, step, num))
            known = self._fills[self._seqs[place - 1]] if place else ()
            found.append(known[pool] if pool < len(known) else None)
        return found


def hit_rates(chronicle: Chronicle, at: int, num: int) -> list[float | None]:
    """Reused of prompt tokens in each of `num` steps up to event `at`; None where nothing was looked up."""
    rates, before = list[float | None](), chronicle.sums(-1)
    for step in range(num):
        sums = chronicle.sums(_stop(at, step, num))
        prompt = sums.prompt_tokens - before.prompt_tokens
        rates.append((sums.reused_tokens - before.reused_tokens) / prompt if prompt else None)
        before = sums
    return rates


def _stop(at: int, step: int, num: int) -> int:
    return (at + 1) * (step + 1) // num - 1
