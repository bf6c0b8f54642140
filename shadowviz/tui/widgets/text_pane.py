"""A pane of text: paragraphs wrapped to its width, scrolled by keys when it has the focus."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from shadowviz.tui.models.cells import steady, wrap
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.strips import strip_of


class Paragraph(msgspec.Struct, frozen=True):
    """Text of one ink behind a lead of another; further lines stand under the first."""

    text: str
    ink: Ink = Ink()
    lead: str = ""
    lead_ink: Ink = Ink()


class TextPane(ScrollView, can_focus=True):
    """Paragraphs; they are made harmless here, so they may come from anywhere."""

    DEFAULT_CSS = """
    TextPane { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    TextPane.-ascii { scrollbar-size-vertical: 0; }
    """

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
        self._lines: list[list[Segment]] = []
        self._laid_for = -1
        self._base: Ink | None = None

    @property
    def look(self) -> Look:
        """The app's."""
        look: Look = self.app.look  # type: ignore[attr-defined]
        return look

    def on_mount(self) -> None:
        self.set_class(self.look.ascii, "-ascii")

    def show(self, paragraphs: Sequence[Paragraph]) -> None:
        """Show other text; from its top, if it is about something else."""
        paragraphs = tuple(paragraphs)
        if paragraphs == self._paragraphs:
            return
        if _about(paragraphs) != _about(self._paragraphs):
            self.scroll_to(y=0, animate=False, immediate=True)
        self._paragraphs = paragraphs
        self._laid_for = -1
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
        width = self.scrollable_content_region.width
        if not width or width == self._laid_for:
            return
        self._laid_for = width
        self._lines = [line for part in self._paragraphs for line in _lines(part, width, self.look)]
        # Another size makes textual lay the whole screen out: what fits has one size, however long it is.
        self.virtual_size = Size(width, max(len(self._lines), self.scrollable_content_region.height))

    def render_lines(self, crop: Region) -> list[Strip]:
        self._lay_out()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        row, width = self.scroll_offset.y + y, self._laid_for
        if row >= len(self._lines):
            return Strip.blank(width, self._ground())
        return strip_of(self._lines[row], width, self._ground())

    def _ground(self) -> Ink:
        # To work it out takes longer than to draw a line.
        if self._base is None:
            self._base = self.rich_style
        return self._base

    def notify_style_update(self) -> None:
        self._base = None
        super().notify_style_update()


def _about(paragraphs: tuple[Paragraph, ...]) -> str:
    """What names the thing that paragraphs are about."""
    return paragraphs[0].lead or paragraphs[0].text if paragraphs else ""


def _lines(part: Paragraph, width: int, look: Look) -> list[list[Segment]]:
    lead = look.shown(part.lead)
    hang = min(cell_len(lead), width // 2)
    lines = wrap(look.shown(part.text), width - hang)
    first = [Segment(lead, part.lead_ink), Segment(lines[0], part.ink)]
    return [first, *([Segment(" " * hang), Segment(line, part.ink)] for line in lines[1:])]
