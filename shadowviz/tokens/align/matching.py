"""Which stretches of one integer sequence are found again, in order, in another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from shadowviz.tokens.align.anchors import anchors
from shadowviz.tokens.align.edits import Path, shortest_path
from shadowviz.tokens.align.runs import Integers, Run, common_prefix, common_suffix, joined

SMALL: Final = 64
"""Two stretches that together are no longer are aligned with as many equal values as there can be."""
FEW_EDITS: Final = 32
"""So are longer ones that differ in no more insertions and deletions."""
MANY_EDITS: Final = 160
"""Edits that are followed at once where no stretch is found that occurs only once."""
MOSTLY_EQUAL: Final = 2
"""Values for each of those edits, or more, that a way covers that means something. Unlike texts share words too."""
WIDTHS: Final = (32, 8, 4)
"""Of stretches that are looked for on both sides, in turn; powers of two."""
SHORT: Final = 2**11
"""Values of both sides up to which only the last width is tried."""
MOST_STEPS: Final = 500_000
"""Points that all shortest paths with few edits look at in one comparison; as many again those with many edits."""
MOST_PASSES: Final = 6
"""Times that all values may be hashed."""
COST_OF_A_PASS: Final = 2**10
"""Values that could be hashed while one pass is set up."""


@dataclass
class _Work:
    """What one comparison may still spend; counted, so that the result does not depend on the clock."""

    steps: int
    long_steps: int
    hashed: int


def equal_runs(x: Integers, y: Integers, widths: Sequence[int] = WIDTHS) -> list[Run]:
    """Equal runs in rising order in both, none of which touches the next.

    With `SMALL` values or `FEW_EDITS` no other choice has more equal values. Beyond that long stretches that occur once
    are found, then what lies between them; what is left when the work is used up counts as different.
    """
    work = _Work(MOST_STEPS, MOST_STEPS, MOST_PASSES * (len(x) + len(y)))
    found: list[Run] = []
    gaps = [_Gap(0, len(x), 0, len(y))]
    while gaps:
        gap = _trim(x, y, gaps.pop(), found)
        if gap.start_a == gap.stop_a or gap.start_b == gap.stop_b:
            continue
        if (runs := _shortest(x, y, gap, work)) is not None:
            found += runs
        elif chain := _chain(x, y, gap, widths, work):
            found += chain
            gaps += reversed(_between(gap, chain))
        else:
            _follow_on(x, y, gap, found, work)
    return joined(sorted(found))


class _Gap(NamedTuple):
    start_a: int
    stop_a: int
    start_b: int
    stop_b: int

    @property
    def size(self) -> int:
        return self.stop_a - self.start_a + self.stop_b - self.start_b


def _trim(x: Integers, y: Integers, gap: _Gap, found: list[Run]) -> _Gap:
    """The gap without what is equal at its ends, which joins `found`."""
    left, right = x[gap.start_a : gap.stop_a], y[gap.start_b : gap.stop_b]
    front = common_prefix(left, right)
    back = common_suffix(left[front:], right[front:])
    if front:
        found.append(Run(gap.start_a, gap.start_b, front))
    if back:
        found.append(Run(gap.stop_a - back, gap.stop_b - back, back))
    return _Gap(gap.start_a + front, gap.stop_a - back, gap.start_b + front, gap.stop_b - back)


def _follow(x: Integers, y: Integers, gap: _Gap, max_edits: int) -> Path:
    path = shortest_path(x[gap.start_a : gap.stop_a], y[gap.start_b : gap.stop_b], max_edits)
    return replace(path, runs=_moved(path.runs, gap))


def _shortest(x: Integers, y: Integers, gap: _Gap, work: _Work) -> list[Run] | None:
    """Runs of the shortest way through; None where it has too many edits, or too much was looked at already."""
    if work.steps <= 0:
        return None
    path = _follow(x, y, gap, SMALL if gap.size <= SMALL else FEW_EDITS)
    work.steps -= path.steps
    return path.runs if path.complete else None


def _follow_on(x: Integers, y: Integers, gap: _Gap, found: list[Run], work: _Work) -> None:
    """Shortest paths one after the other, as long as they show that both sides are mostly equal."""
    while work.long_steps > 0:
        path = _follow(x, y, gap, MANY_EDITS)
        work.long_steps -= path.steps
        if not path.runs or path.covered < MOSTLY_EQUAL * path.edits:
            return
        found += path.runs
        if path.complete:
            return
        gap = _trim(x, y, _between(gap, path.runs)[-1], found)


def _chain(x: Integers, y: Integers, gap: _Gap, widths: Sequence[int], work: _Work) -> list[Run]:
    left, right = x[gap.start_a : gap.stop_a], y[gap.start_b : gap.stop_b]
    for width in widths if gap.size > SHORT else widths[-1:]:
        if work.hashed < gap.size:
            break
        work.hashed -= gap.size + COST_OF_A_PASS
        if runs := anchors(left, right, width):
            return _moved(runs, gap)
    return []


def _moved(runs: list[Run], gap: _Gap) -> list[Run]:
    return [Run(gap.start_a + run.a, gap.start_b + run.b, run.size) for run in runs]


def _between(gap: _Gap, runs: list[Run]) -> list[_Gap]:
    """What lies before, between and behind the runs."""
    gaps = []
    start_a, start_b = gap.start_a, gap.start_b
    for run in runs:
        gaps.append(_Gap(start_a, run.a, start_b, run.b))
        start_a, start_b = run.a + run.size, run.b + run.size
    return [*gaps, _Gap(start_a, gap.stop_a, start_b, gap.stop_b)]
