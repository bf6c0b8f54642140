"""The bar at the right of rows: made of few pieces, and drawn anew only where it looks other than before."""

from collections.abc import Sequence
from math import ceil

from rich.color import Color
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from shadowviz.tui.widgets.grounds import Grounded
from shadowviz.tui.widgets.look import Look

STEPS = 8
"""Heights of an end of the thumb within one cell."""


class Bar(ScrollBar, Grounded):
    """A scroll bar that looks and works as textual's. At a million rows nearly every step leaves it as it is."""

    position: Reactive[float] = Reactive(0.0, repaint=False)
    window_virtual_size: Reactive[int] = Reactive(100, repaint=False)

    def __init__(self, vertical: bool = True, name: str | None = None, *, thickness: int = 1) -> None:
        super().__init__(vertical, name, thickness=thickness)
        self._drawn_for: tuple[object, ...] = ()
        self._strips: list[Strip] = []

    def watch_position(self) -> None:
        """Draw it anew if the thumb is elsewhere."""
        self._refresh_if_other()

    def watch_window_virtual_size(self) -> None:
        """Draw it anew if the thumb is longer or shorter."""
        self._refresh_if_other()

    def _refresh_if_other(self) -> None:
        if self._drawn_for[:1] != (self._thumb(),):
            self.refresh()

    def _thumb(self) -> tuple[int, int]:
        """Where the thumb begins and how long it is, in steps; a length of 0 = there is none."""
        height, window, whole = self.size.height, self.window_size, self.window_virtual_size
        if not window or not height or whole <= window:
            return (0, 0)
        length = max(1.0, window * height / whole)
        return (int((height - length) * self.position / (whole - window) * STEPS), ceil(length * STEPS))

    def drawn(self) -> Sequence[Strip]:
        bar = self.render()
        assert isinstance(bar, ScrollBarRender), "the class of all bars"
        drawn_for = (self._thumb(), self.size, bar.style, self.ground)
        if drawn_for != self._drawn_for:
            self._drawn_for = drawn_for
            self._strips = self._draw(bar)
        return self._strips

    def _draw(self, bar: ScrollBarRender) -> list[Strip]:
        style, strips = self.app.console.get_style(bar.style), dict[int, Strip]()
        drawn = bar.render_bar(
            size=self.size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=bar.thickness,
            back_color=style.bgcolor or Color.default(),
            bar_color=style.color or Color.default(),
        )
        # One piece stands in many rows.
        for piece in drawn.segments:
            if id(piece) not in strips:
                strips[id(piece)] = self.ground.filtered(Strip([piece], self.size.width))
        return [strips[id(piece)] for piece in drawn.segments]


class BarredView(ScrollView, Grounded, can_focus=True):
    """Rows with a bar of ours at their right, where a terminal draws more than ASCII."""

    DEFAULT_CSS = """
    BarredView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    BarredView.-ascii { scrollbar-size-vertical: 0; }
    """

    @property
    def look(self) -> Look:
        """The app's."""
        look: Look = self.app.look  # type: ignore[attr-defined]
        return look

    def on_mount(self) -> None:
        self.set_class(self.look.ascii, "-ascii")

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            bar = self._vertical_scrollbar = Bar(name="vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar
