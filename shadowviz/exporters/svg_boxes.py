"""Boxes of the built-in tree picture, each in full: for trees of few nodes."""

from collections.abc import Iterable, Iterator, Sequence

from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import cell, in_full, marks, name, title
from shadowviz.exporters.svg_parts import ADVANCE, fitted, text_of, width_of
from shadowviz.exporters.svg_shapes import HEAT_WIDTH, ROOT_WIDTH, Shapes, Sizes
from shadowviz.exporters.svg_symbols import Symbols
from shadowviz_engine.core.derive import Origin

FULL_MOST = 600
"""Boxes up to which each is drawn in full."""
NARROWEST_BOX = 280.0
PAD = 6
LEFT = HEAT_WIDTH + PAD
IN_A_ROW = 4
"""Cells beside each other in a full box."""
CELL_ROW = 23


class BoxDrawing:
    """Draws the boxes of one diagram; `definitions` are the parts that were used, once all are drawn."""

    is_full = True

    def __init__(self, diagram: TreeDiagram, ground: Ground) -> None:
        self._diagram, self._ground = diagram, ground
        self.shapes = Shapes(diagram, ground)
        self.shapes.sizes = self.sizes = self._sizes()
        self._symbols = Symbols(self.shapes)
        self._columns = int((self.sizes.width - LEFT - PAD) / (11 * ADVANCE))

    @property
    def definitions(self) -> str:
        """What the boxes refer to."""
        return self._symbols.definitions

    def drawn(self, boxes: Sequence[Box], xs: Iterable[float], ys: Iterable[float]) -> Iterator[str]:
        """Boxes whose left upper corners are at these places."""
        return map(self.box, boxes, xs, ys)

    def box(self, box: Box, x: float, y: float) -> str:
        """One box whose left upper corner is at a place."""
        return self._in_full(box, x, y) if box.node else root_box(self.shapes, box, x, y)

    def _sizes(self) -> Sizes:
        widest = max((self._cell_width(row) for box in self._diagram.boxes for row in box.rows), default=0.0)
        cell_width, num = max(widest, 60.0) + 2 * PAD, len(self._diagram.kinds)
        height = 36 + CELL_ROW * -(-num // IN_A_ROW) + 18
        return Sizes(max(NARROWEST_BOX, LEFT + PAD + min(num, IN_A_ROW) * cell_width), height, cell_width, 20)

    def _cell_width(self, row: KindRows) -> float:
        words = f"{self.shapes.styles[row.kind].word} {cell(row)}"
        return width_of(words, 10) + (width_of(" assumed", 8) if row.origin is Origin.ASSUMED else 0)

    def _in_full(self, box: Box, x: float, y: float) -> str:
        columns = self._columns
        said = "\n".join(map(text_of, in_full(box, self._diagram, self.shapes.styles)))
        parts = [
            f'<g transform="translate({x:.0f} {y:.0f})"><title>{said}</title>',
            f'<use href="#{self._symbols.frame(box)}"/>',
            f'<text x="{LEFT}" y="15" class="h">{text_of(fitted(title(box), int(columns * 11 / 12)))}</text>',
            f'<text x="{LEFT}" y="30" class="m">{text_of(fitted(box.label, columns))}</text>',
        ]
        for place, row in enumerate(box.rows):
            at_x = LEFT + place % IN_A_ROW * self.sizes.cell_width
            at_y = 36 + place // IN_A_ROW * CELL_ROW
            parts.append(f'<use href="#{self._symbols.cell(row)}" x="{at_x:.1f}" y="{at_y}"/>')
            parts.append(self._count(row, at_x, at_y))
        parts += self._foot(box)
        parts.append("</g>\n")
        return "".join(parts)

    def _count(self, row: KindRows, x: float, y: float) -> str:
        right = x + self.sizes.cell_width - PAD - 1
        looks = ' font-style="italic"' if row.origin is Origin.DERIVED else ""
        assumed = ""
        if row.origin is Origin.ASSUMED:
            assumed = f'<text x="{right:.1f}" y="{y + 12}" font-size="8" class="e m">assumed</text>'
            right -= width_of(" assumed", 8)
        return f'<text x="{right:.1f}" y="{y + 12}" class="s e"{looks}>{cell(row)}</text>{assumed}'

    def _foot(self, box: Box) -> Iterator[str]:
        """Marks, each a text of its own, as many as there is room for."""
        room, x, y = self._columns * 11 * ADVANCE, float(LEFT), self.sizes.height - 7
        for mark in marks(box, self._diagram):
            words = fitted(f"{mark.style.glyph} {mark.text}", int(room / (10 * ADVANCE)))
            if len(words) < 4:
                return
            glyph = f'<tspan style="fill:{mark.style.paint(self._ground).stroke}">{text_of(words[:1])}</tspan>'
            yield f'<text x="{x:.1f}" y="{y:.1f}" class="s">{glyph}{text_of(words[1:])}</text>'
            taken = width_of(words, 10) + 12
            x, room = x + taken, room - taken


def root_box(shapes: Shapes, box: Box, x: float, y: float) -> str:
    """The root of the whole tree, half way down its row."""
    top = y + shapes.sizes.height / 2 - 12
    return (
        f'<g transform="translate({x:.0f} {top:.0f})">{shapes.root(box).path}'
        f'<text x="{ROOT_WIDTH / 2:.0f}" y="16" class="h c">{name(box.node)}</text></g>'
    )
