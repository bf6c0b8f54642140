"""What a table shows, apart from how it is drawn: cells, and a bar a line that shows its figures at a glance."""

from typing import NamedTuple

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.theme import Style


class Column(NamedTuple):
    """One column of cells."""

    title: str
    is_figure: bool = False
    """Stands at the right."""
    most: int = 24
    """Columns of text that a cell takes at most in a picture; in text on a terminal it is whole."""


class Part(NamedTuple):
    """A stretch of a line's bar."""

    start: float
    stop: float
    style: Style


class Line(NamedTuple):
    """One line; its first cell begins with the glyph of its style."""

    style: Style
    cells: tuple[str, ...]
    parts: tuple[Part, ...] = ()


class Table(NamedTuple):
    """A table with its caption."""

    caption: Caption
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    bar: str
    """What the bars stand for; empty = there are none."""
    length: float
    """Of the longest bar, in the unit of the parts."""
    styles: tuple[Style, ...]
    """Of the bars, for the legend."""
    empty: str
    """Said where there is no line."""
    glyphs: tuple[Style, ...] = ()
    """Of the lines, for the legend, where they are not those of the bars."""
    sums: tuple[str, ...] = ()
    """Sentences below the lines."""


def filled(table: Table) -> Table:
    """The table without columns in which nothing stands."""
    kept = [place for place in range(len(table.columns)) if any(line.cells[place] for line in table.lines)]
    lines = tuple(line._replace(cells=tuple(line.cells[place] for place in kept)) for line in table.lines)
    return table._replace(columns=tuple(table.columns[place] for place in kept), lines=lines)
