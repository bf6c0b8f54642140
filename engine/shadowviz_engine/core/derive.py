"""What a span owns and what a resume needs: the derivation of physical state from a logical prefix."""

from enum import StrEnum

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, needed_rows, owned_rows, read_tokens, resumed_tokens
from shadowviz_engine.core.spans import EMPTY, Extent


class Origin(StrEnum):
    """How a value is known; shown wherever the value is shown."""

    OBSERVED = "observed"
    DERIVED = "derived"
    ASSUMED = "assumed"


class StateDescriptor(msgspec.Struct, frozen=True):
    """Rows of one kind, the tokens they were made from, and where they lie."""

    kind: str
    rows: Extent
    reads: Extent
    layers: tuple[int, ...]
    tier: str = "device"
    pages: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()
    origin: Origin = Origin.DERIVED


class RowFigures(msgspec.Struct, frozen=True):
    """Figures of a kind at a length, kept apart: an open window is no entry."""

    kind: str
    complete: int
    """Closed rows, `length // unit`."""
    allocated: int
    """Rows with room, `ceil(length / unit)`."""
    tail: int
    """Tokens of the open window, `length % unit`."""


def derive(geometry: Geometry, start: int, stop: int) -> tuple[StateDescriptor, ...]:
    """State that the span [start, stop) owns, one descriptor a kind.

    Entry i of ratio r closes at token (i + 1) * r - 1, so the span owns entries [start // r, stop // r).

    Raises:
        InputError: a negative start, or a stop before the start.

    Source: DeepSeek-V4 arithmetic, `docs/explanation/derivation.md`.
    """
    if start < 0 or stop < start:
        raise InputError(f"span [{start},{stop}) is not a range of positions: expected 0 <= start <= stop")
    descriptors = []
    for kind in geometry.kinds:
        rows = owned_rows(kind, start, stop)
        descriptors.append(StateDescriptor(kind.label, rows, read_tokens(kind, rows), kind.owners))
    return tuple(descriptors)


def resume_state(geometry: Geometry, length: int) -> tuple[StateDescriptor, ...]:
    """State that must be resident for a run to go on at `length`: the next token has that position.

    Raises:
        InputError: a negative length.
    """
    if length < 0:
        raise InputError(f"length {length} must not be negative")
    return tuple(
        StateDescriptor(kind.label, needed_rows(kind, length), resumed_tokens(kind, length), kind.owners)
        for kind in geometry.kinds
    )


def row_figures(geometry: Geometry, length: int) -> tuple[RowFigures, ...]:
    """Complete, allocated and tail figures of every RANGE kind at `length`."""
    return tuple(
        RowFigures(kind.label, length // kind.unit, -(-length // kind.unit), length % kind.unit)
        for kind in geometry.kinds
        if kind.shape is Shape.RANGE
    )


def retained_tokens(geometry: Geometry, length: int, page_rule: bool) -> Extent:
    """Tokens whose slots in the window's table must stay for a resume at `length`.

    The window itself, and the raw rows of every kind that lives at the window's slots. The production
    counter asks for one token more than the arithmetic (`page_need`).
    """
    start = length
    for kind in geometry.kinds:
        if kind.shape is Shape.WINDOW:
            need = max(kind.need, kind.page_need) if page_rule else kind.need
            start = min(start, kind.window_start(length, need))
        elif kind.shape is Shape.OPEN and kind.follows:
            start = min(start, kind.open_start(length))
    return Extent(start, length) if start < length else EMPTY
