"""The heat map of a stress run as text: one character a cell, readable without colour."""

import sys
from collections.abc import Sequence

from shadowviz.cli.show import PLAIN_WIDTH, columns_of, number, shortened, width
from shadowviz.diagrams.boundary import BoundaryCells, BoundaryOptions
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.diagrams.cells import BoundaryDiagram
from shadowviz.diagrams.roles import OUTCOMES
from shadowviz.diagrams.theme import Style
from shadowviz.replay.stress import StressSums
from shadowviz_engine.core.events import BoundaryChecked, Event

NAME_COLUMNS = 24
"""Most that the names of rows take."""
LEAST_CELLS = 20
UNTOUCHED = " "
MARK = "|"
GAP = "   "


class Maps:
    """Heat maps of a run as it goes on, one for each way of choosing rows; None = the usual one."""

    def __init__(self, rows: Sequence[str | None]) -> None:
        columns = max(LEAST_CELLS, width() - 1 - NAME_COLUMNS)
        self._options = [BoundaryOptions(rows=RowsBy(one) if one else None, columns=columns) for one in rows]
        self._cells: list[BoundaryCells] = []

    def feed(self, event: Event, sums: StressSums) -> None:
        """Take in the next event; `sums` has taken it in already."""
        if not isinstance(event, BoundaryChecked):
            return
        if not self._cells:
            # A run tells what it consists of before its first check.
            self._cells = [BoundaryCells(sums.started, one) for one in self._options]
        for cells in self._cells:
            cells.add(event)

    def texts(self, source: str) -> list[str]:
        """The maps, those left out that would say nothing."""
        shown: list[BoundaryDiagram] = []
        for cells in self._cells:
            diagram = cells.diagram(source)
            # The map by kind and layer has one row for all checks, and more only where something differs.
            if diagram.lengths[1] - diagram.lengths[0] >= diagram.bin_tokens and (len(diagram.rows) > 1 or not shown):
                shown.append(diagram)
        # A single row of all checks is the first row of the map by kind as well.
        if len(shown) > 1 and len(shown[0].rows) == 1:
            del shown[0]
        return [map_text(diagram) for diagram in shown]


def map_text(diagram: BoundaryDiagram) -> str:
    """Rows with a character a cell, a ruler over them, and under them what the characters stand for."""
    names = [name if _is_unicode() else name.replace("…", "~") for name in shortened(diagram.rows, NAME_COLUMNS)]
    indent = max(map(columns_of, names), default=0)
    first, last = diagram.lengths
    num_columns = (last - first) // diagram.bin_tokens + 1
    rows = [[UNTOUCHED] * num_columns for _ in diagram.rows]
    for cell in diagram.cells:
        rows[cell.row][(cell.first - first) // diagram.bin_tokens] = glyph(OUTCOMES[cell.outcome])
    lines = [f"{'':{indent}} {line}".rstrip() for line in _ruler(diagram, num_columns)]
    for name, row in zip(names, rows, strict=True):
        lines.append(f"{name}{' ' * (indent - columns_of(name))} {''.join(row)}".rstrip())
    return "\n".join([*lines, "", _legend(diagram)])


def glyph(style: Style) -> str:
    """The mark of a style, in ASCII where stdout has no other."""
    return style.glyph if _is_unicode() else style.ascii


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "ascii").lower().startswith("utf")


def _ruler(diagram: BoundaryDiagram, num_columns: int) -> list[str]:
    """Lengths over their columns, and a mark wherever the coarsest boundary that is worth it lies."""
    first, last = diagram.lengths
    text = [" "] * (num_columns + len(number(last)))
    step = max(10, num_columns // 6)
    for column in range(0, num_columns, step):
        label = number(first + column * diagram.bin_tokens)
        text[column : column + len(label)] = label
    marks = [" "] * num_columns
    unit = _marked_unit(diagram)
    if unit is not None:
        for boundary in range(-(-first // unit[1]) * unit[1], last + 1, unit[1]):
            marks[(boundary - first) // diagram.bin_tokens] = MARK
    return ["".join(text), *(["".join(marks)] if unit else [])]


def _marked_unit(diagram: BoundaryDiagram) -> tuple[str, int] | None:
    """The finest boundary whose marks keep three columns apart, where the run reaches one."""
    wide = (unit for unit in diagram.units if unit[1] >= 3 * diagram.bin_tokens)
    return next((unit for unit in wide if diagram.lengths[1] // unit[1] * unit[1] >= diagram.lengths[0]), None)


def _legend(diagram: BoundaryDiagram) -> str:
    seen = {cell.outcome for cell in diagram.cells}
    parts = [f"{glyph(style)} {style.word}" for outcome, style in OUTCOMES.items() if outcome in seen]
    if diagram.bin_tokens > 1:
        parts.append(f"{number(diagram.bin_tokens)} lengths a column, the worst is shown")
    unit = _marked_unit(diagram)
    if unit is not None:
        parts.append(f"{MARK} multiple of {unit[0]} {number(unit[1])}")
    lines = [parts[0]]
    for part in parts[1:]:
        fits = columns_of(lines[-1]) + len(GAP) + columns_of(part) <= PLAIN_WIDTH
        lines[-1:] = [f"{lines[-1]}{GAP}{part}"] if fits else [lines[-1], part]
    return "\n".join(lines)
