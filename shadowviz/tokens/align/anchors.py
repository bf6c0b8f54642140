"""Stretches that occur once in each of two integer sequences, and the heaviest chain of them in order."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

import numpy as np

from shadowviz.tokens.align.runs import Integers, Run, joined

MOST_RUNS: Final = 2**15
"""Runs that a chain is looked for among: the longest ones."""
SLOTS_A_VALUE: Final = 2
"""Room in the table of hashes; two hashes in one slot only cost an anchor."""
FEWEST_BITS: Final = 12
"""Of a slot's number: a short stretch cannot spare an anchor."""
FACTOR: Final = 0x9E3779B97F4A7C15
"""Odd, with bits all over: two to the 64th over the golden ratio."""


def anchors(x: Integers, y: Integers, width: int) -> list[Run]:
    """Equal runs in order in both sequences, found through stretches of `width` that occur once in each.

    `width` is a power of two. Time is linear in the lengths, but for sorting up to `MOST_RUNS` runs.
    """
    if width > min(len(x), len(y)):
        return []
    here, there = _shared_once(_hashes(x, width), _hashes(y, width))
    if not len(here):
        return []
    # Stretches on one diagonal that overlap or touch are one run.
    parts = np.flatnonzero((np.diff(here - there) != 0) | (np.diff(here) > width)) + 1
    first, last = np.append(0, parts), np.append(parts - 1, len(here) - 1)
    a, b, sizes = here[first], there[first], here[last] - here[first] + width
    if len(sizes) > MOST_RUNS:
        kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_RUNS])
        a, b, sizes = a[kept], b[kept], sizes[kept]
    chain = _heaviest_chain(b.tolist(), sizes.tolist())
    runs = (Run(int(a[place]), int(b[place]), int(sizes[place])) for place in chain)
    # Hashes may collide; the values decide.
    return _without_overlap(run for run in runs if _holds(x, y, run))


def _hashes(values: Integers, width: int) -> Integers:
    """Hash of each stretch of `width` values."""
    hashes = values.astype(np.uint64)
    hashes += np.uint64(1)
    hashes *= np.uint64(FACTOR)
    hashes ^= hashes >> np.uint64(29)
    step = 1
    while step < width:
        behind = hashes[step:]
        hashes = hashes[:-step] * np.uint64(FACTOR + 2 * step)
        hashes += behind
        hashes ^= hashes >> np.uint64(32)
        step *= 2
    return hashes


def _shared_once(x: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Places of hashes that are alone in their slot of a table on both sides and equal, rising in `x`."""
    bits = max(FEWEST_BITS, (SLOTS_A_VALUE * max(len(x), len(y))).bit_length())
    slots = (x >> np.uint64(64 - bits)).astype(np.int64)
    only_x, only_y = _only_ones(slots, bits), _only_ones((y >> np.uint64(64 - bits)).astype(np.int64), bits)
    there = only_y[slots]
    here = np.flatnonzero((only_x[slots] >= 0) & (there >= 0))
    there = there[here]
    same = x[here] == y[there]
    return here[same], there[same].astype(np.int64)


def _only_ones(slots: Integers, bits: int) -> Integers:
    """For each slot of a table, the place of the only value in it; -1 where there is none or more."""
    table = np.full(2**bits, -1, np.int32)
    places = np.arange(len(slots), dtype=np.int32)
    table[slots] = places
    table[slots[table[slots] != places]] = -1
    return table


def _heaviest_chain(ends: list[int], weights: list[int]) -> list[int]:
    """Indices of the rising subsequence of `ends` with the largest sum of weights.

    Source: G. Jacobson and K.-P. Vo, Heaviest Increasing/Common Subsequence Problems, CPM 1992.
    """
    keys: list[int] = []
    sums: list[int] = []
    members: list[int] = []
    before: list[int] = []
    for index, (end, weight) in enumerate(zip(ends, weights, strict=True)):
        place = bisect_left(keys, end)
        total = weight + (sums[place - 1] if place else 0)
        before.append(members[place - 1] if place else -1)
        stop = place
        while stop < len(keys) and sums[stop] <= total:
            stop += 1
        if stop == place and place < len(keys) and keys[place] == end:
            continue
        keys[place:stop] = [end]
        sums[place:stop] = [total]
        members[place:stop] = [index]
    chain = []
    index = members[-1]
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]


def _holds(x: Integers, y: Integers, run: Run) -> bool:
    return bool((x[run.a : run.a + run.size] == y[run.b : run.b + run.size]).all())


def _without_overlap(runs: Iterable[Run]) -> list[Run]:
    """The runs, each cut at its front by what the one before it covers."""
    result: list[Run] = []
    end_a = end_b = 0
    for run in runs:
        cut = max(0, end_a - run.a, end_b - run.b)
        if cut < run.size:
            result.append(Run(run.a + cut, run.b + cut, run.size - cut))
            end_a, end_b = run.a + run.size, run.b + run.size
    return joined(result)
