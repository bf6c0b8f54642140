"""Runs of slots that pass between requests and nodes: taking, adding and cutting, as plain tuples."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

Run: TypeAlias = tuple[int, int, int]
"""Start, stop and slot of a `SlotRun`; plain, because a named tuple takes three times as long to make."""
Runs: TypeAlias = tuple[Run, ...]
"""Runs by token position, disjoint."""

LIMIT = 2**31
"""First position or slot that no column can hold."""


def flaw_of(runs: Runs) -> str | None:
    """What is wrong with runs from outside; None if they are sound."""
    before = 0
    for start, stop, slot in runs:
        if not before <= start < stop < LIMIT:
            return f"run [{start},{stop}) is empty, out of order or out of range"
        if not 0 <= slot < LIMIT - (stop - start):
            return f"slot {slot} is out of range"
        before = stop
    return None


def add_runs(held: Runs, added: Runs) -> Runs | None:
    """Both together, by position; None if a token would have two slots."""
    if not held or not added:
        return held or added
    start, stop, slot = held[-1]
    next_start, next_stop, next_slot = added[0]
    if stop < next_start:
        return held + added
    if stop == next_start:
        if slot + stop - start != next_slot:
            return held + added
        return (*held[:-1], (start, next_stop, slot), *added[1:])
    both = sorted(held + added)
    if any(a[1] > b[0] for a, b in pairwise(both)):
        return None
    return tuple(both)


def take_runs(held: Runs, taken: Runs) -> Runs | None:
    """`held` without `taken`; None if a token of `taken` is not held at that slot."""
    rest = list(held)
    for start, stop, slot in taken:
        at, shift = start, slot - start
        while at < stop:
            index = bisect_right(rest, (at, LIMIT)) - 1
            if index < 0:
                return None
            run = rest[index]
            if run[1] <= at or run[2] - run[0] != shift:
                return None
            end = min(stop, run[1])
            rest[index : index + 1] = _outside(run, at, end)
            at = end
    return tuple(rest)


def take_run(held: Run, taken: Run) -> Runs | None:
    """`held` without `taken`; None if a token of `taken` is not held at that slot, or it has none."""
    low, high, first = held
    start, stop, slot = taken
    if not low <= start < stop <= high or slot - start != first - low:
        return None
    if start == low:
        return ((stop, high, slot + stop - start),) if stop < high else ()
    return ((low, start, first), (stop, high, slot + stop - start)) if stop < high else ((low, start, first),)


def cut_runs(runs: Iterable[Run], start: int, stop: int) -> tuple[Runs, Runs]:
    """The parts of `runs` at tokens [start, stop), and the parts outside."""
    inside: list[Run] = []
    outside: list[Run] = []
    for run in runs:
        run_start, run_stop, slot = run
        if run_stop <= start or run_start >= stop:
            outside.append(run)
        elif start <= run_start and run_stop <= stop:
            inside.append(run)
        else:
            low, high = max(run_start, start), min(run_stop, stop)
            inside.append((low, high, slot + low - run_start))
            outside += _outside(run, low, high)
    return tuple(inside), tuple(outside)


def _outside(run: Run, start: int, stop: int) -> list[Run]:
    """What is left of `run` without its tokens [start, stop)."""
    run_start, run_stop, slot = run
    left = []
    if run_start < start:
        left.append((run_start, start, slot))
    if stop < run_stop:
        left.append((stop, run_stop, slot + stop - run_start))
    return left
