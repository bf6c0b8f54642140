"""A run on a time axis: tracks, and what begins, ends, happens or is counted on them; without a format."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

Args: TypeAlias = Mapping[str, int | float | str]
NO_ARGS: Args = {}


class Track(msgspec.Struct, frozen=True, gc=False):
    """A line of the picture; told before anything happens on it."""

    track: int
    """Number by which marks name it, from 1."""
    name: str
    parent: int = 0
    """Track that it stands under; 0 = none."""
    unit: str = ""
    """Of the values of a counter; empty = it is none."""


class Begin(msgspec.Struct, frozen=True, gc=False):
    """A stretch of time begins; it lies within those of its track that are open."""

    track: int
    t_ns: int
    name: str
    args: Args = NO_ARGS


class End(msgspec.Struct, frozen=True, gc=False):
    """The stretch of the track that began last ends."""

    track: int
    t_ns: int
    args: Args = NO_ARGS


class Instant(msgspec.Struct, frozen=True, gc=False):
    """Something happens."""

    track: int
    t_ns: int
    name: str
    args: Args = NO_ARGS


class Count(msgspec.Struct, frozen=True, gc=False):
    """A counter has this value from here on."""

    track: int
    t_ns: int
    value: int


Mark: TypeAlias = Track | Begin | End | Instant | Count
"""In the order of time, but that a stretch may begin before marks that came first."""
