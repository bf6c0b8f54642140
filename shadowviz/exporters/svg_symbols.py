"""Parts of boxes that boxes drawn in full share, a frame or a cell: each is defined once and used by its name."""

from collections.abc import Callable, Iterable, Iterator

from shadowviz.diagrams.tree import Box, KindRows
from shadowviz.exporters.box_words import presence
from shadowviz.exporters.svg_parts import text_of
from shadowviz.exporters.svg_shapes import Shape, Shapes, outline


class Symbols:
    """Names of parts by what they show; `definitions` are those that were asked for."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._names: dict[object, str] = {}
        self._made: list[str] = []

    @property
    def definitions(self) -> str:
        """All parts that were asked for, in that order."""
        return "\n".join(self._made)

    def frame(self, box: Box) -> str:
        """Outline, ground and marks of a box."""
        return self._name(self._shapes.frame_key(box), "f", lambda: _paths(self._frame(box)))

    def cell(self, row: KindRows) -> str:
        """Ground, gauge and word of a kind."""
        return self._name(self._shapes.cell_key(row), "c", lambda: self._cell(row))

    def _name(self, key: object, prefix: str, content: Callable[[], Iterable[str]]) -> str:
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = f"{prefix}{len(self._names)}"
            self._made.append(f'<g id="{known}">{"".join(content())}</g>')
        return known

    def _frame(self, box: Box) -> Iterator[Shape]:
        shapes = self._shapes
        yield outline(0, shapes.sizes.width, shapes.sizes.height, shapes.frame_looks(box))
        yield from shapes.marks(box)

    def _cell(self, row: KindRows) -> Iterator[str]:
        yield from _paths(self._shapes.cell(row, 0, 0))
        muted = ' class="m"' if presence(row) is None else ""
        yield f'<text x="4" y="12" font-size="10"{muted}>{text_of(self._shapes.styles[row.kind].word)}</text>'


def _paths(shapes: Iterable[Shape]) -> Iterator[str]:
    for shape in shapes:
        yield shape.path
