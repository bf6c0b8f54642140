"""A prompt cut into lines, and the marks of their pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np

from shadowviz.tokens.align.runs import Integers
from shadowviz.tokens.encode.characters import character_starts
from shadowviz.tokens.inert import inert, inert_bytes
from shadowviz.tokens.inputs.side import is_readable
from shadowviz.tokens.passages.passage import Line, Mark, Piece
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

PART: Final = 320
"""Characters of a part; a line longer than two of them is cut."""

ASCII_ESCAPES: Final = {code: inert(chr(code)) for code in range(128)}


@dataclass(frozen=True)
class Lettered:
    """A side with its markers spelled out, and where in its characters each token begins."""

    side: Side
    text: str
    raw: bytes
    starts: Integers
    """Byte of `raw` at which each token begins."""

    @cached_property
    def characters(self) -> Integers:
        """Byte at which each character begins, and the length of `raw` behind the last one."""
        return np.append(character_starts(self.text, self.raw), len(self.raw))

    @cached_property
    def tokens(self) -> Integers:
        """Index of the character in which each token begins, and the length of `text` behind the last one."""
        begun = np.searchsorted(self.characters, self.starts, side="right") - 1
        return np.append(begun, len(self.text))

    @cached_property
    def line_ends(self) -> Integers:
        """Where the lines of the text end, in characters; line ends of any kind count."""
        return np.cumsum([len(line) for line in self.text.splitlines(keepends=True)], dtype=np.int64)

    def holders(self, characters: Integers) -> Integers:
        """Index of the token in which each character lies: the first of those that begin in it."""
        found = np.searchsorted(self.tokens[:-1], characters, side="left")
        return np.where(self.tokens[found] == characters, found, np.maximum(0, found - 1))

    def holder(self, character: int) -> int:
        """Index of the token in which a character lies."""
        return int(self.holders(np.array([character]))[0])

    def shown(self, start: int, stop: int) -> str:
        """A stretch of characters, printable."""
        raw = self.raw[self.characters[start] : self.characters[stop]]
        plain = raw.decode(errors="replace")
        return plain.translate(ASCII_ESCAPES) if plain.isascii() else inert_bytes(raw)


def lettered(side: Side) -> Lettered:
    """A side with what its text lacks: markers that stand for nothing in it, numbers of ids that cannot be read."""
    starts = np.array(side.starts, np.int64)
    if not is_readable(side):
        numbers = [f"{token_id} " for token_id in side.ids]
        text = "".join(numbers)
        return Lettered(side, text, text.encode(), np.cumsum([0, *map(len, numbers[:-1])])[: len(numbers)])
    sizes = np.diff(np.append(starts, len(side.raw)))
    empty = [token for token in np.flatnonzero(sizes == 0).tolist() if side.encoder.is_control(side.ids[token])]
    if not empty:
        return Lettered(side, side.text, side.raw, starts)
    parts, done = [], 0
    for token in empty:
        spelled = side.encoder.token_bytes(side.ids[token])
        parts += [side.raw[done : side.starts[token]], spelled]
        done = side.starts[token]
        sizes[token] = len(spelled)
    raw = b"".join([*parts, side.raw[done:]])
    # Text that a tokenizer skips at its front belongs to no token.
    front = int(starts[0])
    return Lettered(side, raw.decode(errors="replace"), raw, front + np.cumsum(sizes) - sizes)


def cut_places(letters: Lettered, ends: Integers) -> Integers:
    """Where the parts of very long lines end, in characters, never within a token."""
    places = [
        _token_starts(letters, np.arange(start + PART, stop, PART), start)
        for start, stop in pairwise([0, *ends.tolist()])
        if stop - start > 2 * PART
    ]
    return np.concatenate(places) if places else np.empty(0, np.int64)


def _token_starts(letters: Lettered, characters: Integers, behind: int) -> Integers:
    """The places at or before characters where a token begins, and behind a place."""
    found = letters.tokens[np.maximum(0, np.searchsorted(letters.tokens, characters, side="right") - 1)]
    return found[(found > behind) & (found < len(letters.text))]


@dataclass(frozen=True)
class Lines:
    """The lines of a side, and the stretches of it that differ."""

    letters: Lettered
    ends: Integers
    """In characters, rising."""
    marked: Sequence[tuple[Extent, Mark]]
    """Stretches that differ, in characters, one behind the other."""

    @cached_property
    def starts(self) -> Integers:
        """In characters."""
        return np.concatenate(([0], self.ends[:-1])).astype(np.int64) if len(self.ends) else self.ends

    @cached_property
    def clean(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """For each line whether nothing of it differs."""
        begun = np.searchsorted(self._marked_starts, self.ends, side="left")
        return np.equal(begun, np.searchsorted(self._marked_stops, self.starts, side="right"))

    def num_tokens(self, first: int, last: int) -> int:
        """Tokens that begin in the lines from `first` up to and with `last`."""
        edges = np.searchsorted(self.letters.tokens[:-1], (self.starts[first], self.ends[last]), side="left")
        return int(edges[1] - edges[0])

    def line(self, index: int) -> Line:
        """One line as it is shown."""
        start, stop = int(self.starts[index]), int(self.ends[index])
        token = self.letters.holder(start)
        segment = self.letters.side.segment_of(token)
        return Line(token, segment.label if segment else "", tuple(self._pieces(start, stop)))

    def _pieces(self, start: int, stop: int) -> Iterator[Piece]:
        for span, mark in self._stretches(start, stop):
            yield from self._of_one_mark(span, mark)

    def _stretches(self, start: int, stop: int) -> Iterator[tuple[Extent, Mark]]:
        """The line without a gap, by marks."""
        place = start
        first = int(np.searchsorted(self._marked_stops, start, side="right"))
        for index in range(first, len(self.marked)):
            span, mark = self.marked[index]
            if span.start >= stop:
                break
            if span.start > place:
                yield Extent(place, span.start), Mark.SAME
            place = max(place, span.start)
            yield Extent(place, min(stop, span.stop)), mark
            place = min(stop, span.stop)
        if place < stop:
            yield Extent(place, stop), Mark.SAME

    def _of_one_mark(self, span: Extent, mark: Mark) -> Iterator[Piece]:
        """A stretch, with control tokens as pieces of their own."""
        letters, ids = self.letters, self.letters.side.ids
        place = span.start
        first, behind = letters.holder(span.start), int(np.searchsorted(letters.tokens[:-1], span.stop, side="left"))
        edges = letters.tokens[first : behind + 1].tolist()
        for token in range(first, behind):
            if not self.is_control(ids[token]):
                continue
            begin, end = max(place, edges[token - first]), min(span.stop, edges[token - first + 1])
            if begin < end:
                if place < begin:
                    yield self._piece(Extent(place, begin), mark, control=False)
                yield self._piece(Extent(begin, end), mark, control=True)
                place = end
        if place < span.stop:
            yield self._piece(Extent(place, span.stop), mark, control=False)

    def _piece(self, span: Extent, mark: Mark, *, control: bool) -> Piece:
        text = self.letters.shown(span.start, span.stop)
        if mark is not Mark.RETOKENIZED:
            return Piece(text, mark, control)
        begin, end = np.searchsorted(self.letters.tokens[:-1], (span.start, span.stop), side="left").tolist()
        return Piece(text, mark, control, tuple(self.letters.side.ids[begin:end]))

    def is_control(self, token_id: int) -> bool:
        """Whether an id is a control token."""
        known = self._controls.get(token_id)
        if known is None:
            known = self._controls[token_id] = self.letters.side.encoder.is_control(token_id)
        return known

    @cached_property
    def _controls(self) -> dict[int, bool]:
        return {}

    @cached_property
    def _marked_starts(self) -> Integers:
        return np.array([span.start for span, _ in self.marked], np.int64)

    @cached_property
    def _marked_stops(self) -> Integers:
        return np.array([span.stop for span, _ in self.marked], np.int64)
