"""Finds nodes: by id, by request, or by the text of their tokens."""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shadowviz.replay.nearest import Words
from shadowviz.replay.probe import probe
from shadowviz_engine.core.replayer import Replayer

MAX_FOUND = 10_000
"""Nodes that a search keeps."""
CHUNK, SLICE = 2**16, 256
"""Tokens of the store that are looked at together; ids or places that are read between two looks at the clock."""
MAX_WORD_TOKENS = 64
"""Tokens behind the first of a match that are read for the rest of it."""


def node_of_id(state: Replayer, text: str) -> int:
    """The living node that `n42` or `42` names; 0 = there is none."""
    digits = text.removeprefix("n")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 10:
        return 0
    node = int(digits)
    return node if 0 < node < len(state.nodes) and state.nodes.alive[node] else 0


def node_of_request(state: Replayer, request: str) -> int:
    """The deepest node that holds tokens of a request; 0 = none does, or there is no such request."""
    row = state.requests.index.get(request)
    if row is None or state.opened is None:
        return 0
    namespace = state.namespaces.names[state.requests.namespace[row]]
    return probe(state, state.request_tokens(row), namespace).node


class TextSearch:
    """Nodes whose text, as it is shown, holds a phrase; capital and small letters are one. It goes on slice by slice.

    A phrase is looked for within the tokens of one node: from every token that could begin it. So the cost is that of
    one look at the token store, and of reading the few places that are left.
    """

    def __init__(self, state: Replayer, words: Words, phrase: str, most: int = MAX_FOUND) -> None:
        self._state, self._words, self._most = state, words, most
        self._phrase = phrase.lower()
        self._stop = len(state.tokens) if phrase else 0
        self._slices = self._work()
        self.found: list[int] = []
        """Living nodes that hold the phrase, in the order of the token store, each once; not more than asked for."""
        self.looked = 0.0
        """Part of the tokens that was looked at, 0 to 1."""

    def advance(self, budget_s: float = math.inf) -> bool:
        """Search on for about so long; whether all is found."""
        stop_s = time.monotonic() + budget_s
        for _ in self._slices:
            if time.monotonic() >= stop_s:
                return False
        self.looked = 1.0
        return True

    def _work(self) -> Iterator[None]:
        """Find nodes, with a pause after each slice of work."""
        seen, known, extents = set[int](), dict[int, bool](), self._extents()
        for begin in range(0, self._stop, CHUNK):
            yield
            self.looked = begin / self._stop
            ids, inverse = np.unique(self._tokens(begin), return_inverse=True)
            new = [token for token in ids.tolist() if token not in known]
            for at in range(0, len(new), SLICE):
                known |= {token: self._may_begin(token) for token in new[at : at + SLICE]}
                yield
            begins = np.array([known[token] for token in ids.tolist()], dtype=bool)
            for num, place in enumerate((begin + np.flatnonzero(begins[inverse])).tolist()):
                if num % SLICE == 0:
                    yield
                for node in extents.nodes_at(place):
                    if node not in seen and self._is_at(node, place):
                        seen.add(node)
                        self.found.append(node)
                        if len(self.found) >= self._most:
                            return

    def _tokens(self, begin: int) -> NDArray[np.int32]:
        return np.array(self._state.tokens[begin : min(begin + CHUNK, self._stop)], dtype=np.int32)

    def _extents(self) -> "_Extents":
        columns = self._state.nodes
        nodes = np.flatnonzero(np.array(columns.alive, dtype=bool))[1:]
        at = np.array(columns.tokens_at, dtype=np.int64)[nodes]
        starts = at + np.array(columns.start, dtype=np.int64)[nodes]
        order = np.argsort(starts, kind="stable")
        return _Extents(starts[order], (at + np.array(columns.stop, dtype=np.int64)[nodes])[order], nodes[order])

    def _may_begin(self, token: int) -> bool:
        """Whether the text of a token holds the phrase, or ends with a beginning of it."""
        text, phrase = self._words.text([token]).lower(), self._phrase
        if not self._words.readable:
            text += " "
        return phrase in text or any(text.endswith(phrase[:size]) for size in range(1, len(phrase)))

    def _is_at(self, node: int, place: int) -> bool:
        nodes = self._state.nodes
        # The state may have gone back since.
        if node >= len(nodes):
            return False
        stop = min(nodes.tokens_at[node] + nodes.stop[node], place + MAX_WORD_TOKENS)
        ids: Sequence[int] = self._state.tokens[place:stop]
        return self._phrase in self._words.text(ids).lower()


class _Extents:
    """Where the tokens of living nodes lie in the token store, in ascending order of where they start."""

    def __init__(self, starts: NDArray[np.int64], stops: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        self._starts, self._stops, self._nodes = starts, stops, nodes
        self._last = np.maximum.accumulate(stops)

    def nodes_at(self, place: int) -> Iterator[int]:
        """Every node that has the token in this place."""
        at = int(np.searchsorted(self._starts, place, side="right")) - 1
        # Two nodes may share tokens of one request: a span that was inserted, went and came again.
        while at >= 0 and self._last[at] > place:
            if self._stops[at] > place:
                yield int(self._nodes[at])
            at -= 1
