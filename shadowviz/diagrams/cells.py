"""Results of boundary stress as a grid: prefix length across, kind and layer (or fault) down."""

import msgspec

from shadowviz.diagrams.caption import Caption


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of one row at the lengths [first, last]."""

    row: int
    """Index into `rows`."""
    first: int
    last: int
    checks: int
    findings: int
    difference: float = 0.0
    """Largest difference of a logit."""
    outcome: str = "same"
    """The worst of its checks: same, near_tie, found (a fault that was put in), refused, missed, differs."""
    detail: str = ""
    command: str = ""
    """Reproduces the first finding alone, or where there is none the first fault that was found."""


class BoundaryDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """A heat map; cells that no check touched are left out, and are drawn as untouched."""

    caption: Caption
    rows: tuple[str, ...]
    """Names, such as "csa_kv layer 2" or "all rows"."""
    lengths: tuple[int, int]
    """First and last length that the run covers."""
    bin_tokens: int
    """Lengths a column."""
    cells: tuple[Cell, ...]
    units: tuple[tuple[str, int], ...] = ()
    """Boundaries worth marking: page, ratios, window, in tokens."""
