"""Half-open extents of tokens or rows, and the small algebra on them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec


class Extent(NamedTuple):
    """Half-open range `[start, stop)` of tokens or rows."""

    start: int
    stop: int

    def __bool__(self) -> bool:
        """Whether the extent holds anything."""
        return self.stop > self.start

    @property
    def size(self) -> int:
        """Number of tokens or rows."""
        return max(0, self.stop - self.start)

    def intersect(self, other: "Extent") -> "Extent":
        """What both hold; empty extents are all equal to `EMPTY`."""
        start, stop = max(self.start, other.start), min(self.stop, other.stop)
        return Extent(start, stop) if stop > start else EMPTY

    def __str__(self) -> str:
        return f"[{self.start},{self.stop})"


EMPTY = Extent(0, 0)


class LogicalSpan(msgspec.Struct, frozen=True):
    """Key of a node of the radix tree: tokens [start, start + length) of a path in a namespace."""

    node: int
    start: int
    length: int
    namespace: str = ""

    @property
    def stop(self) -> int:
        """Position after the last token."""
        return self.start + self.length


def merge(extents: Iterable[Extent]) -> list[Extent]:
    """Sorted disjoint extents that hold the same positions; touching ones are joined."""
    merged: list[Extent] = []
    for extent in sorted(e for e in extents if e):
        if merged and extent.start <= merged[-1].stop:
            if extent.stop > merged[-1].stop:
                merged[-1] = Extent(merged[-1].start, extent.stop)
        else:
            merged.append(Extent(*extent))
    return merged


def subtract(extents: Sequence[Extent], hole: Extent) -> list[Extent]:
    """`extents` (sorted, disjoint) without the positions of `hole`."""
    if not hole:
        return list(extents)
    left: list[Extent] = []
    for extent in extents:
        if extent.stop <= hole.start or extent.start >= hole.stop:
            left.append(extent)
            continue
        if extent.start < hole.start:
            left.append(Extent(extent.start, hole.start))
        if extent.stop > hole.stop:
            left.append(Extent(hole.stop, extent.stop))
    return left


def total(extents: Iterable[Extent]) -> int:
    """Number of positions in disjoint extents."""
    return sum(extent.size for extent in extents)
