"""A line of one row, such as the status, the screens' names, and the keys."""

from collections.abc import Iterable

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.strips import strip_of


class OneLine(Widget):
    """One row of segments; what does not fit is cut at the right."""

    DEFAULT_CSS = "OneLine { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._segments: tuple[Segment, ...] = ()

    @property
    def look(self) -> Look:
        """The app's."""
        look: Look = self.app.look  # type: ignore[attr-defined]
        return look

    @property
    def text(self) -> str:
        """What is shown."""
        return "".join(segment.text for segment in self._segments)

    def show(self, segments: Iterable[Segment]) -> None:
        """Show another line."""
        segments = tuple(segments)
        if segments != self._segments:
            self._segments = segments
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return strip_of(self._segments if y == 0 else (), width, self.rich_style)


class FewLines(OneLine):
    """As many rows as there is something to say, perhaps none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[list[Segment]] = []

    @property
    def text(self) -> str:
        return "\n".join("".join(segment.text for segment in line) for line in self._lines)

    def show_lines(self, lines: list[list[Segment]]) -> None:
        """Show other rows."""
        if lines != self._lines:
            self._lines = lines
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
            self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        return strip_of(self._lines[y] if y < len(self._lines) else (), self.size.width, self.rich_style)
