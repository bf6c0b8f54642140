"""State kinds as data: five shapes, and for each the rows that a length needs."""

from enum import StrEnum

import msgspec

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.spans import EMPTY, Extent


class Shape(StrEnum):
    """What a kind must hold for a length L to be resumable."""

    RANGE = "range"
    """Every closed row: rows [0, L // unit)."""
    WINDOW = "window"
    """Every token of [start(L), L)."""
    POINT = "point"
    """A snapshot taken exactly at L."""
    OPEN = "open"
    """Raw rows of the window still open at L, and of the overlap before it."""
    KEY = "key"
    """Nothing: it is made again from token ids."""


class Scope(StrEnum):
    """What the rows of a kind live and die with."""

    TREE = "tree"
    REQUEST = "request"
    FOLLOWS = "follows"
    """The slots of the kind named by `follows`."""


class StateKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind of cached state of a model family, described by values alone."""

    label: str
    shape: Shape
    unit: int = 1
    """Tokens a row (RANGE)."""
    overlap: int = 0
    """Tokens before its own range that a row reads (RANGE), or raw tokens kept before the open window (OPEN)."""
    need: int = 0
    """Tokens before L that a resume at L reads (WINDOW: n_win - 1; KEY: ids looked back at)."""
    page_need: int = 0
    """Tokens that the production counter asks for under the `page` rule (WINDOW); 0 = the same as need."""
    chunk: int = 0
    """WINDOW that starts at the last multiple of this many tokens instead of sliding; 0 = sliding."""
    ratio: int = 0
    """Tokens of a compression window (OPEN)."""
    grid: int = 1
    """Legal lengths are multiples of this."""
    owners: tuple[int, ...] = ()
    readers: tuple[int, ...] = ()
    """Layers that read the rows; empty = the owners."""
    row_bytes: int = 0
    """Bytes of one row in one owner layer; 0 = not stated."""
    scope: Scope = Scope.TREE
    follows: str = ""
    gates: bool = True
    """A hit ends where this kind cannot be resumed."""
    cacheable: bool = True
    replay: int = 0
    """Tokens computed again after a hit instead of being kept."""
    recompute: int = 0
    """Tokens at the end of a prompt that a hit leaves to be computed, so that this kind is made anew."""
    exact: bool = True
    """A resumed run equals a cold one bit for bit."""

    def __post_init__(self) -> None:
        sizes = {"unit": self.unit, "grid": self.grid}
        if self.shape is Shape.OPEN:
            sizes["ratio"] = self.ratio
        for name, value in sizes.items():
            if value < 1:
                raise GeometryError(f"{name} {value} of kind {self.label} must be at least 1")
        counts = {
            "overlap": self.overlap,
            "need": self.need,
            "page_need": self.page_need,
            "chunk": self.chunk,
            "row_bytes": self.row_bytes,
            "replay": self.replay,
            "recompute": self.recompute,
        }
        for name, value in counts.items():
            if value < 0:
                raise GeometryError(f"{name} {value} of kind {self.label} must not be negative")
        if self.scope is Scope.FOLLOWS and not self.follows:
            raise GeometryError(f"kind {self.label} follows another kind but does not name it")

    def window_start(self, length: int, need: int) -> int:
        """First token that a resume at `length` reads, for a window of `need` earlier tokens."""
        if self.chunk:
            return length // self.chunk * self.chunk
        return max(0, length - need)

    def open_start(self, length: int) -> int:
        """First token whose raw row the open window at `length` or its overlap still needs."""
        return max(0, length // self.ratio * self.ratio - self.overlap)


def needed_rows(kind: StateKind, length: int) -> Extent:
    """Rows of `kind` that must be resident to go on at `length`: the mathematical need, whatever an engine asks.

    RANGE counts rows, the others tokens; a POINT is the one snapshot `[length, length + 1)`.
    """
    if length == 0:
        return EMPTY
    match kind.shape:
        case Shape.RANGE:
            return Extent(0, length // kind.unit)
        case Shape.WINDOW:
            return Extent(kind.window_start(length, kind.need), length)
        case Shape.OPEN:
            return Extent(kind.open_start(length), length)
        case Shape.POINT:
            return Extent(length, length + 1)
        case Shape.KEY:
            return Extent(max(0, length - kind.need), length)


def owned_rows(kind: StateKind, start: int, stop: int) -> Extent:
    """Rows of `kind` that the span [start, stop) owns: those that its tokens close.

    Additive over splits. RANGE counts rows; WINDOW and OPEN tokens; POINT the grid points in (start, stop].
    """
    match kind.shape:
        case Shape.RANGE:
            return Extent(start // kind.unit, stop // kind.unit)
        case Shape.WINDOW | Shape.OPEN:
            return Extent(start, stop)
        case Shape.POINT:
            return Extent(start // kind.grid, stop // kind.grid)
        case Shape.KEY:
            return EMPTY


def read_tokens(kind: StateKind, rows: Extent) -> Extent:
    """Tokens that went into the `rows` of `owned_rows`, the overlap of a compression window included."""
    if not rows:
        return EMPTY
    match kind.shape:
        case Shape.RANGE:
            return Extent(max(0, rows.start * kind.unit - kind.overlap), rows.stop * kind.unit)
        case Shape.POINT:
            return Extent(0, rows.stop * kind.grid)
        case _:
            return rows


def resumed_tokens(kind: StateKind, length: int) -> Extent:
    """Tokens that went into the rows of `needed_rows` at `length`."""
    if kind.shape is Shape.POINT:
        return Extent(0, length)
    return read_tokens(kind, needed_rows(kind, length))
