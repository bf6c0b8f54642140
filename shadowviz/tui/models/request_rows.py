"""Requests in the order of the list: sorted, filtered, and found again by name while the run goes on."""

from typing import Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from shadowviz.tui.frame import Frame
from shadowviz.tui.session import Session
from shadowviz_engine.core.columns import REQUEST_STATES

SORTS: Final = ("newest", "oldest", "most computed", "longest prompt", "running first")
"""Orders of the list."""

Rows = NDArray[np.int64]


class RequestRows:
    """Rows of the list, each a row of the state's request columns."""

    def __init__(self) -> None:
        self.sort = SORTS[0]
        self.pattern = ""
        """Words that a request must have, each in its name, namespace, state or verdict."""
        self._rows: Rows = np.empty(0, dtype=np.int64)
        self._places: dict[int, int] | None = None
        self._made_for: tuple[object, ...] = ()
        self._labels: dict[int, str] = {}
        self._labelled: object = None
        """What goes through the log that the labels are of; another begins where another log does."""

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, place: int) -> int:
        """Request (row of the columns) in this place of the list."""
        return int(self._rows[place])

    def place_of(self, row: int) -> int:
        """Place of a request; -1 where the filter leaves it out."""
        if not self.pattern and self.sort == "newest":
            return len(self._rows) - 1 - row if 0 <= row < len(self._rows) else -1
        if self._places is None:
            self._places = {row: place for place, row in enumerate(self._rows.tolist())}
        return self._places.get(row, -1)

    def sync(self, session: Session, frame: Frame) -> bool:
        """Follow the run; whether the list is another."""
        # Order by submission changes only with the number of requests, all else with any event.
        moment: object = len(session.state.requests)
        if self.pattern or self.sort not in ("newest", "oldest"):
            moment = frame.version
        if self._labelled is not session.timeline:
            self._labelled = session.timeline
            self._labels.clear()
        made_for = (self.sort, self.pattern, moment, ref(session.timeline))
        if made_for == self._made_for:
            return False
        self._made_for = made_for
        self._places = None
        rows = self._order(session)
        if self.pattern:
            words = self.pattern.lower().split()
            rows = np.array([row for row in rows.tolist() if self._fits(session, row, words)], dtype=np.int64)
        same = np.array_equal(rows, self._rows)
        self._rows = rows
        return not same

    def _order(self, session: Session) -> Rows:
        requests = session.state.requests
        rows = np.arange(len(requests), dtype=np.int64)[::-1]
        match self.sort:
            case "oldest":
                return rows[::-1]
            case "longest prompt":
                return _descending(rows, np.array(requests.num_prompt, dtype=np.int64))
            case "most computed":
                return _descending(rows, _computed(session))
            case "running first":
                return _descending(rows, -np.abs(np.array(requests.state, dtype=np.int64) - 3))
        return rows

    def _fits(self, session: Session, row: int, words: list[str]) -> bool:
        requests = session.state.requests
        known = f"{requests.names[row]} {session.state.namespaces.names[requests.namespace[row]]}".lower()
        known += f" {REQUEST_STATES[requests.state[row]]} "
        if all(word in known for word in words):
            return True
        known += self._label(session, requests.lookup[row])
        return all(word in known for word in words)

    def _label(self, session: Session, seq: int) -> str:
        if seq < 0:
            return ""
        label = self._labels.get(seq)
        if label is None:
            lookup = session.event_at(seq)
            label = self._labels[seq] = session.verdict(lookup).finding.label.lower()  # type: ignore[arg-type]
        return label


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
    place = np.minimum(np.searchsorted(np.array(chronicle.lookups, dtype=np.int64), lookup), len(reused) - 1)
    computed: Rows = np.where(lookup >= 0, prompt - reused[place], 0)
    return computed
