"""A differing stretch of two texts, and the two texts around it."""

from collections.abc import Callable
from typing import NamedTuple

from shadowviz.tokens.common import common_beginning
from shadowviz.tokens.finding import Cause


class Stretch(NamedTuple):
    """Characters [start, stop) of a text; empty where something is missing."""

    text: str
    start: int
    stop: int

    @property
    def found(self) -> str:
        """The characters themselves."""
        return self.text[self.start : self.stop]

    @property
    def before(self) -> str:
        """The character on the left; empty at the beginning of the text."""
        return self.text[self.start - 1] if self.start else ""

    @property
    def behind(self) -> str:
        """The character on the right; empty at the end of the text."""
        return self.text[self.stop : self.stop + 1]

    def grown(self, belongs: Callable[[str], bool], most: int = 256) -> "Stretch":
        """With the characters on both sides that belong to it, at most `most` on each."""
        start, stop = self.start, self.stop
        first, last = max(0, start - most), min(len(self.text), stop + most)
        while start > first and belongs(self.text[start - 1]):
            start -= 1
        while stop < last and belongs(self.text[stop]):
            stop += 1
        return Stretch(self.text, start, stop)

    def holds(self, inner: "Stretch") -> bool:
        """Whether it covers another stretch of the same text."""
        return self.start <= inner.start and inner.stop <= self.stop

    def line(self, most: int = 2000) -> "Stretch":
        """The whole lines in which it lies, at most `most` characters more on each side."""
        first, last = max(0, self.start - most), min(len(self.text), self.stop + most)
        stop = self.text.find("\n", self.stop, last)
        return Stretch(self.text, max(first, self.text.rfind("\n", first, self.start) + 1), stop if stop >= 0 else last)


class Edit(NamedTuple):
    """What stands in A and in B between the same two places."""

    a: Stretch
    b: Stretch

    def grown(self, belongs: Callable[[str], bool], most: int = 256) -> "Edit":
        """Both sides grown."""
        return Edit(self.a.grown(belongs, most), self.b.grown(belongs, most))

    def widened(self, left: int, right: int) -> "Edit":
        """With as many characters more on both sides, as far as there are."""
        return Edit(*(Stretch(s.text, max(0, s.start - left), min(len(s.text), s.stop + right)) for s in self))

    def trimmed(self) -> "Edit":
        """Without what both sides begin and end with."""
        left, right = common_ends(self.a.found, self.b.found)
        return Edit(*(Stretch(s.text, s.start + left, s.stop - right) for s in self))


class Named(NamedTuple):
    """A cause and the stretches that show it, grown to the whole number, word or line."""

    cause: Cause
    edit: Edit
    subject: str = ""


Judge = Callable[[Edit], Named | None]


def common_ends(a: str, b: str) -> tuple[int, int]:
    """Length of what two texts begin with, and of what the rests end with."""
    left = common_beginning(a, b)
    return left, common_beginning(a[left:][::-1], b[left:][::-1])
