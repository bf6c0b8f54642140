"""Slots that requests hold, from sums: every taking counts a slot once more, every giving once less."""

import numpy as np

from shadowviz.replay.bulk.columns import Ints
from shadowviz.replay.bulk.unsound import Unsound

MOST_PENDING = 1 << 19
"""Ends of runs after which they are summed up."""


class SlotSums:
    """How often more each slot of a pool was taken than given, told by where that changes.

    Runs may be added in any order: only `held` looks at what they come to.
    """

    def __init__(self) -> None:
        self._places: Ints = np.empty(0, np.int64)
        """Slots at which the count is another than at the slot before."""
        self._changes: Ints = np.empty(0, np.int64)
        """By how much."""
        self._pending: list[Ints] = []
        self._num_pending = 0

    def add(self, ends: Ints) -> None:
        """Runs of slots were taken or given, as `ends_of` has them."""
        self._pending.append(ends)
        self._num_pending += len(ends)
        if self._num_pending > MOST_PENDING:
            self._sum_up()

    def held(self) -> tuple[Ints, Ints]:
        """Runs of slots that are taken: where each begins, and its number of slots.

        Raises:
            Unsound: a slot was given more often than taken, or taken twice.
        """
        self._sum_up()
        places, counts = self._places, np.cumsum(self._changes)
        if len(counts) and not 0 <= counts.min() <= counts.max() <= 1:
            raise Unsound("a slot is held twice, or less than not at all")
        starts = np.flatnonzero(counts)
        return places[starts], places[starts + 1] - places[starts]

    def _sum_up(self) -> None:
        # Numbers are sorted many times as fast as pairs of them.
        ends = np.sort(np.concatenate((*self._pending, np.empty(0, np.int64))))
        places, changes = _summed(ends >> 2, (ends & 3) - 1)
        places, changes = np.concatenate((self._places, places)), np.concatenate((self._changes, changes))
        order = np.argsort(places, kind="stable")
        self._places, self._changes = _summed(places[order], changes[order])
        self._pending, self._num_pending = [], 0


def _summed(places: Ints, changes: Ints) -> tuple[Ints, Ints]:
    """Every place once, with all that changes there, unless nothing does."""
    if not len(places):
        return places, changes
    begins = np.flatnonzero(np.concatenate(((True,), places[1:] != places[:-1])))
    sums = np.add.reduceat(changes, begins)
    kept = sums != 0
    return places[begins][kept], sums[kept]
