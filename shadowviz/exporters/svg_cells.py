"""Results of boundary stress as SVG: prefix length across, a row a kind, layer or fault, findings in words below."""

from collections.abc import Iterator
from typing import Final

from shadowviz.diagrams.cells import BoundaryDiagram, Cell
from shadowviz.diagrams.roles import OUTCOMES, UNKNOWN
from shadowviz.diagrams.theme import GROUNDS, Ground, Style
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_axis import nice_step
from shadowviz.exporters.svg_frame import Entry, area_entry, caption_block, legend_block, paragraph
from shadowviz.exporters.svg_parts import (
    MARGIN,
    area,
    document,
    fitted,
    ground_of,
    patterns,
    text_of,
    width_of,
)
from shadowviz.replay.counts import counted
from shadowviz.tokens.inert import shorten

ACROSS: Final = 1000.0
NAMES_MOST: Final = 40
"""Columns of the names at the left."""
GLYPH_WIDTH: Final = 9.0
"""Pixels of a cell from which on it has room for a glyph."""
MAX_NAME: Final = 60
MAX_DETAIL: Final = 400
"""Characters of a row's name and of what was found."""
FINDINGS_MOST: Final = 10
"""Findings that are told in words."""


def render(diagram: BoundaryDiagram, look: Look = LIGHT) -> Drawing:
    """The picture; the same bytes for the same diagram and look."""
    ground = ground_of(look)
    grid = _Grid(diagram)
    width = max(grid.right + 90 + MARGIN, 760.0)
    caption = caption_block(diagram.caption, width, ground)
    body = [*caption.lines]
    y = caption.height
    for name, tokens in diagram.units:
        body += _unit(name, tokens, grid, y, ground)
        y += 13
    body += _axis(grid, y)
    grid.top = y + 24
    body += _rows(diagram, grid, ground)
    body += [_cell(cell, diagram, grid, ground) for cell in diagram.cells]
    words, y = _findings(diagram, grid.bottom + 14, width)
    legend = legend_block(_legend(diagram, ground), y + 8, width)
    body += [*words, *legend.lines]
    return Drawing(
        document(width, y + 8 + legend.height, diagram.caption, body, look, patterns(OUTCOMES.values(), ground))
    )


