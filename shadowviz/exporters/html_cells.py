"""Results of boundary stress as an HTML page: a Plotly heat map, letters beside colours, a command for each finding."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz.diagrams.cells import BoundaryDiagram, Cell
from shadowviz.diagrams.roles import OUTCOMES
from shadowviz.diagrams.theme import GREY, Pattern, Style
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_legend import Styles, letter
from shadowviz.exporters.html_page import Page, drawn_by, rendered, swatches
from shadowviz.exporters.html_text import Pool, harmless, octets

MAX_COLUMNS = 2_000
"""Columns that a browser still moves at once; more lengths share one."""

UNTOUCHED = Style(word="no check", glyph=" ", ascii=" ", hue=GREY, pattern=Pattern.EMPTY, meaning="nothing was run")
_ORDER = tuple(OUTCOMES)


class Grid(msgspec.Struct, frozen=True):
    """Cells of a diagram, joined so that they fit."""

    columns: int
    bin_tokens: int
    cells: dict[tuple[int, int], Cell]
    """By row and column."""


def render(diagram: BoundaryDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    grid = grid_of(diagram)
    styles, pool = Styles(), Pool()
    outcomes = (UNTOUCHED, *OUTCOMES.values())
    values = outcome_values(diagram, grid)
    cells = [_cell(row, column, cell, pool) for (row, column), cell in grid.cells.items()]
    data = {
        "columns": grid.columns,
        "bin": grid.bin_tokens,
        "first": diagram.lengths[0],
        "last": diagram.lengths[1],
        "rows": [harmless(row) for row in diagram.rows] or ["no checks"],
        "units": [[harmless(name), unit] for name, unit in diagram.units],
        "outcomes": styles.numbers(outcomes),
        "meanings": [style.meaning for style in outcomes],
        "worthy": 1 + _ORDER.index("missed"),
        "outcome": octets(values),
        "cells": cells,
        "worst": _worst(grid),
        "pool": pool.texts,
        "styles": styles.data(),
    }
    seen = set(values.ravel().tolist())
    page = Page(
        template="cells",
        script="cells",
        caption=diagram.caption,
        values={
            "outcomes": swatches(letter(style) for number, style in enumerate(outcomes) if number in seen),
            "units": diagram.units,
        },
        data=data,
        styles=styles.used(),
    )
    return Drawing(rendered(page), drawn_by())


def grid_of(diagram: BoundaryDiagram) -> Grid:
    """Cells by row and column, neighbours joined where there are more than `MAX_COLUMNS`; a finding is never lost."""
    first, last = diagram.lengths
    bin_tokens = max(1, diagram.bin_tokens)
    columns = -(-(last - first + 1) // bin_tokens)
    factor = -(-columns // MAX_COLUMNS)
    bin_tokens *= factor
    joined: dict[tuple[int, int], Cell] = {}
    for cell in diagram.cells:
        key = (cell.row, (cell.first - first) // bin_tokens)
        other = joined.get(key)
        joined[key] = cell if other is None else _joined(other, cell)
    return Grid(max(1, -(-(last - first + 1) // bin_tokens)), bin_tokens, joined)


def outcome_values(diagram: BoundaryDiagram, grid: Grid) -> NDArray[np.uint8]:
    """The worst outcome by row and column; 0 = no check."""
    values = np.zeros((max(1, len(diagram.rows)), grid.columns), dtype=np.uint8)
    for (row, column), cell in grid.cells.items():
        values[row, column] = 1 + _rank(cell)
    return values


def _joined(one: Cell, other: Cell) -> Cell:
    worse = one if (_rank(one), one.findings > 0) >= (_rank(other), other.findings > 0) else other
    told = one if one.findings else other
    return msgspec.structs.replace(
        worse,
        first=min(one.first, other.first),
        last=max(one.last, other.last),
        checks=one.checks + other.checks,
        findings=one.findings + other.findings,
        difference=max(one.difference, other.difference),
        detail=worse.detail or told.detail,
        command=worse.command or told.command,
    )


def _rank(cell: Cell) -> int:
    return _ORDER.index(cell.outcome) if cell.outcome in OUTCOMES else len(_ORDER) - 1


def _worst(grid: Grid) -> tuple[int, int]:
    """Where the page begins to tell: the first of the worst cells."""
    cells = grid.cells
    return min(cells, key=lambda key: (-_rank(cells[key]), key[1], key[0])) if cells else (0, 0)


def _cell(row: int, column: int, cell: Cell, pool: Pool) -> list[object]:
    texts = [pool.number(text) if text else -1 for text in (cell.detail, cell.command)]
    return [row, column, cell.checks, cell.findings, _finite(cell.difference), *texts]


def _finite(value: float) -> float | str:
    """JSON has no name for what is no number."""
    return value if np.isfinite(value) else str(value)
