"""Where the parts of a rendered conversation lie in its tokens, and which stretches of a difference they hold."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

_MESSAGE: Final = re.compile(r"message (\d+) \(")


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled stretch."""

    label: str
    message: int | None
    """Index of the message that it belongs to."""
    text: str
    tokens: Extent

    @property
    def is_tools(self) -> bool:
        """Whether it is tool definitions."""
        return self.label == "tools" or self.label.endswith(": tools")


@dataclass(frozen=True)
class Layout:
    """The labelled stretches of one side, in order."""

    parts: tuple[Part, ...]

    def messages(self, indices: Collection[int]) -> Extent | None:
        """Tokens from the first to the last of some messages; None where none of them is in the text."""
        return _hull(part for index in indices for part in self._of_message.get(index, ()))

    def message_text(self, index: int) -> str:
        """All that one message is rendered as, tools apart, its role marker included."""
        return "".join(part.text for part in self._of_message.get(index, ()) if not part.is_tools)

    def tools(self) -> Extent | None:
        """Tokens of the tool definitions."""
        return _hull(part for part in self.parts if part.is_tools)

    def tools_text(self) -> str:
        """What the tool definitions are rendered as."""
        return "".join(part.text for part in self.parts if part.is_tools)

    def labelled(self, label: str) -> Extent | None:
        """Tokens of the stretches with a label."""
        return _hull(self._of_label.get(label, ()))

    def text_of(self, label: str) -> str:
        """The text under a label; empty where there is none."""
        return "".join(part.text for part in self._of_label.get(label, ()))

    @cached_property
    def _of_message(self) -> dict[int, list[Part]]:
        found: dict[int, list[Part]] = {}
        for part in self.parts:
            if part.message is not None:
                found.setdefault(part.message, []).append(part)
        return found

    @cached_property
    def _of_label(self) -> dict[str, list[Part]]:
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            found.setdefault(part.label, []).append(part)
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens of A and of B that belong together; None where a side has nothing of the kind."""

    a: Extent | None
    b: Extent | None


class Stretches:
    """The stretches of a difference that are not equal, to be looked up by place."""

    def __init__(self, diff: TokenDiff) -> None:
        self.all = tuple(hunk for hunk in diff.hunks if hunk.op is not Op.EQUAL)

    def at(self, place: Place) -> tuple[Hunk, ...]:
        """Those that lie at a place, at least in part."""
        in_a = self._range(place.a, lambda hunk: hunk.a)
        in_b = self._range(place.b, lambda hunk: hunk.b)
        return tuple(self.all[number] for number in sorted({*in_a, *in_b}))

    def _range(self, place: Extent | None, tokens: Callable[[Hunk], Extent]) -> Iterator[int]:
        if place is None:
            return
        first = bisect_left(self.all, place.start, key=lambda hunk: tokens(hunk).stop)
        for number in range(first, len(self.all)):
            if tokens(self.all[number]).start > place.stop:
                return
            if _touches(tokens(self.all[number]), place):
                yield number


def layout_of(side: Side) -> Layout:
    """The segments of a side with their tokens."""
    parts: list[Part] = []
    character = byte = 0
    for segment in side.segments:
        text = side.text[segment.start : segment.stop]
        start = byte + len(side.text[character : segment.start].encode())
        stop = start + len(text.encode())
        found = _MESSAGE.match(segment.label)
        tokens = Extent(bisect_left(side.starts, start), bisect_left(side.starts, stop))
        parts.append(Part(segment.label, int(found[1]) if found else None, text, tokens))
        character, byte = segment.stop, stop
    return Layout(tuple(parts))


def hull(hunks: Sequence[Hunk]) -> tuple[Extent, Extent]:
    """Tokens of A and of B from the first stretch to the last; there is at least one."""
    return Extent(hunks[0].a.start, hunks[-1].a.stop), Extent(hunks[0].b.start, hunks[-1].b.stop)


def gain_without(diff: TokenDiff, mended: Collection[Hunk]) -> int:
    """Tokens that follow the common prefix, up to the first difference that is not mended."""
    gained, gone = 0, set(mended)
    for hunk in diff.hunks[1:] if diff.common else diff.hunks:
        if hunk.op is Op.EQUAL:
            gained += hunk.a.size
        elif hunk not in gone:
            break
        else:
            # The other side's text takes the place of this one's, so its tokens are in the prefix too.
            gained += hunk.a.size
    return gained


def _hull(parts: Iterable[Part]) -> Extent | None:
    found = [part.tokens for part in parts]
    return Extent(min(tokens.start for tokens in found), max(tokens.stop for tokens in found)) if found else None


def _touches(tokens: Extent, place: Extent) -> bool:
    if not tokens or not place:
        return place.start <= tokens.start <= place.stop and tokens.stop <= place.stop
    return tokens.start < place.stop and place.start < tokens.stop