class _Grid:
    """Where rows and lengths lie."""

    def __init__(self, diagram: BoundaryDiagram) -> None:
        self.first, last = diagram.lengths
        self.bin = max(1, diagram.bin_tokens)
        self.num_lengths = max(1, last - self.first + 1)
        columns = -(-self.num_lengths // self.bin)
        self.cell = min(22.0, max(3.0, ACROSS / columns))
        names = [width_of(fitted(name, NAMES_MOST), 11) for name in diagram.rows]
        units = [width_of(_unit_words(name, tokens), 9) for name, tokens in diagram.units]
        self.left = MARGIN + max([80.0, *names, *units]) + 10
        self.right = self.left + columns * self.cell
        self.row = 18.0
        self.rows = len(diagram.rows)
        self.top = 0.0

    def x(self, length: int) -> float:
        """Left side of the column of a length."""
        return self.left + (length - self.first) // self.bin * self.cell

    def y(self, row: int) -> float:
        """Upper side of a row."""
        return self.top + row * self.row

    @property
    def bottom(self) -> float:
        """Below the last row."""
        return self.y(self.rows)


def _unit_words(name: str, tokens: int) -> str:
    return fitted(f"{name} {tokens:,}", NAMES_MOST)


def _unit(name: str, tokens: int, grid: _Grid, y: float, ground: Ground) -> Iterator[str]:
    """Multiples of one unit, as marks above the columns; none where they would be a solid line."""
    words = text_of(_unit_words(name, tokens))
    yield f'<text x="{grid.left - 10:.1f}" y="{y + 10:.1f}" font-size="9" class="m e">{words}</text>'
    stop = grid.first + grid.num_lengths
    first = max(tokens, -(-grid.first // tokens) * tokens)
    if tokens / grid.bin * grid.cell >= 4:
        marks = "".join(f"M{grid.x(at) + grid.cell / 2:.1f} {y + 2:.1f}v9" for at in range(first, stop, tokens))
        yield f'<path d="{marks}" stroke="{GROUNDS[ground].muted}" stroke-width="1.5"/>' if marks else ""
    else:
        yield f'<text x="{grid.left:.1f}" y="{y + 10:.1f}" font-size="9" class="m">every column</text>'


def _axis(grid: _Grid, y: float) -> Iterator[str]:
    step = nice_step(grid.num_lengths, max(1, int((grid.right - grid.left) / 70)))
    yield f'<text x="{grid.left - 10:.1f}" y="{y + 12:.1f}" class="s m e">prefix length</text>'
    for length in range(-(-grid.first // step) * step, grid.first + grid.num_lengths, step):
        x = grid.x(length) + grid.cell / 2
        yield f'<text x="{x:.1f}" y="{y + 12:.1f}" class="s m c">{length:,}</text>'
        yield f'<path d="M{x:.1f} {y + 16:.1f}v6" class="l"/>'


def _rows(diagram: BoundaryDiagram, grid: _Grid, ground: Ground) -> Iterator[str]:
    findings = [0] * len(diagram.rows)
    for cell in diagram.cells:
        findings[cell.row] += cell.findings
    bad = OUTCOMES["differs"].paint(ground).stroke
    for row, name in enumerate(diagram.rows):
        y = grid.y(row)
        yield f'<text x="{grid.left - 10:.1f}" y="{y + 13:.1f}" class="e">{text_of(fitted(name, NAMES_MOST))}</text>'
        yield f'<path d="M{grid.left:.1f} {y + grid.row - 1:.1f}H{grid.right:.1f}" class="l"/>'
        if findings[row]:
            words = counted(findings[row], "finding")
            yield f'<text x="{grid.right + 6:.1f}" y="{y + 13:.1f}" class="s b" style="fill:{bad}">{words}</text>'


def _cell(cell: Cell, diagram: BoundaryDiagram, grid: _Grid, ground: Ground) -> str:
    style = _style(cell)
    x, y = grid.x(cell.first), grid.y(cell.row)
    wide = max(grid.cell, grid.x(cell.last) + grid.cell - x) - (0.6 if grid.cell > 4 else 0)
    fill = style.paint(ground).fill if cell.outcome == "same" else area(style, ground)
    line = "" if fill != "none" else f' stroke="{style.paint(ground).stroke}" stroke-dasharray="2 2"'
    glyph = ""
    if wide >= GLYPH_WIDTH and cell.outcome != "same":
        ground_fill, middle = GROUNDS[ground].background, x + wide / 2
        glyph = (
            f'<rect x="{middle - 4.5:.1f}" y="{y + 3:.1f}" width="9" height="11" fill="{ground_fill}"/>'
            f'<text x="{middle:.1f}" y="{y + 12.5:.1f}" class="s c b">{text_of(style.glyph)}</text>'
        )
    return (
        f"<g><title>{text_of(_cell_words(cell, diagram))}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{grid.row - 2}" fill="{fill}"{line}/>{glyph}</g>'
    )


def _style(cell: Cell) -> Style:
    return OUTCOMES.get(cell.outcome, UNKNOWN)


def _cell_words(cell: Cell, diagram: BoundaryDiagram) -> str:
    lengths = f"length {cell.first:,}" if cell.first == cell.last else f"lengths {cell.first:,} to {cell.last:,}"
    name = shorten(diagram.rows[cell.row], MAX_NAME)
    words = (
        f"{name}, {lengths}: {_style(cell).word}, {counted(cell.checks, 'check')}, {counted(cell.findings, 'finding')}"
    )
    words += f", largest difference {cell.difference:.3g}" if cell.difference else ""
    return f"{words}; {shorten(cell.detail, MAX_DETAIL)}" if cell.detail else words


def _findings(diagram: BoundaryDiagram, y: float, width: float) -> tuple[list[str], float]:
    """The first findings in words, each with the command that shows it alone."""
    found = sorted((cell for cell in diagram.cells if cell.findings), key=lambda cell: (cell.first, cell.row))
    if not found:
        return [], y
    lines: list[str] = []
    total = sum(cell.findings for cell in found)
    left_out = len(found) - FINDINGS_MOST
    more = f"; {left_out:,} more cells have some" if left_out > 0 else ""
    y += 14
    lines.append(
        f'<text x="{MARGIN}" y="{y:.1f}" class="h">{counted(total, "finding")}, the first of each cell{more}</text>'
    )
    for cell in found[:FINDINGS_MOST]:
        for text, looks in ((_cell_words(cell, diagram), ""), (cell.command, ' class="m"')):
            told = paragraph(text, y, width, looks, 3)
            lines += told.lines
            y = told.height
    return lines, y + 8


def _legend(diagram: BoundaryDiagram, ground: Ground) -> list[Entry]:
    seen = {cell.outcome for cell in diagram.cells}
    entries = []
    for outcome, style in OUTCOMES.items():
        if outcome not in seen:
            continue
        words = f"{style.glyph} {style.word}: {style.meaning}"
        if outcome == "same":
            swatch = f'<rect width="26" height="13" fill="{style.paint(ground).fill}"/>'
            entries.append(Entry(swatch, words))
        else:
            entries.append(area_entry(style, ground, words))
    entries.append(Entry("", "no cell: nothing was checked there"))
    if diagram.bin_tokens > 1:
        entries.append(Entry("", f"a column is {diagram.bin_tokens:,} lengths, and shows the worst of them"))
    return entries
