"""Tables as SVG: what changed, the lookups of a run, and its memory, with a bar a line."""

from collections.abc import Iterator
from typing import Final

from shadowviz.diagrams.changes import ChangesDiagram
from shadowviz.diagrams.lookups import LookupsDiagram
from shadowviz.diagrams.memory import MemoryDiagram
from shadowviz.diagrams.theme import GROUNDS, Ground, Pattern
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_frame import area_entry, caption_block, glyph_entry, legend_block, paragraph
from shadowviz.exporters.svg_parts import (
    MARGIN,
    area,
    columns_of,
    dashes,
    document,
    fitted,
    ground_of,
    patterns,
    text_of,
    width_of,
)
from shadowviz.exporters.table_changes import changes_table
from shadowviz.exporters.table_lookups import lookups_table
from shadowviz.exporters.table_memory import memory_table
from shadowviz.exporters.tables import Part, Table, filled
from shadowviz.tokens.inert import shorten

ROW: Final = 18
BAR: Final = 220.0
GAP: Final = 16.0
GLYPH: Final = 16.0
SIZE: Final = 11
MAX_CELL: Final = 400
"""Characters of a cell that a reader sees who points at its line."""


def render_changes(diagram: ChangesDiagram, look: Look = LIGHT) -> Drawing:
    """What differs between two trees."""
    return Drawing(draw_table(filled(changes_table(diagram)), look))


def render_lookups(diagram: LookupsDiagram, look: Look = LIGHT) -> Drawing:
    """The lookups of a run."""
    return Drawing(draw_table(filled(lookups_table(diagram)), look))


def render_memory(diagram: MemoryDiagram, look: Look = LIGHT) -> Drawing:
    """Bytes by kind, and the nodes that hold most."""
    return Drawing(draw_table(filled(memory_table(diagram)), look))


def draw_table(table: Table, look: Look) -> bytes:
    """The picture; the same bytes for the same table and look."""
    ground = ground_of(look)
    grid = _Grid(table)
    caption = caption_block(table.caption, grid.width, ground)
    body, y = [*caption.lines], caption.height + 6
    if table.lines:
        body += _head(table, grid, y)
        y += ROW + 4
    else:
        body.append(f'<text x="{MARGIN}" y="{y + 13:.1f}">{text_of(table.empty)}</text>')
        y += ROW
    for place in range(len(table.lines)):
        body += _line(place, table, grid, y, ground)
        y += ROW
    y += 8
    for sentence in table.sums:
        told = paragraph(sentence, y, grid.width)
        body += told.lines
        y = told.height
    entries = [glyph_entry(style, ground) for style in table.glyphs]
    entries += [area_entry(style, ground) for style in table.styles]
    legend = legend_block(entries, y + 14, grid.width)
    styles = [*table.styles, *(part.style for line in table.lines for part in line.parts)]
    height = y + 14 + legend.height
    return document(grid.width, height, table.caption, [*body, *legend.lines], look, patterns(styles, ground))


class _Grid:
    """Where columns lie: each as wide as what stands in it, up to what it may take; bars behind the first."""

    def __init__(self, table: Table) -> None:
        self.cells = [
            [fitted(cell, column.most) for cell, column in zip(line.cells, table.columns, strict=True)]
            for line in table.lines
        ]
        self.left: list[float] = []
        self.right: list[float] = []
        x = MARGIN + GLYPH
        self.bar = x
        for place, column in enumerate(table.columns):
            columns = max([columns_of(column.title), *(columns_of(cells[place]) for cells in self.cells)])
            self.left.append(x)
            x += width_of("m" * columns, SIZE)
            self.right.append(x)
            x += GAP
            if not place and table.bar:
                self.bar = x
                x += BAR + GAP
        self.width = max(x - GAP + MARGIN, 760.0)


def _head(table: Table, grid: _Grid, y: float) -> Iterator[str]:
    for place, column in enumerate(table.columns):
        x, looks = (grid.right[place], "m e") if column.is_figure else (grid.left[place], "m")
        yield f'<text x="{x:.1f}" y="{y + 12:.1f}" class="{looks}">{text_of(column.title)}</text>'
    if table.bar:
        yield f'<text x="{grid.bar:.1f}" y="{y + 12:.1f}" class="m">{text_of(table.bar)}</text>'
    yield f'<path d="M{MARGIN} {y + ROW:.1f}H{grid.width - MARGIN:.1f}" class="l"/>'


def _line(place: int, table: Table, grid: _Grid, y: float, ground: Ground) -> Iterator[str]:
    line = table.lines[place]
    glyph = f'style="fill:{line.style.paint(ground).stroke}"'
    yield "<g>"
    whole = "\n".join(
        text_of(f"{column.title}: {shorten(cell, MAX_CELL)}")
        for column, cell in zip(table.columns, line.cells, strict=True)
        if cell
    )
    yield f"<title>{whole}</title>"
    yield f'<text x="{MARGIN}" y="{y + 12.5:.1f}" class="b" {glyph}>{text_of(line.style.glyph)}</text>'
    for column, cell, left, right in zip(table.columns, grid.cells[place], grid.left, grid.right, strict=True):
        if cell:
            where = f'x="{right:.1f}" class="e"' if column.is_figure else f'x="{left:.1f}"'
            yield f'<text {where} y="{y + 12.5:.1f}">{text_of(cell)}</text>'
    if line.parts:
        yield f'<path d="M{grid.bar:.1f} {y + 14.5:.1f}h{BAR}" stroke="{GROUNDS[ground].line}"/>'
    yield from (_part(part, table, grid, y, ground) for part in line.parts if part.stop > part.start)
    yield "</g>"


def _part(part: Part, table: Table, grid: _Grid, y: float, ground: Ground) -> str:
    scale = BAR / (table.length or 1.0)
    style, wide = part.style, max(1.5, (part.stop - part.start) * scale)
    outline = dashes(style.line) if style.pattern is Pattern.EMPTY else ""
    return (
        f'<rect x="{grid.bar + part.start * scale:.1f}" y="{y + 3:.1f}" width="{wide:.1f}" height="11" '
        f'fill="{area(style, ground)}" stroke="{style.paint(ground).stroke}"{outline}/>'
    )
