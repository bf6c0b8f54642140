"""A pane of text: paragraphs wrapped to its width, scrolled by keys when it has the focus."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from shadowviz.tui.models.cells import steady, wrap
from shadowviz.tui.widgets.bar import BarredView
from shadowviz.tui.widgets.look import Look

Line = list[Segment]


class Paragraph(msgspec.Struct, frozen=True):
    """Text of one ink behind a lead of another; further lines stand under the first."""

    text: str
    ink: Ink = Ink()
    lead: str = ""
    lead_ink: Ink = Ink()


class TextPane(BarredView):
    """Paragraphs; they are made harmless here, so they may come from anywhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll(-1)", "up", show=False, id="pane.up"),
        Binding("down,j", "scroll(1)", "down", show=False, id="pane.down"),
        Binding("pageup,ctrl+b", "scroll(-10)", "page up", show=False, id="pane.page-up"),
        Binding("pagedown,ctrl+f", "scroll(10)", "page down", show=False, id="pane.page-down"),
        Binding("home,g", "scroll(-1000000)", "top", show=False, id="pane.top"),
        Binding("end,G", "scroll(1000000)", "bottom", show=False, id="pane.bottom"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._paragraphs: tuple[Paragraph, ...] = ()
        self._lines: list[Line] = []
        self._laid: dict[Paragraph, list[Line]] = {}
        self._laid_for: tuple[int, Look | None] = (0, None)
        self._frame: list[Strip] = []
        """All that is drawn but the text."""
        self._strips: dict[int, tuple[Line, Strip]] = {}
        """Lines of the text that were seen, and with what is beside them as they were drawn."""
        self._drawn_for: tuple[object, ...] = ()

    def show(self, paragraphs: Sequence[Paragraph]) -> None:
        """Show other text; from its top, if it is about something else."""
        paragraphs = tuple(paragraphs)
        if paragraphs == self._paragraphs:
            return
        if _about(paragraphs) != _about(self._paragraphs):
            self.scroll_to(y=0, animate=False, immediate=True)
        self._paragraphs = paragraphs
        before = self._lines
        self._lay_out()
        num = max(len(before), len(self._lines))
        other = [row for row in range(num) if before[row : row + 1] != self._lines[row : row + 1]]
        if other:
            # Every region of its own costs a look at all that the screen shows.
            self.refresh_lines(other[0], other[-1] + 1 - other[0])

    @property
    def text(self) -> str:
        """What is shown, unwrapped."""
        return "\n".join(steady(part.lead + part.text) for part in self._paragraphs)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.scroll_to(y=max(0, self.scroll_offset.y + by), animate=False, immediate=True)

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width, look = self.scrollable_content_region.width, self.look
        if not width:
            return
        if self._laid_for != (width, look):
            self._laid_for = (width, look)
            self._laid.clear()
        laid = self._laid
        self._laid = {part: laid.get(part) or _lines(part, width, look) for part in self._paragraphs}
        self._lines = [line for part in self._paragraphs for line in self._laid[part]]
        # Another size makes textual lay the whole screen out: what fits has one size, however long it is.
        self.virtual_size = Size(width, max(len(self._lines), self.scrollable_content_region.height))

    def drawn(self) -> Sequence[Strip]:
        """The frame, and in it the lines that are seen."""
        if self._laid_for != (self.scrollable_content_region.width, self.look):
            self._lay_out()
        drawn_for = (self.outer_size, self._laid_for, self.ground)
        if drawn_for != self._drawn_for:
            self._drawn_for = drawn_for
            self._frame = ScrollView.render_lines(self, self.outer_size.region)
            self._strips.clear()
        first, top = self.styles.gutter.top, self.scroll_offset.y
        strips, stop = self._frame.copy(), min(top + self.scrollable_content_region.height, len(self._lines))
        for y, row in enumerate(range(top, stop), first):
            strips[y] = self._line_strip(row)
        return strips

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - all lines of the frame are alike
        return Strip.blank(self.scrollable_content_region.width, self.ground.ink)

    def _line_strip(self, row: int) -> Strip:
        line, known = self._lines[row], self._strips.get(row)
        if known is not None and known[0] is line:
            return known[1]
        frame, before = self._frame[self.styles.gutter.top], self.styles.gutter.left
        text = self.ground.line(line, self._laid_for[0])
        behind = before + text.cell_length
        strip = Strip.join([frame.crop(0, before), text, frame.crop(behind, frame.cell_length)])
        self._strips[row] = (line, strip)
        return strip


def _about(paragraphs: tuple[Paragraph, ...]) -> str:
    """What names the thing that paragraphs are about."""
    return paragraphs[0].lead or paragraphs[0].text if paragraphs else ""


def _lines(part: Paragraph, width: int, look: Look) -> list[list[Segment]]:
    lead = look.shown(part.lead)
    hang = min(cell_len(lead), width // 2)
    lines = wrap(look.shown(part.text), width - hang)
    first = [Segment(lead, part.lead_ink), Segment(lines[0], part.ink)]
    return [first, *([Segment(" " * hang), Segment(line, part.ink)] for line in lines[1:])]
