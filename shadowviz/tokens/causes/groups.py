"""Differing stretches of a token diff, placed in the characters of both texts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.causes.edit import Stretch
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent


class Group(NamedTuple):
    """Hunks that follow each other with no equal token between them."""

    a: Extent
    b: Extent
    in_a: Stretch
    """The characters in which the tokens of A lie, whole ones."""
    in_b: Stretch
    agreed: int
    """Equal tokens behind it."""

    @property
    def shared(self) -> int:
        """Tokens that both sides have in it, counted on the shorter one."""
        return min(self.a.size, self.b.size)


def groups_of(a: Side, b: Side, diff: TokenDiff) -> Iterator[Group]:
    """The differing stretches in order."""
    places = _Places(a), _Places(b)
    for tokens_a, tokens_b, agreed in _joined(diff.hunks):
        yield Group(tokens_a, tokens_b, places[0].stretch(tokens_a), places[1].stretch(tokens_b), agreed)


def _joined(hunks: Sequence[Hunk]) -> Iterator[tuple[Extent, Extent, int]]:
    a: Extent | None = None
    b = Extent(0, 0)
    for hunk in hunks:
        if hunk.op is not Op.EQUAL:
            a, b = (hunk.a, hunk.b) if a is None else (Extent(a.start, hunk.a.stop), Extent(b.start, hunk.b.stop))
        elif a is not None:
            yield a, b, hunk.a.size
            a = None
    if a is not None:
        yield a, b, 0


class _Places:
    """Characters at which tokens begin, asked for in rising order, so that the text is walked once."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._byte = self._character = 0

    def stretch(self, tokens: Extent) -> Stretch:
        """The whole characters in which tokens lie."""
        raw = self._side.raw
        start, stop = self._side.byte_at(tokens.start), self._side.byte_at(tokens.stop)
        while 0 < start < len(raw) and raw[start] & 0xC0 == 0x80:
            start -= 1
        while stop < len(raw) and raw[stop] & 0xC0 == 0x80:
            stop += 1
        first = self._character_at(start)
        return Stretch(self._side.text, first, first + _length(raw[start:stop]))

    def _character_at(self, byte: int) -> int:
        if byte >= self._byte:
            self._character += _length(self._side.raw[self._byte : byte])
        else:
            self._character -= _length(self._side.raw[byte : self._byte])
        self._byte = byte
        return self._character


def _length(raw: bytes) -> int:
    return len(raw) if raw.isascii() else len(raw.decode(errors="replace"))
