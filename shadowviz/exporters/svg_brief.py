"""Boxes of the built-in tree picture, each in brief: for trees of so many nodes that every element counts."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, starmap

from shadowviz.diagrams.roles import UNKNOWN
from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import cell, in_brief, marks, presence, title
from shadowviz.exporters.svg_boxes import LEFT, NARROWEST_BOX, PAD, root_box
from shadowviz.exporters.svg_layers import Corners, Layers
from shadowviz.exporters.svg_parts import ADVANCE, fitted, text_of, width_of
from shadowviz.exporters.svg_shapes import CORNER, GAP_X, GAP_Y, Level, Shape, Shapes, Sizes, box_data

BOXES_A_PATH = 250
"""Neighbours whose shapes are parts of the same paths; more, and a browser draws far ones along with near ones."""
HEIGHT, CELL_HEIGHT, CELLS_TOP = 34, 12, 18
WORD_SIZE = 8


_Look = tuple[int, int]
"""Place of a cell among those of its box, and number of the pattern that shows it."""
_Run = tuple[int, int, int]
"""Number of a pattern, and the places [start, stop) at which it shows through."""


class _Cells(dict[KindRows, tuple[_Look, str]]):
    """Looks of rows and their words; worked out once for equal rows."""

    def __init__(self, shapes: Shapes, kinds: Sequence[str]) -> None:
        super().__init__()
        self._shapes = shapes
        self._places = {kind: place for place, kind in enumerate(kinds)}
        self._numbers: dict[object, int] = {}
        self.examples: list[dict[int, KindRows]] = []
        """For each pattern rows of each place that it shows."""

    def __missing__(self, row: KindRows) -> tuple[_Look, str]:
        key = self._shapes.cell_key(row)
        self._shapes.examples.setdefault(key, row)
        state = key[1:]
        number = self._numbers.setdefault(state, len(self._numbers))
        if number == len(self.examples):
            self.examples.append({})
        place = self._places[row.kind]
        self.examples[number].setdefault(place, row)
        words = text_of(f"{self._shapes.styles[row.kind].word} {cell(row)}")
        made = self[row] = (place, number), words
        return made


class BriefDrawing:
    """Draws the boxes of one diagram: an outline and a text each, all other shapes in layers that many share."""

    is_full = False

    def __init__(self, diagram: TreeDiagram, ground: Ground) -> None:
        self._diagram = diagram
        self.shapes = Shapes(diagram, ground)
        self.shapes.sizes = self.sizes = self._sizes()
        self._columns = int((self.sizes.width - LEFT - PAD) / (11 * ADVANCE))
        self._cells, self._layers = _Cells(self.shapes, diagram.kinds), Layers()
        self._frames: dict[object, tuple[str, Corners]] = {}
        self._strips: dict[tuple[_Look, ...], list[Corners]] = {}
        self._runs: dict[_Run, Corners] = {}
        self._origin: tuple[int, int] | None = None
        """Corner of the first of the boxes whose shapes are in the layers."""

    @property
    def definitions(self) -> str:
        """Cells of every kind in each of their states, as patterns that repeat from box to box."""
        step_x, step_y = self.sizes.width + GAP_X, self.sizes.height + GAP_Y
        looks = f'width="{step_x:.0f}" height="{step_y:.0f}" patternUnits="userSpaceOnUse"'
        return "\n".join(
            f'<pattern id="c{number}" {looks}>{"".join(starmap(self._cell, rows.items()))}</pattern>'
            for number, rows in enumerate(self._cells.examples)
        )

    def drawn(self, boxes: Sequence[Box], xs: Iterable[float], ys: Iterable[float]) -> Iterator[str]:
        """Boxes whose left upper corners are at these places, which are whole steps apart."""
        placed = zip(boxes, xs, ys, strict=True)
        while some := list(islice(placed, BOXES_A_PATH)):
            for box, x, y in some:
                yield self._box(box, round(x), round(y)) if box.node else root_box(self.shapes, box, x, y)
            left, top = self._origin or (0, 0)
            self._origin = None
            # Moved, because browsers place patterns a pixel off where figures are in the millions; and what lies upon
            # a box must not be in the way of pointing at it.
            looks = f'transform="translate({left} {top})" fill="none" pointer-events="none"'
            yield f"<g {looks}>{''.join(self._layers.paths())}</g>"

    def _box(self, box: Box, x: int, y: int) -> str:
        """The outline and the text of a box; its other shapes are put into the layers."""
        left, top = self._origin = self._origin or (x, y)
        frame = self.shapes.frame_key(box)
        looks, corners = self._frames.get(frame) or self._define_frame(frame, box)
        corner = f"M{x - left} {y - top}"
        corners.append(corner)
        cells = [self._cells[row] for row in box.rows]
        strip = tuple([look for look, _ in cells])
        for corners in self._strips.get(strip) or self._define_strip(strip):
            corners.append(corner)
        found = marks(box, self._diagram)
        words = title(box)
        glyphs = "".join([mark.style.glyph for mark in found])
        if len(words) + len(glyphs) >= self._columns:
            words = fitted(words, self._columns - len(glyphs) - 1)
        said = "\n".join([", ".join([words for _, words in cells]), *map(text_of, in_brief(box, found))])
        return (
            f'<g><title>{said}</title><rect x="{x}" y="{y}" {looks}/>'
            f'<text x="{x + LEFT}" y="{y + 14}">{words} {glyphs}</text></g>'
        )

    def _sizes(self) -> Sizes:
        words = (width_of(f"?{style.word}", WORD_SIZE) for style in self.shapes.styles.values())
        # Whole pixels: the words repeat by them.
        cell_width = math.ceil(max(words, default=0.0) + 10)
        width = max(NARROWEST_BOX, LEFT + PAD + len(self._diagram.kinds) * cell_width)
        return Sizes(width, HEIGHT, cell_width, CELL_HEIGHT)

    def _define_frame(self, frame: object, box: Box) -> tuple[str, Corners]:
        size = f'width="{self.sizes.width:.0f}" height="{self.sizes.height:.0f}" rx="{CORNER}"'
        looks = f"{size} {self.shapes.frame_looks(box)}"
        made = self._frames[frame] = looks, self._layers.part(self.shapes.marks(box))
        return made

    def _define_strip(self, looks: tuple[_Look, ...]) -> list[Corners]:
        """Where which of the patterns shows through, so that cells stand beside each other."""
        found = []
        # Beside each other: places that rise with the index.
        beside = groupby(enumerate(looks), lambda cell: (cell[1][1], cell[1][0] - cell[0]))
        for (pattern, before), some in beside:
            indices = [index for index, _ in some]
            run = (pattern, before + indices[0], before + indices[-1] + 1)
            if run not in self._runs:
                self._runs[run] = self._layers.part([self._run(*run)])
            found.append(self._runs[run])
        self._strips[looks] = found
        return found

    def _run(self, pattern: int, start: int, stop: int) -> Shape:
        data = box_data((stop - start) * self.sizes.cell_width, CELL_HEIGHT + 2)
        return Shape(Level.LINE, self._x(start) - 1, CELLS_TOP - 1, data, f'fill="url(#c{pattern})"')

    def _cell(self, place: int, row: KindRows) -> str:
        """Ground, gauge and word of a kind, at its place in a box."""
        x, there = self._x(place), presence(row)
        drawn = "".join(shape.path for shape in self.shapes.cell(row, x, CELLS_TOP))
        unknown, muted = "?" if there is UNKNOWN else "", ' class="m"' if there is None else ""
        words = text_of(f"{unknown}{self.shapes.styles[row.kind].word}")
        return f'{drawn}<text x="{x + 4:.0f}" y="{CELLS_TOP + 7.5}" font-size="{WORD_SIZE}"{muted}>{words}</text>'

    def _x(self, place: int) -> float:
        return LEFT + place * self.sizes.cell_width
