"""The heat map of a stress run: lengths across, a row for each mode, kind or fault."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style as Ink
from textual.binding import Binding, BindingType
from textual.message import Message

from shadowviz.diagrams.roles import OUTCOMES as LOOKS
from shadowviz.diagrams.roles import SILENT
from shadowviz.diagrams.theme import Style
from shadowviz.replay.stress import OUTCOMES
from shadowviz.tui.models.cells import fit
from shadowviz.tui.models.stress_cells import GridCell
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.strips import marked

ZOOMS = (1, 4, 16, 64, 256, 1024, 16384)
"""Lengths of a column."""
MOST_DRAWN = 256
"""Rows whose marks are kept."""
HEADS = 2
"""Rows over the grid: lengths, and boundaries."""


def style_of(cell: GridCell) -> Style:
    """How a cell looks."""
    return SILENT if cell.is_silent else LOOKS[OUTCOMES[cell.outcome]]


class StressPlace:
    """Where on the heat map the user is."""

    def __init__(self) -> None:
        self.length = 0
        self.first = 0
        """Length at the left edge."""
        self.zoom = 1

    def move(self, length: int, bounds: tuple[int, int], columns: int) -> None:
        """Put the cursor on a length; what is seen moves as far as it must."""
        first, last = bounds
        self.length = max(first, min(length, last))
        self.first = max(self.first, first)
        column = (self.length - self.first) // self.zoom
        if not 0 <= column < columns:
            self.first = max(first, self.length - (columns // 2) * self.zoom)
        self.first -= (self.first - first) % self.zoom


class StressRows:
    """Draws the rows of a grid."""

    def __init__(self, grid: StressGrid, place: StressPlace, look: Look) -> None:
        self.grid, self.place, self.look = grid, place, look
        self.rows = grid.rows
        self._drawn: dict[tuple[int, int, int, int], list[tuple[str, Ink]]] = {}

    def label(self, width: int) -> int:
        """Columns of the names."""
        longest = max((len(row.name) for row in self.rows), default=8)
        return max(10, min(longest, 28, width // 3))

    def columns(self, width: int) -> int:
        """Columns of cells."""
        return max(1, width - self.label(width) - 1)

    def cell(self, row: int, column: int) -> GridCell | None:
        """The cell of a row of the grid; None = no check is of it."""
        first = self.place.first + column * self.place.zoom
        return self.rows[row].cell(first, first + self.place.zoom)

    def next_finding(self, length: int, row: int, by: int) -> tuple[int, int] | None:
        """Length and row of the nearest finding behind a cell (`by` 1) or before it (-1), row by row in a length."""
        found = sorted((at, number) for number, one in enumerate(self.rows) for at in one.findings())
        ahead = [one for one in found if (one > (length, row) if by > 0 else one < (length, row))]
        return (min(ahead) if by > 0 else max(ahead)) if ahead else None

    def draw(self, row: int, width: int) -> Line:
        """One row in at most `width` cells."""
        label, columns, look = self.label(width), self.columns(width), self.look
        if row == 0:
            return [Segment(fit("length", label + 1), look.muted), *self._marked(self._lengths(columns))]
        if row == 1:
            return [Segment(fit("closes", label + 1), look.muted), *self._marked(self._units(columns))]
        found = self.rows[row - HEADS]
        name = fit(look.shown(found.name), label, look.pick("…", "~")) + " "
        return [Segment(name, look.strong), *self._marked(self._cells(row - HEADS, columns))]

    def _cells(self, row: int, columns: int) -> list[tuple[str, Ink]]:
        """The marks of a row of the grid; while the cursor moves they stay."""
        seen = (row, self.place.first, self.place.zoom, columns)
        if seen not in self._drawn:
            if len(self._drawn) >= MOST_DRAWN:
                self._drawn.clear()
            self._drawn[seen] = [self._mark(self.cell(row, column)) for column in range(columns)]
        return self._drawn[seen]

    def _marked(self, cells: list[tuple[str, Ink]]) -> Line:
        at = (self.place.length - self.place.first) // self.place.zoom
        return marked(cells, at)

    def _mark(self, cell: GridCell | None) -> tuple[str, Ink]:
        if cell is None:
            return " ", self.look.muted
        style = style_of(cell)
        return self.look.glyph(style), self.look.ink(style, bold=cell.findings > 0)

    def _lengths(self, columns: int) -> list[tuple[str, Ink]]:
        place, look, every = self.place, self.look, 10
        last = self.grid.lengths[1]
        line = ""
        for column in range(0, columns, every):
            length = place.first + column * place.zoom
            line += fit(f"{look.pick('╷', '|')}{length:,}" if length <= last else "", every)
        cells = [(character, look.muted) for character in line[:columns].ljust(columns)]
        at = (place.length - place.first) // place.zoom
        if 0 <= at < columns:
            cells[at] = (look.pick("▼", "v"), look.title)
        return cells

    def _units(self, columns: int) -> list[tuple[str, Ink]]:
        """The coarsest size that closes at a length of the column: its place among the sizes, from 1."""
        place, look = self.place, self.look
        units, (first, last) = self.grid.closing, self.grid.lengths
        cells = []
        for column in range(columns):
            begin = place.first + column * place.zoom
            stop = min(begin + place.zoom, last + 1)
            inside = first <= begin <= last
            closing = [
                str(at)
                for at, (_, size) in enumerate(units, 1)
                if inside and size > max(1, place.zoom) and (stop - 1) // size > (begin - 1) // size
            ]
            shown = closing[-1][-1] if closing else " "
            cells.append((shown, look.muted))
        return cells


class StressView(LineView):
    """The heat map, with a cursor on a cell."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "length(-1)", "a column left", show=False, id="stress.left"),
        Binding("right,l", "length(1)", "a column right", show=False, id="stress.right"),
        Binding("home", "edge(0)", "first length", show=False, id="stress.first"),
        Binding("end", "edge(1)", "last length", show=False, id="stress.last"),
    ]

    class CellMoved(Message):
        """The cursor is on another length."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: StressRows | None = None
        self.place = StressPlace()

    def num_rows(self) -> int:
        return HEADS + len(self.rows.rows) if self.rows is not None else 0

    def draw_row(self, row: int, width: int) -> Line:
        assert self.rows is not None, "without rows none is drawn"
        return self.rows.draw(row, width)

    @property
    def columns(self) -> int:
        """Columns of cells."""
        return self.rows.columns(max(1, self.scrollable_content_region.width - 2)) if self.rows is not None else 1

    @property
    def cell(self) -> GridCell | None:
        """The cell at the cursor; None = no check is of it."""
        rows, row = self.rows, self.cursor - HEADS
        if rows is None or not 0 <= row < len(rows.rows):
            return None
        return rows.cell(row, (self.place.length - self.place.first) // self.place.zoom)

    @property
    def lengths(self) -> Sequence[int]:
        """The lengths of the cell that were checked."""
        rows, row, place = self.rows, self.cursor - HEADS, self.place
        if rows is None or not 0 <= row < len(rows.rows):
            return []
        first = place.first + (place.length - place.first) // place.zoom * place.zoom
        return rows.rows[row].lengths(first, first + place.zoom)

    def go_to(self, length: int) -> None:
        """Put the cursor on a length."""
        if self.rows is not None:
            self.place.move(length, self.rows.grid.lengths, self.columns)
            self.post_message(self.CellMoved())

    def action_length(self, by: int) -> None:
        """Move by columns."""
        place = self.place
        self.go_to(place.first + ((place.length - place.first) // place.zoom + by) * place.zoom)

    def action_edge(self, at_end: int) -> None:
        """Move to the first length or the last."""
        if self.rows is not None:
            self.go_to(self.rows.grid.lengths[at_end])

    def rescale(self, step: int) -> None:
        """More lengths a column, or fewer."""
        if self.rows is not None:
            self.place.zoom = ZOOMS[max(0, min(len(ZOOMS) - 1, ZOOMS.index(self.place.zoom) + step))]
            self.place.first = max(self.rows.grid.lengths[0], self.place.length - self.columns // 2 * self.place.zoom)
            self.go_to(self.place.length)
