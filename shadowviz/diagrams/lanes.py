"""The ruler: tokens in columns, one lane a state kind, the cut where a hit ends."""

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz_engine.core.spans import Extent


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One row, or a run of rows that look alike, over the tokens it stands for."""

    rows: Extent
    tokens: Extent
    """Its own range: tokens [row * unit, (row + 1) * unit) of an entry."""
    reads: Extent
    """Everything it was made from, the overlap included."""
    needed: bool
    """Going on at the cut reads it."""
    resident: bool | None = None
    """None = the source does not say, or there is no source."""
    once: bool = True
    """Of rows that are not there: whether they were once, as far as the run remembers."""
    open: bool = False
    """Tokens of a window that is still open: no entry yet."""


class Lane(msgspec.Struct, frozen=True):
    """Bars of one kind, ascending."""

    kind: str
    unit: int
    layers: tuple[int, ...]
    bars: tuple[Bar, ...]


class DerivationDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """State behind the tokens [0, length) of a prompt, and what of it a resume at `cut` uses."""

    caption: Caption
    span: Extent
    """Tokens that the picture covers."""
    cut: int
    """Left of it tokens are reusable, right of it they are computed."""
    page_size: int
    lanes: tuple[Lane, ...]
    marks: tuple[tuple[int, str], ...] = ()
    """Positions with a name: common, matched, usable, reused, node ends; ascending."""
    text: tuple[str, ...] = ()
    """Tokens of the span, inert, one a position; empty = not known."""
