"""Tables as plain text, for terminals, mails and issues."""

from collections.abc import Iterator

from shadowviz.diagrams.changes import ChangesDiagram
from shadowviz.diagrams.lookups import LookupsDiagram
from shadowviz.diagrams.memory import MemoryDiagram
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_frame import caption_lines
from shadowviz.exporters.svg_parts import columns_of, fitted
from shadowviz.exporters.table_changes import changes_table
from shadowviz.exporters.table_lookups import lookups_table
from shadowviz.exporters.table_memory import memory_table
from shadowviz.exporters.tables import Table, filled
from shadowviz.tokens.inert import printable, shorten

MAX_LINE = 400
"""Characters of a line of the caption."""


def render_changes(diagram: ChangesDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (text has no look)
    """What differs between two trees."""
    return Drawing(_text(filled(changes_table(diagram))))


def render_lookups(diagram: LookupsDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (text has no look)
    """The lookups of a run."""
    return Drawing(_text(filled(lookups_table(diagram))))


def render_memory(diagram: MemoryDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (text has no look)
    """Bytes by kind, and the nodes that hold most."""
    return Drawing(_text(filled(memory_table(diagram))))


def _text(table: Table) -> bytes:
    caption = table.caption
    told = [caption.title, *caption_lines(caption), *filter(None, [caption.verdict]), *caption.notes]
    head = [shorten(line, MAX_LINE) for line in told]
    blocks = [head, list(_rows(table)) if table.lines else [table.empty], list(table.sums)]
    shown = "\n\n".join("\n".join(map(printable, block)) for block in blocks if block)
    return f"{shown}\n".encode()


def _rows(table: Table) -> Iterator[str]:
    rows = [[column.title for column in table.columns]]
    rows += [
        [fitted(cell, column.most) for cell, column in zip(line.cells, table.columns, strict=True)]
        for line in table.lines
    ]
    wide = [max(columns_of(row[place]) for row in rows) for place in range(len(table.columns))]
    glyphs = [" ", *(line.style.ascii for line in table.lines)]
    for glyph, row in zip(glyphs, rows, strict=True):
        cells = []
        for cell, column, room in zip(row, table.columns, wide, strict=True):
            blanks = " " * (room - columns_of(cell))
            cells.append(f"{blanks}{cell}" if column.is_figure else f"{cell}{blanks}")
        yield f"{glyph} {'  '.join(cells)}".rstrip()
