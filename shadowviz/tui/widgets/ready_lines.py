"""A list of a few lines that are worked out beforehand; some of them can be entered."""

from collections.abc import Sequence

import msgspec
from rich.segment import Segment

from shadowviz.tui.models.cells import clip
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look


class ReadyLine(msgspec.Struct, frozen=True):
    """One line, and what it stands for."""

    segments: tuple[Segment, ...]
    target: int = 0
    """What Enter leads to; 0 = nothing."""
    about: str = ""
    """What the inspector says of it."""

    @property
    def text(self) -> str:
        """The line without its inks."""
        return "".join(segment.text for segment in self.segments)


def clipped(line: ReadyLine, width: int, look: Look) -> Line:
    """A line in at most `width` cells; a sign says where it was cut."""
    left, segments = width, list[Segment]()
    for segment in line.segments:
        text = clip(segment.text, left, look.pick("…", "~"))
        segments.append(Segment(text, segment.style))
        left -= len(text)
        if left <= 0 or text != segment.text:
            break
    return segments


class ReadyLines(LineView):
    """Lines that are there already."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[ReadyLine] = ()

    def show(self, lines: Sequence[ReadyLine]) -> None:
        """Show other lines; the cursor stays in its row."""
        self.lines = lines
        self.rows_changed()

    def num_rows(self) -> int:
        return len(self.lines)

    def draw_row(self, row: int, width: int) -> Line:
        return clipped(self.lines[row], width, self.look)

    @property
    def target(self) -> int:
        """What the line at the cursor stands for; 0 = nothing."""
        return self.lines[self.cursor].target if self.cursor < len(self.lines) else 0

    @property
    def about(self) -> str:
        """What is to be said of the line at the cursor."""
        return self.lines[self.cursor].about if self.cursor < len(self.lines) else ""
