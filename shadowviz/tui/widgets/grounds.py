"""What the lines of a part lie on: worked out once for all of them, as that takes longer than to draw a line."""

from collections.abc import Iterable, Sequence

import msgspec
from rich.segment import Segment
from rich.style import Style as Ink
from textual.color import Color
from textual.containers import Container
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from shadowviz.tui.widgets.strips import strip_of


class Ground(msgspec.Struct, frozen=True, eq=False):
    """An ink under all others, and what becomes of lines before the terminal gets them."""

    ink: Ink
    color: Color
    filters: tuple[LineFilter, ...]

    def line(self, segments: Iterable[Segment], width: int) -> Strip:
        """Segments in exactly `width` cells."""
        return self.filtered(strip_of(segments, width, self.ink))

    def blank(self, width: int) -> Strip:
        """Nothing, in `width` cells."""
        return self.filtered(Strip.blank(width, self.ink))

    def filtered(self, strip: Strip) -> Strip:
        """A strip as the terminal gets it, such as without colours."""
        for line_filter in self.filters:
            strip = strip.apply_filter(line_filter, self.color)
        return strip


class Grounded(Widget):
    """Knows its ground, and is nothing but that where a subclass does not say what its lines are."""

    _ground: Ground | None = None

    @property
    def ground(self) -> Ground:
        """Another one after every change of the part's style."""
        if self._ground is None:
            self._ground = Ground(self.rich_style, self.background_colors[1], tuple(self.get_line_filters()))
        return self._ground

    def notify_style_update(self) -> None:
        self._ground = None
        super().notify_style_update()

    def drawn(self) -> Sequence[Strip]:
        """All lines of the part, as they are now."""
        width, height = self.outer_size
        return [self.ground.blank(width)] * height

    def render_lines(self, crop: Region) -> list[Strip]:
        strips, columns = list(self.drawn()[crop.y : crop.bottom]), crop.column_span
        return strips if columns == (0, self.outer_size.width) else [strip.crop(*columns) for strip in strips]


class Pane(Container, Grounded):
    """Parts beside or below each other; it has no border and no padding."""
