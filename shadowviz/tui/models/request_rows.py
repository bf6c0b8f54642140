"""Requests in the order of the list: sorted, filtered, and found again by name while the run goes on."""

from typing import Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from shadowviz.tui.frame import Frame
from shadowviz.tui.models.request_filter import RequestFilter
from shadowviz.tui.models.verdict_notes import VerdictNotes, places_of
from shadowviz.tui.session import Session

SORTS: Final = (
    "newest",
    "oldest",
    "most lost",
    "most computed",
    "longest prompt",
    "longest TTFT",
    "running first",
)
"""Orders of the list."""
_BY_SUBMISSION: Final = SORTS[:2]
_BY_VERDICT: Final = "most lost"

Rows = NDArray[np.int64]
NOT_EXPLAINED: Final = -1
"""Loss of a request whose verdict is not known yet."""
_NONE: Final = np.empty(0, dtype=np.int64)


class RequestRows:
    """Rows of the list, each a row of the state's request columns."""

    def __init__(self) -> None:
        self.sort = SORTS[0]
        self.pattern = ""
        """Words that a request must have, each in its name, namespace, state or verdict."""
        self._rows: Rows = _NONE
        self._open: Rows = _NONE
        """Lookups, by their place in the run, of which filter or order have to know the verdict."""
        self._places: Rows | None = None
        self._made_for: tuple[object, ...] = ()
        self._notes = VerdictNotes()
        self._filter: tuple[object, RequestFilter] = (None, RequestFilter(""))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def num_open(self) -> int:
        """Requests that have to be explained before it is known whether or where they stand in the list."""
        return len(self._open)

    def at(self, place: int) -> int:
        """Request (row of the columns) in this place of the list."""
        return int(self._rows[place])

    def place_of(self, row: int) -> int:
        """Place of a request; -1 where the filter leaves it out."""
        if not self.pattern and self.sort == SORTS[0]:
            return len(self._rows) - 1 - row if 0 <= row < len(self._rows) else -1
        if self._places is None:
            self._places = np.full(int(self._rows.max(initial=-1)) + 1, -1, dtype=np.int64)
            self._places[self._rows] = np.arange(len(self._rows))
        return int(self._places[row]) if 0 <= row < len(self._places) else -1

    def learn(self, session: Session, budget_s: float) -> None:
        """Work for about so long on verdicts that filter or order have to know; `sync` shows what has come of it."""
        if len(self._open):
            self._notes.learn(session, self._open, budget_s)

    def sync(self, session: Session, frame: Frame) -> bool:
        """Follow the run; whether the list is another."""
        notes = self._notes
        notes.sync(session)
        # Order by submission changes only with the number of requests, all else with any event.
        moment: object = len(session.state.requests)
        if self.pattern or self.sort not in _BY_SUBMISSION:
            moment = (frame.version, notes.version)
        made_for = (self.sort, self.pattern, moment, ref(session.timeline))
        if made_for == self._made_for:
            return False
        self._made_for = made_for
        self._places = None
        rows, is_open = self._order(session), np.zeros(len(session.state.requests), dtype=np.bool_)
        if self.sort == _BY_VERDICT:
            is_open = self._losses(session) == NOT_EXPLAINED
        if self.pattern:
            fits, undecided = self._filter_of(session).look(session, notes)
            rows, is_open = rows[fits[rows]], undecided | (is_open & fits)
        lookups = np.array(session.state.requests.lookup, dtype=np.int64)
        self._open = np.unique(places_of(session.timeline.chronicle, lookups[is_open]))
        same = np.array_equal(rows, self._rows)
        self._rows = rows
        return not same

    def _filter_of(self, session: Session) -> RequestFilter:
        made_for = (self.pattern, ref(session.timeline))
        if self._filter[0] != made_for:
            self._filter = (made_for, RequestFilter(self.pattern))
        return self._filter[1]

    def _order(self, session: Session) -> Rows:
        requests = session.state.requests
        rows = np.arange(len(requests), dtype=np.int64)[::-1]
        match self.sort:
            case "oldest":
                return rows[::-1]
            case "most lost":
                return _descending(rows, self._losses(session))
            case "longest prompt":
                return _descending(rows, np.array(requests.num_prompt, dtype=np.int64))
            case "most computed":
                return _descending(rows, _computed(session))
            case "longest TTFT":
                return _descending(rows, _ttft(session))
            case "running first":
                return _descending(rows, -np.abs(np.array(requests.state, dtype=np.int64) - 3))
        return rows

    def _losses(self, session: Session) -> Rows:
        """Tokens that each request lost; `NOT_EXPLAINED`, and -2 before it is looked up."""
        lookups = np.array(session.state.requests.lookup, dtype=np.int64)
        lost = self._notes.lost
        if not len(lost):
            return np.full_like(lookups, -2)
        losses: Rows = np.where(lookups >= 0, lost[places_of(session.timeline.chronicle, lookups)], -2)
        return losses


def _descending(rows: Rows, keys: Rows) -> Rows:
    """`rows` by their keys, the largest first; of equals the newest."""
    ordered: Rows = rows[np.argsort(-keys[rows], kind="stable")]
    return ordered


def _computed(session: Session) -> Rows:
    """Tokens of each prompt that were not reused; 0 before it is looked up."""
    requests, chronicle = session.state.requests, session.timeline.chronicle
    lookup, prompt = np.array(requests.lookup, dtype=np.int64), np.array(requests.num_prompt, dtype=np.int64)
    if not len(chronicle.lookups):
        return np.zeros_like(prompt)
    reused = np.diff(np.array(chronicle.reused_sums, dtype=np.int64))
    computed: Rows = np.where(lookup >= 0, prompt - reused[places_of(chronicle, lookup)], 0)
    return computed


def _ttft(session: Session) -> Rows:
    """Nanoseconds to the first token of each request that has finished; -1 of all others."""
    num, chronicle = len(session.state.requests), session.timeline.chronicle
    ended, ttft = (np.array(column[:num], dtype=np.int64) for column in chronicle.endings)
    known: Rows = np.where((ended >= 0) & (ended <= session.timeline.at), ttft, -1)
    return known
