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
        self._places: list[Ints] = []
        """Slots at which the count is another than at the slot before."""
        self._changes: list[Ints] = []
        """By how much."""
        self._pending = 0

    def add(self, slots: Ints, lengths: Ints, change: int) -> None:
        """Runs of slots were taken (1) or given (-1): where each begins, and its number of slots.

        Raises:
            Unsound: a run is empty, or out of range.
        """
        if not len(slots):
            return
        if slots.min() < 0 or lengths.min() <= 0 or slots.max() >= 2**31 or lengths.max() >= 2**31:
            raise Unsound("a run of slots is empty or out of range")
        self._places += slots, slots + lengths
        self._changes += np.full(len(slots), change), np.full(len(slots), -change)
        self._pending += 2 * len(slots)
        if self._pending > MOST_PENDING:
            self._sum_up()

    def held(self) -> tuple[Ints, Ints]:
        """Runs of slots that are taken: where each begins, and its number of slots.

        Raises:
            Unsound: a slot was given more often than taken, or taken twice.
        """
        self._sum_up()
        (places,), (changes,) = self._places, self._changes
        counts = np.cumsum(changes)
        if len(counts) and not 0 <= counts.min() <= counts.max() <= 1:
            raise Unsound("a slot is held twice, or less than not at all")
        starts = np.flatnonzero(counts)
        return places[starts], places[starts + 1] - places[starts]

    def _sum_up(self) -> None:
        places = np.concatenate((*self._places, np.empty(0, np.int64)))
        changes = np.concatenate((*self._changes, np.empty(0, np.int64)))
        if len(places):
            order = np.argsort(places)
            places = places[order]
            begins = np.flatnonzero(np.concatenate(((True,), places[1:] != places[:-1])))
            changes = np.add.reduceat(changes[order], begins)
            kept = changes != 0
            places, changes = places[begins][kept], changes[kept]
        self._places, self._changes, self._pending = [places], [changes], 0
