"""Requests by the words that their names, states and verdicts must have."""

import numpy as np
from numpy.typing import NDArray

from shadowviz.tokens.finding import Cause
from shadowviz.tui.models.verdict_notes import VerdictNotes, places_of
from shadowviz.tui.session import Session
from shadowviz_engine.core.columns import REQUEST_STATES
from shadowviz_engine.core.verdict import Verdict

Flags = NDArray[np.bool_]

_CAUSES = " ".join(f"{Verdict.TOKENS_DIFFER}({cause})" for cause in Cause).lower()
"""All that a look at the state may make of a verdict which its event alone does not settle."""


class RequestFilter:
    """Words that a request must have, each in its name, namespace, state or verdict."""

    def __init__(self, pattern: str) -> None:
        self._words = [_Word(text) for text in pattern.lower().split()]

    def look(self, session: Session, notes: VerdictNotes) -> tuple[Flags, Flags]:
        """By row of the requests: which fit, and of which only a verdict that is not known yet can tell."""
        requests = session.state.requests
        lookups = np.array(requests.lookup, dtype=np.int64)
        fit, may = np.ones(len(lookups), dtype=np.bool_), np.ones(len(lookups), dtype=np.bool_)
        places = places_of(session.timeline.chronicle, lookups)
        sure, read = _at(notes.sure, places, lookups), _at(notes.read, places, lookups)
        states = np.frombuffer(bytes(requests.state), dtype=np.uint8)
        for word in self._words:
            told = word.in_names(session)[: len(lookups)] | word.in_states[states]
            fit &= told | word.in_labels(notes.labels, sure)
            may &= told | (sure < 0) & (lookups >= 0) & (
                (read < 0) | word.in_labels(notes.labels, read) | word.in_causes
            )
        return fit, may & ~fit


def _at(numbers: NDArray[np.int32], places: NDArray[np.int64], lookups: NDArray[np.int64]) -> NDArray[np.int32]:
    if not len(numbers):
        return np.full(len(lookups), -1, dtype=np.int32)
    found: NDArray[np.int32] = np.where(lookups >= 0, numbers[places], np.int32(-1))
    return found


class _Word:
    """One word, and where it was found so far: names and labels only become more."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._names, self._labels = bytearray(), bytearray()
        self.in_states: Flags = np.array([text in state for state in REQUEST_STATES], dtype=np.bool_)
        self.in_causes = text in _CAUSES

    def in_names(self, session: Session) -> Flags:
        """By row, whether it is in name or namespace."""
        requests, namespaces = session.state.requests, session.state.namespaces.names
        for row in range(len(self._names), len(requests)):
            words = f"{requests.names[row]} {namespaces[requests.namespace[row]]}".lower()
            self._names.append(self._text in words)
        return np.frombuffer(bytes(self._names), dtype=np.bool_)

    def in_labels(self, labels: list[str], numbers: NDArray[np.int32]) -> Flags:
        """Whether it is in the labels of these numbers; in none where the number is below 0."""
        self._labels.extend(self._text in label for label in labels[len(self._labels) :])
        # A number below 0 leads to the end.
        found: Flags = np.frombuffer(bytes(self._labels) + b"\0", dtype=np.bool_)[numbers]
        return found
