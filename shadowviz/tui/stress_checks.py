"""The checks of a record as a grid, taken in a slice a frame while it grows."""

import time
from typing import Final

from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.sources.follow import Follower
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted

SLICE: Final = 256
STARTED: Final = ("BoundaryStressStarted",)


class StressChecks:
    """Keeps a grid of the checks up to a moment; another moment before that, record or sort of rows begins anew."""

    def __init__(self) -> None:
        self.grid: StressGrid | None = None
        self.is_behind = False
        """Whether checks up to the moment are still to be taken in."""
        self._grid_of: tuple[object, ...] = ()
        self._fed = 0
        """Events that the grid has taken in."""

    def sync(self, follower: Follower, at: int, rows_by: RowsBy | None, budget_s: float) -> None:
        """Take in the checks up to event `at`, for so long."""
        self.is_behind = not follower.is_indexed
        if self.is_behind:
            return
        seqs = _seqs_of_started(follower, at)
        grid_of = (follower, follower.opened, len(seqs), rows_by)
        if grid_of != self._grid_of or self._fed > at + 1:
            self._grid_of, self._fed = grid_of, 0
            self.grid = StressGrid(_started(follower, seqs), rows_by)
        if self.grid is not None and self.grid.started:
            self._feed(self.grid, follower, at, time.monotonic() + budget_s)

    def _feed(self, grid: StressGrid, follower: Follower, at: int, stop_s: float) -> None:
        while self._fed <= at and time.monotonic() < stop_s:
            stop = min(self._fed + SLICE, at + 1)
            try:
                for event in follower.events(self._fed, stop):
                    if isinstance(event, BoundaryChecked):
                        grid.add(event)
            except LogError:
                return
            self._fed = stop
        self.is_behind = self._fed <= at


def _seqs_of_started(follower: Follower, at: int) -> list[int]:
    seqs, seq = list[int](), follower.next_of(STARTED, -1)
    while seq is not None and seq <= at:
        seqs.append(seq)
        seq = follower.next_of(STARTED, seq)
    return seqs


def _started(follower: Follower, seqs: list[int]) -> list[BoundaryStressStarted]:
    events = (follower.event_at(seq) for seq in seqs)
    return [event for event in events if isinstance(event, BoundaryStressStarted)]
