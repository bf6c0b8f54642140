"""Verdicts of the lookups of a run, as filter and order of the list need them: each once it is sure, in slices."""

import time
from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shadowviz.replay.chronicle import Chronicle
from shadowviz.replay.timeline import Timeline
from shadowviz.tui.session import Session
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LookupDone

Places = NDArray[np.int64]
"""Lookups by their place among all of the run."""
NOT_KNOWN: Final = -1
UNTOLD: Final = "?"
"""Label of a lookup of which the record does not say what it met."""


class VerdictNotes:
    """Label and loss of every lookup that was asked about; what its event alone says is kept apart until it is sure."""

    def __init__(self) -> None:
        self.version = 0
        """Changes whenever more is known."""
        self._timeline: Timeline | None = None
        self._forget()

    def _forget(self) -> None:
        self.labels: list[str] = []
        """Every label that came up, in small letters."""
        self._numbers: dict[str, int] = {}
        self._read, self._sure, self._lost = array("i"), array("i"), array("q")

    def sync(self, session: Session) -> None:
        """Follow the run; another log begins anew."""
        if self._timeline is not session.timeline:
            self._timeline = session.timeline
            self._forget()
            self.version += 1
        more = len(session.timeline.chronicle.lookups) - len(self._sure)
        if more > 0:
            self._read.extend((NOT_KNOWN,) * more)
            self._sure.extend((NOT_KNOWN,) * more)
            self._lost.extend((NOT_KNOWN,) * more)

    @property
    def read(self) -> NDArray[np.int32]:
        """By place, number of the label that the event alone gives; below 0 = it was not read."""
        return np.array(self._read, dtype=np.int32)

    @property
    def sure(self) -> NDArray[np.int32]:
        """By place, number of the label; below 0 = not known yet."""
        return np.array(self._sure, dtype=np.int32)

    @property
    def lost(self) -> Places:
        """By place, tokens lost as the verdict says; below 0 = not known yet."""
        return np.array(self._lost, dtype=np.int64)

    def learn(self, session: Session, places: Places, budget_s: float) -> None:
        """Work on these, ascending, for about so long: events first, since many of them say all there is to know."""
        stop_s = time.monotonic() + budget_s
        unread = places[self.read[places] < 0]
        chronicle = session.timeline.chronicle
        for place in (unread if len(unread) else places).tolist():
            left_s = stop_s - time.monotonic()
            if left_s <= 0 or not self._learn(session, chronicle, place, 0.0 if len(unread) else left_s):
                return

    def _learn(self, session: Session, chronicle: Chronicle, place: int, budget_s: float) -> bool:
        """One lookup, explained where there is time for that; whether the next one is to follow."""
        seq = chronicle.lookups[place]
        try:
            lookup = session.event_at(seq)
            assert isinstance(lookup, LookupDone), "the chronicle has noted a lookup there"
            verdict = session.verdict(lookup)
            if not verdict.sure and budget_s:
                if session.explain(seq, budget_s) is None:
                    return False
                verdict = session.verdict(lookup)
        except LogError:
            self._note(place, UNTOLD, 0, sure=True)
            return True
        finding = verdict.finding
        self._note(place, finding.label.lower(), finding.gain if finding.material else 0, sure=verdict.sure)
        return True

    def _note(self, place: int, label: str, lost: int, *, sure: bool) -> None:
        number = self._numbers.get(label)
        if number is None:
            number = self._numbers[label] = len(self.labels)
            self.labels.append(label)
        self._read[place] = number
        if sure:
            self._sure[place], self._lost[place] = number, lost
        self.version += 1


def places_of(chronicle: Chronicle, lookups: Places) -> Places:
    """Places of lookups by their seq; 0 also for what has none."""
    known = np.array(chronicle.lookups, dtype=np.int64)
    return np.minimum(np.searchsorted(known, lookups), max(0, len(known) - 1))
