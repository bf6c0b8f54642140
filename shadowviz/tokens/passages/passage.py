"""Two prompts laid side by side, line by line: what the unified view, the two columns and the page show."""

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """What became of a piece of a line on the other side."""

    SAME = "same"
    CHANGED = "changed"
    """Other text stands in its place."""
    ALONE = "alone"
    """Nothing stands in its place."""
    RETOKENIZED = "retokenized"
    """The same text as other ids."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line with one mark."""

    text: str
    """Printable: whatever cannot be seen is written out, a line end as `\\n` or `\\r\\n`."""
    mark: Mark
    control: bool
    """Whether it is a control token."""
    ids: tuple[int, ...] = ()
    """Of the tokens that begin in it where it is RETOKENIZED, else empty."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a prompt, or a part of a very long one."""

    token: int
    """Index of the token in which it begins."""
    label: str
    """Of the segment in which it begins: `message 3 (tool result)`; empty where nothing is labelled."""
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of A beside the one of B that stands in its place; None where there is none."""

    a: Line | None
    b: Line | None

    @property
    def same(self) -> bool:
        """Whether both sides have the line, ids included."""
        return all(
            line is not None and all(piece.mark is Mark.SAME for piece in line.pieces) for line in (self.a, self.b)
        )


@dataclass(frozen=True, slots=True)
class Fold:
    """Equal lines that are not shown."""

    lines: int
    tokens: int
