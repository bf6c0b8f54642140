"""Runs of slots that pass between requests and nodes: taking, adding and cutting, as plain tuples."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from shadowviz_engine.core.events import SlotRun

Runs = tuple[SlotRun, ...]
"""Runs by token position, disjoint."""

LIMIT = 2**31
"""First position or slot that no column can hold."""


def flaw_of(runs: Runs) -> str | None:
    """What is wrong with runs from outside; None if they are sound."""
    before = 0
    for run in runs:
        start, stop, slot = run
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
    last, first = held[-1], added[0]
    if last.stop < first.start:
        return held + added
    if last.stop == first.start:
        if last.slot + last.stop - last.start != first.slot:
            return held + added
        return (*held[:-1], SlotRun(last.start, first.stop, last.slot), *added[1:])
    both = sorted(held + added)
    if any(a.stop > b.start for a, b in pairwise(both)):
        return None
    return tuple(both)


def take_runs(held: Runs, taken: Runs) -> Runs | None:
    """`held` without `taken`; None if a token of `taken` is not held at that slot."""
    if held == taken:
        return ()
    rest = list(held)
    for start, stop, slot in taken:
        at, shift = start, slot - start
        while at < stop:
            index = bisect_right(rest, (at, LIMIT)) - 1
            if index < 0:
                return None
            run = rest[index]
            if run.stop <= at or run.slot - run.start != shift:
                return None
            end = min(stop, run.stop)
            rest[index : index + 1] = _outside(run, at, end)
            at = end
    return tuple(rest)


def cut_runs(runs: Iterable[SlotRun], start: int, stop: int) -> tuple[Runs, Runs]:
    """The parts of `runs` at tokens [start, stop), and the parts outside."""
    inside: list[SlotRun] = []
    outside: list[SlotRun] = []
    for run in runs:
        low, high = max(run.start, start), min(run.stop, stop)
        if low >= high:
            outside.append(run)
            continue
        inside.append(SlotRun(low, high, run.slot + low - run.start))
        outside += _outside(run, low, high)
    return tuple(inside), tuple(outside)


def _outside(run: SlotRun, start: int, stop: int) -> list[SlotRun]:
    """What is left of `run` without its tokens [start, stop)."""
    left = []
    if run.start < start:
        left.append(SlotRun(run.start, start, run.slot))
    if stop < run.stop:
        left.append(SlotRun(stop, run.stop, run.slot + stop - run.start))
    return left
