"""Where two prompts have the same bytes, token boundaries included."""

from bisect import bisect_left, bisect_right
from typing import Final

import numpy as np

from shadowviz.tokens.align.matching import equal_runs
from shadowviz.tokens.align.runs import Integers, Run, common_prefix, common_suffix
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

SHORTEST_TEXT: Final = 16
"""Bytes from which on equal text between two differences counts where no ids tell."""
WIDTHS: Final = (32,)


def same_front(a: Side, b: Side, part_a: Extent, part_b: Extent) -> tuple[int, int]:
    """Tokens up to which two stretches have equal bytes: the last place where a token of both ends, or the start."""
    start_a, start_b = a.byte_at(part_a.start), b.byte_at(part_b.start)
    agreed = common_prefix(_bytes(a, part_a), _bytes(b, part_b))
    last_a = _last_boundary(a, start_a + agreed, part_a)
    last_b = _last_boundary(b, start_b + agreed, part_b)
    return _meet_before(a, b, Extent(part_a.start, last_a), Extent(part_b.start, last_b), start_a - start_b)


def same_back(a: Side, b: Side, part_a: Extent, part_b: Extent) -> tuple[int, int]:
    """Tokens from which on two stretches have equal bytes: the first place where a token of both begins, or the end."""
    stop_a, stop_b = a.byte_at(part_a.stop), b.byte_at(part_b.stop)
    agreed = common_suffix(_bytes(a, part_a), _bytes(b, part_b))
    first_a = bisect_left(a.starts, stop_a - agreed, part_a.start, part_a.stop)
    first_b = bisect_left(b.starts, stop_b - agreed, part_b.start, part_b.stop)
    return _meet_behind(a, b, Extent(first_a, part_a.stop), Extent(first_b, part_b.stop), stop_a - stop_b)


def equal_in_place(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[Run]:
    """Runs of tokens that have equal ids and stand for the same bytes, in two stretches of equal bytes."""
    starts_a, sizes_a, ids_a = _tokens(a, part_a)
    starts_b, sizes_b, ids_b = _tokens(b, part_b)
    filled_a, filled_b = np.flatnonzero(sizes_a), np.flatnonzero(sizes_b)
    _, here, there = np.intersect1d(starts_a[filled_a], starts_b[filled_b], assume_unique=True, return_indices=True)
    here, there = filled_a[here], filled_b[there]
    same = (sizes_a[here] == sizes_b[there]) & (ids_a[here] == ids_b[there])
    here, there = here[same], there[same]
    if not len(here):
        return []
    parts = np.flatnonzero((np.diff(here) != 1) | (np.diff(there) != 1)) + 1
    first, last = np.append(0, parts), np.append(parts - 1, len(here) - 1)
    sizes = here[last] - here[first] + 1
    rows = zip(here[first].tolist(), there[first].tolist(), sizes.tolist(), strict=True)
    return [Run(part_a.start + place, part_b.start + other, size) for place, other, size in rows]


def same_stretches(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[tuple[Extent, Extent]]:
    """Stretches of equal bytes in order in both, each from a token boundary of both to another."""
    start_a, start_b = a.byte_at(part_a.start), b.byte_at(part_b.start)
    found: list[tuple[Extent, Extent]] = []
    for run in equal_runs(_bytes(a, part_a), _bytes(b, part_b), WIDTHS):
        if run.size < SHORTEST_TEXT:
            continue
        byte_a, byte_b = start_a + run.a, start_b + run.b
        inner_a = _boundaries(a, byte_a, byte_a + run.size, part_a)
        inner_b = _boundaries(b, byte_b, byte_b + run.size, part_b)
        first_a, first_b = _meet_behind(a, b, inner_a, inner_b, byte_a - byte_b)
        last_a, last_b = _meet_before(
            a, b, Extent(first_a, inner_a.stop), Extent(first_b, inner_b.stop), byte_a - byte_b
        )
        if last_a > first_a and last_b > first_b:
            found.append((Extent(first_a, last_a), Extent(first_b, last_b)))
    return found


def _boundaries(side: Side, byte: int, stop: int, part: Extent) -> Extent:
    """First and last token of a stretch that begin, or end it, from one byte up to another, both included."""
    first = bisect_left(side.starts, byte, part.start, part.stop)
    return Extent(first, max(first, _last_boundary(side, stop, part)))


def _last_boundary(side: Side, byte: int, part: Extent) -> int:
    """Last token of a stretch that begins at or before a byte, or the end of the stretch if it does too."""
    if side.byte_at(part.stop) <= byte:
        return part.stop
    return max(part.start, bisect_right(side.starts, byte, part.start, part.stop) - 1)


def _meet_before(a: Side, b: Side, part_a: Extent, part_b: Extent, shift: int) -> tuple[int, int]:
    """Last boundaries of two stretches whose bytes are `shift` apart; the starts if no other are."""
    token_a, token_b = part_a.stop, part_b.stop
    while token_a > part_a.start and token_b > part_b.start:
        ahead = a.byte_at(token_a) - b.byte_at(token_b) - shift
        if not ahead:
            return token_a, token_b
        token_a -= ahead > 0
        token_b -= ahead < 0
    return part_a.start, part_b.start


def _meet_behind(a: Side, b: Side, part_a: Extent, part_b: Extent, shift: int) -> tuple[int, int]:
    """First boundaries of two stretches whose bytes are `shift` apart; the ends if no other are."""
    token_a, token_b = part_a.start, part_b.start
    while token_a < part_a.stop and token_b < part_b.stop:
        ahead = a.byte_at(token_a) - b.byte_at(token_b) - shift
        if not ahead:
            return token_a, token_b
        token_a += ahead < 0
        token_b += ahead > 0
    return part_a.stop, part_b.stop


def _tokens(side: Side, part: Extent) -> tuple[Integers, Integers, Integers]:
    """Of each token: its first byte counted from that of the stretch, how many it has, its id."""
    starts = np.frombuffer(side.starts, np.int64)[part.start : part.stop] - side.byte_at(part.start)
    sizes = np.diff(starts, append=side.byte_at(part.stop) - side.byte_at(part.start))
    return starts, sizes, np.frombuffer(side.ids, np.int64)[part.start : part.stop]


def _bytes(side: Side, part: Extent) -> Integers:
    start, stop = side.byte_at(part.start), side.byte_at(part.stop)
    return np.frombuffer(side.raw, np.uint8)[start:stop]
