"""The checks of a record as a grid, taken in a slice a frame while it grows."""

import time
from pathlib import Path
from typing import Final

from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.sources.follow import Follower
from shadowviz.sources.states import LogState
from shadowviz.tokens.inert import printable
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
        self.fault = ""
        """Why they cannot be, where that is so; safe to show."""
        self._grid_of: tuple[object, ...] = ()
        self._at = -1
        self._fed = 0
        """Events that the grid has taken in."""

    def has_all(self, head: int) -> bool:
        """Whether every check up to event `head` is taken in."""
        return not self.is_behind and not self.fault and self._at >= head

    def sync(self, follower: Follower, at: int, rows_by: RowsBy | None, budget_s: float) -> None:
        """Take in the checks up to event `at`, for so long."""
        self._at, self.is_behind = at, not follower.is_indexed
        if self.is_behind:
            return
        seqs = _seqs_of_started(follower, at)
        grid_of = (follower, follower.round, len(seqs), rows_by)
        if grid_of != self._grid_of or self._fed > at + 1:
            self._grid_of, self._fed, self.fault = grid_of, 0, ""
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
            except LogError as error:
                # Nothing more can be done, so nobody is to wait for it; what there is, is not all.
                self.is_behind, self.fault = False, printable(str(error))
                return
            self._fed = stop
        self.is_behind, self.fault = self._fed <= at, ""


def is_whole(record: Path) -> bool:
    """Whether a record of a stress run ends properly, with all that the run was to check; found without decoding it."""
    try:
        follower = Follower(record)
    except LogError:
        return False
    try:
        if not follower.index() or follower.state is not LogState.CLOSED:
            return False
        seqs = _seqs_of_started(follower, follower.head)
        cells = {(event.level, event.subject): event.cells for event in _started(follower, seqs)}
        # Beside checks there is only what begins a run, the first event and the last one.
        return 0 < sum(cells.values()) <= follower.head + 1 - len(seqs) - 2
    except LogError:
        return False
    finally:
        follower.close()


def _seqs_of_started(follower: Follower, at: int) -> list[int]:
    seqs, seq = list[int](), follower.next_of(STARTED, -1)
    while seq is not None and seq <= at:
        seqs.append(seq)
        seq = follower.next_of(STARTED, seq)
    return seqs


def _started(follower: Follower, seqs: list[int]) -> list[BoundaryStressStarted]:
    events = (follower.event_at(seq) for seq in seqs)
    return [event for event in events if isinstance(event, BoundaryStressStarted)]
