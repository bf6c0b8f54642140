"""A line of one row, such as the status, the screens' names, and the keys."""

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.strip import Strip

from shadowviz.tui.widgets.grounds import Grounded
from shadowviz.tui.widgets.look import Look


class OneLine(Grounded):
    """One row of segments; what does not fit is cut at the right."""

    DEFAULT_CSS = "OneLine { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._segments: tuple[Segment, ...] = ()
        self._drawn_for: tuple[object, ...] = ()
        self._strips: list[Strip] = []

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

    @property
    def lines(self) -> Sequence[Iterable[Segment]]:
        """The rows there are."""
        return (self._segments,)

    def drawn(self) -> Sequence[Strip]:
        drawn_for = (self.lines, self.size, self.ground)
        if drawn_for != self._drawn_for:
            width, height = self.size
            strips = [self.ground.line(line, width) for line in self.lines[:height]]
            self._drawn_for = drawn_for
            self._strips = strips + [self.ground.blank(width)] * (height - len(strips))
        return self._strips


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

    @property
    def lines(self) -> Sequence[Iterable[Segment]]:
        return self._lines
