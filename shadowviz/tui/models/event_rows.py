"""Events in the order of the log: all of them, or those that a filter lets through, found slice by slice."""

import time
from array import array
from bisect import bisect_left, bisect_right

from shadowviz.sources.follow import Follower
from shadowviz.tui.models.event_words import event_words
from shadowviz_engine.core.errors import LogError

SLICE = 128
"""Events between two looks at the clock."""


class EventRows:
    """Rows of the list, each an event; with a filter those that hold every word of it."""

    def __init__(self, follower: Follower, pattern: str = "") -> None:
        self.pattern = pattern
        self._follower = follower
        self._words = pattern.lower().split()
        self._found = array("q")
        self._looked = 0
        """Events that were looked at."""

    def __len__(self) -> int:
        return len(self._found) if self._words else self._follower.head + 1

    @property
    def looked(self) -> float:
        """Part of the log that the filter has seen, 0 to 1."""
        num = self._follower.head + 1
        return 1.0 if not self._words or num <= 0 else self._looked / num

    def at(self, row: int) -> int:
        """The event in a row."""
        return self._found[row] if self._words else row

    def row_of(self, seq: int) -> int:
        """Row of an event, or of the last one before it; 0 where there is none."""
        if not self._words:
            return max(0, min(seq, self._follower.head))
        return max(0, bisect_right(self._found, seq) - 1)

    def has(self, seq: int) -> bool:
        """Whether the event has a row."""
        if not self._words:
            return 0 <= seq <= self._follower.head
        place = bisect_left(self._found, seq)
        return place < len(self._found) and self._found[place] == seq

    def sync(self, budget_s: float) -> bool:
        """Let more of the log through the filter, for about so long; whether rows came.

        What cannot be read has no words, and is left out.
        """
        if not self._words:
            return False
        before, stop_s = len(self._found), time.monotonic() + budget_s
        while self._looked <= self._follower.head:
            self._look(min(self._looked + SLICE, self._follower.head + 1))
            if time.monotonic() >= stop_s:
                break
        return len(self._found) != before

    def _look(self, stop: int) -> None:
        try:
            events = self._follower.events(self._looked, stop)
        except LogError:
            stop = self._looked + 1
            try:
                events = self._follower.events(self._looked, stop)
            except LogError:
                events = []
        for event in events:
            text = event_words(event).searched
            if all(word in text for word in self._words):
                self._found.append(event.seq)
        self._looked = stop
