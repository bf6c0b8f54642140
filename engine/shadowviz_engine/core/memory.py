"""Bytes that one sequence keeps, by state kind, at any length; and what resuming at any token costs."""

from enum import StrEnum

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows
from shadowviz_engine.core.row_formats import RowFormat


class Part(StrEnum):
    """Rows of a kind that are counted on a line of their own."""

    ROWS = "rows"
    OVERLAP = "overlap"
    """Rows of the last closed window, kept only for the overlap of the next."""


class KindMemory(msgspec.Struct, frozen=True):
    """Bytes of one kind over all its owner layers."""

    kind: str
    part: Part
    layers: int
    rows: int
    """Rows in each layer."""
    row_bytes: int
    total_bytes: int
    marginal_bytes: float
    """Bytes that one more token adds in the long run; 0 where the rows do not grow with the length."""


class MemoryTable(msgspec.Struct, frozen=True):
    """Bytes of one sequence of `length` tokens, by kind."""

    geometry: str
    row_format: str
    length: int
    kinds: tuple[KindMemory, ...]
    total_bytes: int
    marginal_bytes: float


class ResumePrice(msgspec.Struct, frozen=True):
    """Bytes a token of what has to be kept so that a run can go on from that very token."""

    geometry: str
    row_format: str
    tail_bytes: int
    """Raw rows of every open window, a token."""
    window_bytes: int
    """Rows of the sliding window, a token."""
    n_win: int

    @property
    def tail_bytes_of_window(self) -> int:
        """Bytes of the raw rows of one window of tokens."""
        return self.tail_bytes * self.n_win


def memory_table(geometry: Geometry, row_format: RowFormat, length: int) -> MemoryTable:
    """What a sequence of `length` tokens must keep to go on, in bytes.

    With n layers of a kind and b bytes a row: RANGE n * (L // unit) * b; WINDOW n * min(L, n_win - 1) * b; OPEN
    n * (L % ratio) * b and, once a window has closed, n * overlap * b'; POINT one snapshot of n * b. A snapshot
    counts at every length, on its grid or not. Pages, rings and drafts of an engine come on top.

    Raises:
        InputError: a negative length.
        GeometryError: a kind that `row_format` does not size.

    Source: the rows of `resume_state`, record sizes of SGLang's pools.
    """
    if length < 0:
        raise InputError(f"length {length} must not be negative")
    lines = tuple(line for kind in geometry.kinds for line in _kind_memory(kind, row_format, length))
    return MemoryTable(
        geometry.name,
        row_format.name,
        length,
        lines,
        sum(line.total_bytes for line in lines),
        sum(line.marginal_bytes for line in lines),
    )


def fullest_length(geometry: Geometry, length: int) -> int:
    """The last length up to `length` at which every open window lacks only its last token; 0 if there is none."""
    return max(0, (length + 1) // geometry.alignment * geometry.alignment - 1)


def resume_price(geometry: Geometry, row_format: RowFormat) -> ResumePrice:
    """What it costs a token to keep every length resumable, beside what pages alone would keep.

    Any token may lie in an open window or in an overlap, so each keeps its full raw row: n * b summed over OPEN.
    """
    tail, window = 0, 0
    for kind in geometry.kinds:
        row_bytes = len(kind.owners) * row_format.size(kind.label).row_bytes
        if kind.shape is Shape.OPEN:
            tail += row_bytes
        elif kind.shape is Shape.WINDOW:
            window += row_bytes
    return ResumePrice(geometry.name, row_format.name, tail, window, geometry.n_win)


def _kind_memory(kind: StateKind, row_format: RowFormat, length: int) -> list[KindMemory]:
    size = row_format.size(kind.label)
    rows = needed_rows(kind, length).size
    if kind.shape is not Shape.OPEN:
        marginal = len(kind.owners) * size.row_bytes / kind.unit if kind.shape is Shape.RANGE else 0.0
        return [_line(kind, Part.ROWS, rows, size.row_bytes, marginal)]
    pending = length % kind.ratio
    lines = [_line(kind, Part.ROWS, min(pending, 1) if size.folded else pending, size.row_bytes, 0.0)]
    if kind.overlap:
        lines.append(_line(kind, Part.OVERLAP, rows - pending, size.overlap_bytes or size.row_bytes, 0.0))
    return lines


def _line(kind: StateKind, part: Part, rows: int, row_bytes: int, marginal: float) -> KindMemory:
    layers = len(kind.owners)
    return KindMemory(kind.label, part, layers, rows, row_bytes, layers * rows * row_bytes, marginal)
