"""The shortest edit between two integer sequences, as far as a limit on the number of edits carries."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from shadowviz.tokens.runs import Integers, Run, common_prefix, joined

SHORT_LOOK: Final = 8
"""Equal values that are compared one by one before the rest of a run is looked at as a whole."""


@dataclass(frozen=True, slots=True)
class Path:
    """Equal runs on a way through both sequences."""

    runs: list[Run]
    complete: bool
    """Whether it reaches the end of both; then no way has more equal values."""
    steps: int
    """Work that was done: points that were looked at."""


def shortest_path(x: Integers, y: Integers, max_edits: int) -> Path:
    """The way with the fewest insertions and deletions; with more than `max_edits`, the one that got furthest.

    Every set of equal runs is as long as can be from the front. Time and memory grow with `max_edits` squared, and with
    `max_edits` times the length where the sequences repeat themselves.

    Source: E. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986), the greedy algorithm.
    """
    left, right = x.tolist(), y.tolist()
    goal = len(left) + len(right)
    history: list[dict[int, int]] = []
    before = {1: 0}
    best, steps = _Point(-1, 0, 0), 0
    for edits in range(max_edits + 1):
        reached: dict[int, int] = {}
        for diagonal in range(-edits, edits + 1, 2):
            place = _entry(before, diagonal, len(left), len(right))
            if place < 0:
                continue
            steps += 1
            stop = min(len(left), place + SHORT_LOOK, len(right) + diagonal)
            while place < stop and left[place] == right[place - diagonal]:
                place += 1
            if place == stop:
                place += common_prefix(x[place:], y[place - diagonal :])
            reached[diagonal] = place
            if 2 * place - diagonal > best.covered:
                best = _Point(2 * place - diagonal, diagonal, edits)
        history.append(reached)
        if best.covered == goal or not reached:
            break
        before = reached
    return Path(_walk_back(history, best, len(left), len(right)), best.covered == goal, steps)


class _Point(NamedTuple):
    covered: int
    """Values of both sides that lie before it."""
    diagonal: int
    edits: int


def _entry(before: dict[int, int], diagonal: int, num_left: int, num_right: int) -> int:
    """Where the best way with one edit more enters a diagonal; negative where none does."""
    inserted = before.get(diagonal + 1, -1)
    if inserted - diagonal > num_right:
        inserted = -1
    deleted = before.get(diagonal - 1, -2) + 1
    if deleted > num_left:
        deleted = -1
    return max(inserted, deleted)


def _walk_back(history: list[dict[int, int]], end: _Point, num_left: int, num_right: int) -> list[Run]:
    runs: list[Run] = []
    diagonal = end.diagonal
    for edits in range(end.edits, -1, -1):
        before = history[edits - 1] if edits else {1: 0}
        entry = _entry(before, diagonal, num_left, num_right)
        place = history[edits][diagonal]
        if place > entry:
            runs.append(Run(entry, entry - diagonal, place - entry))
        if edits:
            diagonal += 1 if before.get(diagonal + 1, -1) == entry else -1
    return joined(runs[::-1])
