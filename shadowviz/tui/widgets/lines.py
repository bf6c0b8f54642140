"""Rows of any number, drawn line by line: only what is seen is worked out."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from shadowviz.tui.widgets.bar import BarredView
from shadowviz.tui.widgets.grounds import Grounded
from shadowviz.tui.widgets.strips import strip_of
from shadowviz_engine.core.errors import LogError

Line = list[Segment]

MAX_STRIPS = 1024
"""Lines that are kept as drawn."""


class LineView(BarredView):
    """A list over rows that a subclass counts and draws; it has a cursor, and keeps what it has drawn.

    A subclass gives `num_rows` and `draw_row`, and calls `rows_changed` when either has changed.
    """

    DEFAULT_CSS = """
    LineView { height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False, id="row.up", group=None),
        Binding("down,j", "move(1)", "down", show=False, id="row.down"),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False, id="page.up"),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False, id="page.down"),
        Binding("ctrl+u", "page(-0.5)", "half a page up", show=False, id="page.half-up"),
        Binding("ctrl+d", "page(0.5)", "half a page down", show=False, id="page.half-down"),
        Binding("home,g", "first", "first row", show=False, id="row.first"),
        Binding("end,G", "last", "last row", show=False, id="row.last"),
    ]

    class Moved(Message, bubble=False):
        """The cursor is in another row."""

        def __init__(self, view: "LineView", row: int) -> None:
            super().__init__()
            self.view, self.row = view, row

        @property
        def control(self) -> "LineView":
            """The list."""
            return self.view

    class Entered(Moved, bubble=False):
        """A row was clicked that the cursor was in already."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0
        """Row that the cursor is in."""
        self.told: Callable[[int], None] | None = None
        """Called at once when the cursor has moved; the message comes later, and a tick may come before it."""
        self._first: int | None = None
        """Row that is to be seen first."""
        self._strips: dict[tuple[int, bool], Strip] = {}
        self._width = self._outer = 0
        """Cells of a row, and with the bar at its right."""

    def num_rows(self) -> int:
        """Rows that there are."""
        raise NotImplementedError

    def draw_row(self, row: int, width: int) -> Line:
        """One row in at most `width` cells, the mark of the cursor left out."""
        raise NotImplementedError

    def before_drawing(self, first: int, num_rows: int) -> None:
        """Told before rows are drawn which of them are seen, so that they can be worked out together."""

    def rows_changed(self) -> None:
        """Draw everything anew, with the cursor in a row that there is."""
        self._strips.clear()
        num = self.num_rows()
        self.cursor = max(0, min(self.cursor, num - 1))
        self._set_height(num)
        self.refresh()

    def _set_height(self, num: int) -> None:
        before, shown = self.virtual_size.height, self.page_rows
        if before == num:
            return
        size = Size(self.size.width, num)
        if min(before, num) <= shown:
            self.virtual_size = size
            return
        # To set it makes textual lay the whole screen out, for which there is no need while the bar stays.
        self.set_reactive(LineView.virtual_size, size)
        self.vertical_scrollbar.window_virtual_size = num
        self.scroll_y = min(self.scroll_y, self.max_scroll_y)

    def move_to(self, row: int, *, tell: bool = True) -> None:
        """Put the cursor in a row, and scroll so that it is seen."""
        row = max(0, min(row, self.num_rows() - 1))
        before, self.cursor, self._first = self.cursor, row, None
        if before != row:
            self.refresh_line(before)
            self.refresh_line(row)
        self.show_row(row)
        if tell and before != row:
            if self.told is not None:
                self.told(row)
            self.tell_screen(self.Moved(self, row))

    def tell_screen(self, message: Message) -> None:
        """Send a message straight to the screen, so that what it changes is drawn together with the rows."""
        self.screen.post_message(message)

    def show_row(self, row: int) -> None:
        """Scroll as little as is needed to see a row."""
        top, height = self.scroll_offset.y, self.page_rows
        if row < top:
            self._scroll_to_row(row)
        elif row >= top + height:
            self._scroll_to_row(row - height + 1)

    def show_from(self, row: int) -> None:
        """Scroll so that a row is the first one that is seen, however high the view is, until the cursor moves."""
        self._first = max(0, row)
        self._scroll_to_row(self._first)

    def on_resize(self) -> None:
        """The row that was to be seen first is, if there are rows enough below it."""
        if self._first is not None:
            self._scroll_to_row(self._first)

    @property
    def page_rows(self) -> int:
        """Rows that are seen at once."""
        return max(1, self.scrollable_content_region.height)

    def _scroll_to_row(self, row: int) -> None:
        self.scroll_to(y=row, animate=False, immediate=True, force=True)

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.move_to(self.cursor + by)

    def action_page(self, by: float) -> None:
        """Move cursor and view by pages."""
        step = int(by * self.page_rows) or (1 if by > 0 else -1)
        top = max(0, min(self.scroll_offset.y + step, self.num_rows() - self.page_rows))
        self._scroll_to_row(top)
        self.move_to(self.cursor + step)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self.move_to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self.move_to(self.num_rows() - 1)

    def drawn(self) -> Sequence[Strip]:
        """The rows that are seen, each drawn once for all updates of the screen until `rows_changed`."""
        top, height = self.scroll_offset.y, self.page_rows
        self._measure()
        self.before_drawing(top, height)
        return [self._row_strip(row) for row in range(top, top + height)]

    def render_lines(self, crop: Region) -> list[Strip]:
        # With something around them the rows are not all that there is to draw.
        return (ScrollView if self.styles.gutter else Grounded).render_lines(self, crop)

    def render_line(self, y: int) -> Strip:
        self._measure()
        return self._row_strip(self.scroll_offset.y + y)

    def _measure(self) -> None:
        widths = self.scrollable_content_region.width, self.size.width
        if widths != (self._width, self._outer):
            self._width, self._outer = widths
            self._strips.clear()

    def _row_strip(self, row: int) -> Strip:
        key = (row, row == self.cursor)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) >= MAX_STRIPS:
                self._strips.clear()
            strip = self._strips[key] = self.ground.filtered(self._strip(*key))
        return strip

    def _strip(self, row: int, at_cursor: bool) -> Strip:
        # A bar at the right lies over the end of the row.
        width = max(self._width, self._outer)
        if row >= self.num_rows():
            return Strip.blank(width, self.ground.ink)
        look = self.look
        mark = Segment("> " if at_cursor else "  ", look.title)
        base = self.ground.ink
        # What is drawn over the cursor keeps its own colour.
        ground = base + look.cursor if at_cursor else base
        return strip_of([mark, *self._drawn(row, max(0, self._width - 2))], width, ground)

    def _drawn(self, row: int, width: int) -> Line:
        try:
            return self.draw_row(row, width)
        except LogError:
            # The head of the screen tells what has become of the log.
            return [Segment("what stood here cannot be read any more"[:width], self.look.muted)]

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    def on_click(self, event: object) -> None:
        row = self.scroll_offset.y + int(getattr(event, "y", 0))
        if 0 <= row < self.num_rows():
            if row == self.cursor:
                self.tell_screen(self.Entered(self, row))
            self.move_to(row)
