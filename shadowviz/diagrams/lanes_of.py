"""Lanes of the ruler: the rows of every kind over a span of tokens, runs that look alike joined."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from shadowviz.diagrams.lanes import Bar, Lane
from shadowviz.replay.resident import ResidentRows
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows, owned_rows, read_tokens
from shadowviz_engine.core.spans import EMPTY, Extent, subtract

MAX_SINGLE = 160
"""Most rows of a lane that have a bar each; of more, runs are joined."""


def lanes_of(
    geometry: Geometry, span: Extent, length: int, cut: int, resident: ResidentRows | None = None
) -> tuple[Lane, ...]:
    """A lane for each kind, in the order of the geometry.

    Args:
        span: tokens to show; a row at its edge is shown whole.
        length: tokens that have state: rows behind it are not closed.
        cut: where a resume goes on.
        resident: rows that are there; left out where there is no state to look at.
    """
    rows_of = resident or {}
    return tuple(
        Lane(kind.label, _unit(kind), kind.owners, _bars(kind, span, length, cut, rows_of.get(kind.label)))
        for kind in geometry.kinds
    )


def told_apart(lanes: Sequence[Lane], geometry: Geometry, computed: int) -> tuple[Lane, ...]:
    """The lanes with rows that went told apart from rows that never were: those behind the token `computed`."""
    return tuple(
        Lane(lane.kind, lane.unit, lane.layers, tuple(_told_apart(lane, geometry.kind(lane.kind), computed)))
        for lane in lanes
    )


def _told_apart(lane: Lane, kind: StateKind, computed: int) -> Iterator[Bar]:
    last = computed // lane.unit
    for bar in lane.bars:
        if bar.resident is not False or bar.rows.stop <= last:
            yield bar
            continue
        look = _Look(bar.needed, bar.resident)
        went, never = (
            Extent(bar.rows.start, max(bar.rows.start, last)),
            Extent(max(bar.rows.start, last), bar.rows.stop),
        )
        if went:
            yield _bar(kind, went, look)
        yield replace(_bar(kind, never, look), once=False)


def _unit(kind: StateKind) -> int:
    if kind.shape is Shape.POINT:
        return kind.grid
    return kind.unit if kind.shape is Shape.RANGE else 1


def _bars(kind: StateKind, span: Extent, length: int, cut: int, resident: tuple[Extent, ...] | None) -> tuple[Bar, ...]:
    if kind.shape is Shape.POINT:
        return _points(kind, span, cut)
    needed = needed_rows(kind, cut)
    if kind.shape is Shape.KEY:
        # Made from token ids whenever it is asked for: only what a resume looks back at is worth a bar.
        return _runs(kind, needed.intersect(span), needed, None)
    unit = _unit(kind)
    touched = Extent(span.start // unit, -(-span.stop // unit)) if span else EMPTY
    shown = touched.intersect(owned_rows(kind, 0, length))
    bars = _runs(kind, shown, needed, resident)
    if kind.shape is Shape.RANGE and shown.size <= MAX_SINGLE:
        looks = [(bar.rows, _Look(bar.needed, bar.resident)) for bar in bars]
        bars = tuple(_bar(kind, Extent(row, row + 1), look) for rows, look in looks for row in range(*rows))
    return (*bars, *_open_bar(kind, span, length))


def _open_bar(kind: StateKind, span: Extent, length: int) -> tuple[Bar, ...]:
    """The window that is still open at the end: no entry yet."""
    row = length // kind.unit
    tokens = Extent(row * kind.unit, length)
    if kind.shape is not Shape.RANGE or not tokens.intersect(span):
        return ()
    reads = Extent(max(0, tokens.start - kind.overlap), length)
    return (Bar(rows=Extent(row, row + 1), tokens=tokens, reads=reads, needed=False, open=True),)


class _Look(NamedTuple):
    """What rows of one run have in common."""

    needed: bool
    resident: bool | None


def _runs(kind: StateKind, shown: Extent, needed: Extent, resident: tuple[Extent, ...] | None) -> tuple[Bar, ...]:
    """Bars over the rows `shown`, each as long as all in it is needed or not, and there or not."""
    bars: list[Bar] = []
    for rows, is_there in _parts(shown, resident):
        inside = rows.intersect(needed)
        pieces = [(piece, False) for piece in subtract([rows], inside)]
        pieces += [(inside, True)] if inside else []
        bars += [_bar(kind, piece, _Look(is_needed, is_there)) for piece, is_needed in sorted(pieces)]
    return tuple(bars)


def _parts(shown: Extent, resident: tuple[Extent, ...] | None) -> Iterator[tuple[Extent, bool | None]]:
    """The rows `shown` in stretches that are there, are not, or of which nothing is known."""
    at = shown.start
    for extent in resident or ():
        there = extent.intersect(shown)
        if there:
            if there.start > at:
                yield Extent(at, there.start), False
            yield there, True
            at = there.stop
    if at < shown.stop:
        yield Extent(at, shown.stop), None if resident is None else False


def _bar(kind: StateKind, rows: Extent, look: _Look) -> Bar:
    unit = _unit(kind)
    tokens = Extent(rows.start * unit, rows.stop * unit)
    # Keys are made from the ids of the very tokens.
    reads = tokens if kind.shape is Shape.KEY else read_tokens(kind, rows)
    return Bar(rows=rows, tokens=tokens, reads=reads, needed=look.needed, resident=look.resident)


def _points(kind: StateKind, span: Extent, cut: int) -> tuple[Bar, ...]:
    """Snapshots at points of the grid, each drawn at the token behind which it was taken.

    No event says which were kept. Where any length may have one, only that of the cut is shown.
    """
    first = (span.start // kind.grid + 1) * kind.grid
    points: Sequence[int] = range(first, span.stop + 1, kind.grid)
    if kind.grid == 1 or len(points) > MAX_SINGLE:
        points = [cut] if cut in points else []
    return tuple(
        Bar(
            rows=Extent(point // kind.grid - 1, point // kind.grid),
            tokens=Extent(point - 1, point),
            reads=Extent(0, point),
            needed=point == cut,
        )
        for point in points
    )
