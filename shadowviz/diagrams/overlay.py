"""Two trees laid over each other by their tokens: stretches that both hold, and what only one of them has."""

from array import array
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from shadowviz.replay.probe import equal_tokens
from shadowviz_engine.core.replay_state import ReplayState

Place: TypeAlias = tuple[int, int]
"""A node, and how many of its tokens are behind."""

ROOT: Place = (0, 0)


class Stretch(NamedTuple):
    """Tokens [start, stop) of a path in the first tree, the second, or both; a node that is 0 has no part in it.

    Of one tree alone it is the rest of the node from `start` on, and all that is below the node belongs to it.
    """

    before: int
    after: int
    start: int
    stop: int


def overlay(first: ReplayState, second: ReplayState) -> Iterator[Stretch]:
    """The stretches of two trees in pre-order; paths meet by namespace and tokens, node numbers mean nothing."""
    left, right = _Tree(first), _Tree(second)
    stack: list[tuple[Place | None, Place | None]] = [(ROOT, ROOT)]
    while stack:
        at, beside = stack.pop()
        if at is None or beside is None:
            yield left.rest(at, before=True) if at else right.rest(beside or ROOT, before=False)
            continue
        equal = left.equal_tokens(at, right, beside)
        if at[0]:
            start = left.position(at)
            yield Stretch(at[0], beside[0], start, start + equal)
        below, across = left.following(at, equal), right.following(beside, equal)
        if not below and not across:
            continue
        ways = sorted(below.keys() | across.keys(), reverse=True)
        stack.extend((below.get(way), across.get(way)) for way in ways)


class _Tree:
    """Reads one tree from places on."""

    def __init__(self, state: ReplayState) -> None:
        nodes = state.nodes
        self._children, self._first_child = nodes.children, nodes.first_child
        self._start, self._stop, self._tokens_at = nodes.start, nodes.stop, nodes.tokens_at
        self._token, self._namespace, self._names = state.tokens, nodes.namespace, state.namespaces.names

    def following(self, place: Place, equal: int) -> dict[tuple[str, int], Place]:
        """What goes on `equal` tokens behind a place, by namespace and next token: the node itself, or its children."""
        node, done = place[0], place[1] + equal
        if self._start[node] + done != self._stop[node]:
            return {self._way(node, done): (node, done)}
        if not self._first_child[node]:
            return {}
        return {self._way(child, 0): (child, 0) for child in self._children(node)}

    def _way(self, node: int, done: int) -> tuple[str, int]:
        return self._names[self._namespace[node]], self._token[self._tokens_at[node] + self._start[node] + done]

    def equal_tokens(self, place: Place, other: "_Tree", beside: Place) -> int:
        """Tokens of the node that equal those of a node of another tree, from both places on."""
        most = min(self._left(place), other._left(beside))
        at = self._tokens_at[place[0]] + self.position(place)
        if self._token is other._token and at == other._tokens_at[beside[0]] + other.position(beside):
            # Two moments of one run: these are not equal tokens, they are the same.
            return most
        return equal_tokens(self._tokens(place, most), other._tokens(beside, most))

    def _left(self, place: Place) -> int:
        return self._stop[place[0]] - self._start[place[0]] - place[1]

    def _tokens(self, place: Place, most: int) -> "array[int]":
        at = self._tokens_at[place[0]] + self._start[place[0]] + place[1]
        return self._token[at : at + most]

    def position(self, place: Place) -> int:
        """Tokens of the path before the place."""
        return self._start[place[0]] + place[1]

    def rest(self, place: Place, *, before: bool) -> Stretch:
        """The node from the place on, held by this tree alone."""
        span = (self.position(place), self._stop[place[0]])
        return Stretch(place[0], 0, *span) if before else Stretch(0, place[0], *span)
