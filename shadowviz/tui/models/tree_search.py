"""Finds nodes: by id, by request, or by the text of their tokens."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shadowviz.replay.nearest import Words
from shadowviz.replay.probe import probe
from shadowviz_engine.core.replayer import Replayer

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
    """Nodes whose text, as it is shown, holds a phrase; capital and small letters are one.

    A phrase is looked for within the tokens of one node: from every token that could begin it. So the cost is that of
    one look at the token store, and of reading the few places that are left.
    """

    def __init__(self, state: Replayer, words: Words, phrase: str) -> None:
        self._state, self._words = state, words
        self._phrase = phrase.lower()

    def nodes(self) -> Iterator[int]:
        """Living nodes that hold the phrase, in the order of the token store, each once."""
        seen = set[int]()
        for place, node in self._candidates():
            if node not in seen and self._is_at(node, place):
                seen.add(node)
                yield node

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Places of the token store where the phrase may begin, with every living node that has them."""
        tokens = np.array(self._state.tokens, dtype=np.int32)
        if not len(tokens) or not self._phrase:
            return
        ids, inverse = np.unique(tokens, return_inverse=True)
        begins = np.array([self._may_begin(token) for token in ids.tolist()], dtype=bool)
        places = np.flatnonzero(begins[inverse])
        starts, stops, nodes = self._extents()
        last = np.maximum.accumulate(stops)
        for place in places.tolist():
            at = int(np.searchsorted(starts, place, side="right")) - 1
            # Two nodes may share tokens of one request: a span that was inserted, went and came again.
            while at >= 0 and last[at] > place:
                if stops[at] > place:
                    yield place, int(nodes[at])
                at -= 1

    def _extents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where the tokens of living nodes lie in the store, ascending."""
        columns = self._state.nodes
        nodes = np.flatnonzero(np.array(columns.alive, dtype=bool))[1:]
        at = np.array(columns.tokens_at, dtype=np.int64)[nodes]
        starts = at + np.array(columns.start, dtype=np.int64)[nodes]
        order = np.argsort(starts, kind="stable")
        return starts[order], (at + np.array(columns.stop, dtype=np.int64)[nodes])[order], nodes[order]

    def _may_begin(self, token: int) -> bool:
        """Whether the text of a token holds the phrase, or ends with a beginning of it."""
        text, phrase = self._words.text([token]).lower(), self._phrase
        if not self._words.readable:
            text += " "
        return phrase in text or any(text.endswith(phrase[:size]) for size in range(1, len(phrase)))

    def _is_at(self, node: int, place: int) -> bool:
        nodes = self._state.nodes
        stop = min(nodes.tokens_at[node] + nodes.stop[node], place + MAX_WORD_TOKENS)
        ids: Sequence[int] = self._state.tokens[place:stop]
        return self._phrase in self._words.text(ids).lower()
