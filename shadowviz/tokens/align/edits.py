"""The shortest edit between two integer sequences, as far as a limit on the number of edits carries."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from shadowviz.tokens.align.runs import Integers, Run, common_prefix, joined

SHORT_LOOK: Final = 8
"""Equal values that are compared one by one before the rest of a run is looked at as a whole."""
UNREACHED: Final = -(2**60)


@dataclass(frozen=True, slots=True)
class Path:
    """Equal runs on a way through both sequences."""

    runs: list[Run]
    edits: int
    covered: int
    """Values of both sides up to where it ends."""
    complete: bool
    """Whether it reaches the end of both; then no way has more equal values."""
    steps: int
    """Work that was done: points that were looked at."""


def shortest_path(x: Integers, y: Integers, max_edits: int) -> Path:
    """The way with the fewest insertions and deletions; with more than `max_edits`, the one that got furthest.

    Time and memory grow with `max_edits` squared, and with
    `max_edits` times the length where the sequences repeat themselves.

    Source: E. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986), the greedy algorithm.
    """
    left, right = x.data, y.data
    num_left, num_right = len(x), len(y)
    middle = max_edits + 1
    furthest = [UNREACHED] * (2 * middle + 1)
    furthest[middle + 1] = 0
    history: list[list[int]] = []
    best, steps = _Point(-1, 0, 0), 0
    for edits in range(max_edits + 1):
        lowest = edits if edits <= num_right else 2 * num_right - edits
        highest = edits if edits <= num_left else 2 * num_left - edits
        if -lowest > highest:
            break
        for diagonal in range(-lowest, highest + 1, 2):
            inserted, place = furthest[middle + diagonal + 1], furthest[middle + diagonal - 1] + 1
            place = max(inserted, place)
            if not 0 <= place <= num_left or place - diagonal > num_right:
                furthest[middle + diagonal] = UNREACHED
                continue
            stop = min(place + SHORT_LOOK, num_left, num_right + diagonal)
            while place < stop and left[place] == right[place - diagonal]:
                place += 1
            if place == stop:
                place += common_prefix(x[place:], y[place - diagonal :])
            furthest[middle + diagonal] = place
            if 2 * place - diagonal > best.covered:
                best = _Point(2 * place - diagonal, diagonal, edits)
        steps += (lowest + highest) // 2 + 1
        history.append(furthest[middle - edits - 1 : middle + edits + 2])
        if best.covered == num_left + num_right:
            break
    complete = best.covered == num_left + num_right
    return Path(_walk_back(history, best), best.edits, best.covered, complete, steps)


class _Point(NamedTuple):
    covered: int
    diagonal: int
    edits: int


def _walk_back(history: list[list[int]], end: _Point) -> list[Run]:
    """The runs on the way to a point, from what each number of edits reached on each diagonal."""
    runs: list[Run] = []
    diagonal = end.diagonal
    for edits in range(end.edits, -1, -1):
        deleted, place, inserted = history[edits][diagonal + edits : diagonal + edits + 3]
        entry, came_from = (inserted, diagonal + 1) if inserted > deleted else (deleted + 1, diagonal - 1)
        if place > entry:
            runs.append(Run(entry, entry - diagonal, place - entry))
        diagonal = came_from
    return joined(runs[::-1])
