"""Tables as HTML pages that sort and filter; without scripts they are read as they are."""

from collections.abc import Sequence
from typing import Any

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.theme import Style
from shadowviz.exporters.html_legend import Entry
from shadowviz.exporters.html_page import Page, rendered, swatches


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a row."""

    text: str
    value: int | None = None
    """What a figure is sorted by; None = by its text."""
    badge: str = ""
    """A mark before the text."""
    share: int | None = None
    """A bar below the text, in hundredths."""
    summary: str = ""
    more: tuple[str, ...] = ()
    """Lines that open below `summary`."""


class Row(msgspec.Struct, frozen=True):
    """One row; `sort` is the number of the choice that keeps it."""

    sort: int
    cells: tuple[Cell, ...]


class Sums(msgspec.Struct, frozen=True):
    """A small table above the rows; `numbers` are the columns that hold figures."""

    title: str
    headers: tuple[str, ...]
    numbers: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The page."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    choice: str
    """What rows are chosen by."""
    choices: tuple[str, ...]
    sums: tuple[Sums, ...] = ()
    advice: str = ""


def table_page(caption: Caption, table: Table, marks: Sequence[Entry], styles: tuple[Style, ...] = ()) -> bytes:
    """A page of one large table."""
    first = table.rows[0].cells if table.rows else ()
    values: dict[str, Any] = {
        **msgspec.structs.asdict(table),
        "numbers": [number for number, cell in enumerate(first) if cell.value is not None],
        "marks": swatches(marks),
    }
    return rendered(Page(template="table", script="table", caption=caption, values=values, plot=False, styles=styles))


def figure(value: int) -> Cell:
    """A count."""
    return Cell(text=f"{value:,}", value=value)
