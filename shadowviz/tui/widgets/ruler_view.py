"""The ruler on the screen: its rows, and a cursor on a token."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from shadowviz.tui.models.ruler_place import SPELLED, SPELLED_CELLS, RulerPlace
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.ruler_rows import LABEL, RulerRows


class RulerView(LineView):
    """Rows of the ruler, and a cursor on a token."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "token(-1)", "a cell left", show=False, id="ruler.left"),
        Binding("right,l", "token(1)", "a cell right", show=False, id="ruler.right"),
        Binding("pageup,ctrl+b", "page_tokens(-1)", "a page left", show=False, id="ruler.page-left"),
        Binding("pagedown,ctrl+f", "page_tokens(1)", "a page right", show=False, id="ruler.page-right"),
        Binding("home,g", "edge(0)", "first token", show=False, id="ruler.first"),
        Binding("end,G", "edge(1)", "last token", show=False, id="ruler.last"),
    ]

    class TokenMoved(Message):
        """The cursor is on another token."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: RulerRows | None = None
        self.place = RulerPlace()
        self.told_token: Callable[[int], None] | None = None
        """Called at once when the cursor is on another token; the message comes later, and a key may come before it."""

    @property
    def ruler_width(self) -> int:
        """Columns that tokens have."""
        return max(1, self.scrollable_content_region.width - 2 - LABEL)

    def num_rows(self) -> int:
        return len(self.rows.rows) if self.rows is not None else 0

    def draw_row(self, row: int, width: int) -> Line:
        assert self.rows is not None, "without rows none is drawn"
        return self.rows.draw(row, width)

    def go_to_token(self, token: int) -> None:
        """Put the cursor on a token."""
        if self.rows is not None:
            self.place.move(token, self.rows.shown.model.length, self.ruler_width)
            self._tell()

    def action_token(self, by: int) -> None:
        """Move by cells."""
        self.go_to_token((self.place.token // self.place.per_cell + by) * self.place.per_cell)

    def action_page_tokens(self, by: int) -> None:
        """Move by what is seen."""
        self.action_token(by * self.place.num_cells(self.ruler_width))

    def action_edge(self, at_end: int) -> None:
        """Move to the first token, or behind the last."""
        if self.rows is not None:
            self.go_to_token(self.rows.shown.model.length * at_end)

    def action_rescale(self, step: int) -> None:
        """More tokens a cell, or fewer."""
        if self.rows is not None:
            self.place.rescale(step, self.rows.shown.model.length, self.ruler_width)
            self._tell()

    def _tell(self) -> None:
        if self.told_token is not None:
            self.told_token(self.place.token)
        self.post_message(self.TokenMoved())

    def on_click(self, event: object) -> None:
        super().on_click(event)
        cell = int(getattr(event, "x", 0)) - 2 - LABEL
        if cell >= 0:
            group = SPELLED_CELLS if self.place.zoom == SPELLED else 1
            self.go_to_token(self.place.first + cell // group * self.place.per_cell)
