"""Boxes of the built-in tree picture: in full for few nodes, in brief for many."""

from collections.abc import Iterator

from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import cell, in_brief, in_full, marks, name, title
from shadowviz.exporters.svg_parts import ADVANCE, fitted, text_of, width_of
from shadowviz.exporters.svg_symbols import HEAT_WIDTH, Sizes, Symbols
from shadowviz_engine.core.derive import Origin

FULL_MOST = 600
"""Boxes up to which each is drawn in full."""
PAD = 6
LEFT = HEAT_WIDTH + PAD
IN_A_ROW = 4
"""Cells beside each other in a full box."""
CELL_ROW = 23
ROOT_WIDTH = 54.0


class _Cells(dict[KindRows, tuple[str, str]]):
    """Name of the drawing of some rows, and their words; worked out once for equal rows."""

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self._symbols = symbols

    def __missing__(self, row: KindRows) -> tuple[str, str]:
        words = f"{self._symbols.styles[row.kind].word} {cell(row)}"
        made = self[row] = self._symbols.cell(row), text_of(words)
        return made


class BoxDrawing:
    """Draws the boxes of one diagram; `symbols` holds the parts that were used, once all are drawn."""

    def __init__(self, diagram: TreeDiagram, ground: Ground) -> None:
        self._diagram, self._ground = diagram, ground
        self.is_full = len(diagram.boxes) <= FULL_MOST
        self.symbols = Symbols(diagram, ground)
        self.symbols.sizes = self.sizes = self._sizes()
        self._columns = int((self.sizes.width - LEFT - PAD) / (11 * ADVANCE))
        self._cells = _Cells(self.symbols)

    def box(self, box: Box, x: float, y: float) -> str:
        """One box whose left upper corner is at a place."""
        if not box.node:
            return self._root(box, x, y)
        return self._in_full(box, x, y) if self.is_full else self._in_brief(box, x, y)

    def _sizes(self) -> Sizes:
        kinds, styles = self._diagram.kinds, self.symbols.styles
        if self.is_full:
            widest = max((self._cell_width(row) for box in self._diagram.boxes for row in box.rows), default=0.0)
            cell_width, cell_height = max(widest, 60.0) + 2 * PAD, 20
            beside, rows = min(len(kinds), IN_A_ROW), -(-len(kinds) // IN_A_ROW)
            height = 36 + CELL_ROW * rows + 18
        else:
            cell_width = max((width_of(f"?{style.word}", 8) for style in styles.values()), default=0.0) + 10
            beside, cell_height, height = len(kinds), 12, 34
        return Sizes(max(280.0, LEFT + PAD + beside * cell_width), height, cell_width, cell_height)

    def _cell_width(self, row: KindRows) -> float:
        words = f"{self.symbols.styles[row.kind].word} {cell(row)}"
        return width_of(words, 10) + (width_of(" assumed", 8) if row.origin is Origin.ASSUMED else 0)

    def _root(self, box: Box, x: float, y: float) -> str:
        top = y + self.sizes.height / 2 - 12
        frame = self.symbols.root(box)
        return (
            f'<use href="#{frame}" x="{x:.0f}" y="{top:.0f}"/>'
            f'<text x="{x + ROOT_WIDTH / 2:.0f}" y="{top + 16:.0f}" class="h c">{name(box.node)}</text>'
        )

    def _in_full(self, box: Box, x: float, y: float) -> str:
        columns = self._columns
        said = "\n".join(map(text_of, in_full(box, self._diagram, self.symbols.styles)))
        parts = [
            f'<g transform="translate({x:.0f} {y:.0f})"><title>{said}</title>',
            f'<use href="#{self.symbols.frame(box)}"/>',
            f'<text x="{LEFT}" y="15" class="h">{text_of(fitted(title(box), int(columns * 11 / 12)))}</text>',
            f'<text x="{LEFT}" y="30" class="m">{text_of(fitted(box.label, columns))}</text>',
        ]
        for place, row in enumerate(box.rows):
            at_x = LEFT + place % IN_A_ROW * self.sizes.cell_width
            at_y = 36 + place // IN_A_ROW * CELL_ROW
            parts.append(f'<use href="#{self.symbols.cell(row)}" x="{at_x:.1f}" y="{at_y}"/>')
            parts.append(self._count(row, at_x, at_y))
        parts += self._foot(box)
        parts.append("</g>\n")
        return "".join(parts)

    def _in_brief(self, box: Box, x: float, y: float) -> str:
        cells = [self._cells[row] for row in box.rows]
        strip = self.symbols.strip(tuple([name for name, _ in cells]))
        rows = ", ".join([words for _, words in cells])
        found = marks(box, self._diagram)
        words = title(box)
        glyphs = "".join([mark.style.glyph for mark in found])
        if len(words) + len(glyphs) >= self._columns:
            words = fitted(words, self._columns - len(glyphs) - 1)
        said = "\n".join([rows, *map(text_of, in_brief(box, found))])
        return (
            f'<g transform="translate({x:.0f} {y:.0f})"><title>{said}</title><use href="#{self.symbols.frame(box)}"/>'
            f'<text x="{LEFT}" y="14">{words} {glyphs}</text><use href="#{strip}" x="{LEFT}" y="18"/></g>\n'
        )

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
