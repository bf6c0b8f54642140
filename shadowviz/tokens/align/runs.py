"""Equal runs of two integer sequences, and how far two of them agree."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

Integers: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""One dimension, of some integer type."""

FIRST_LOOK = 64
LONGEST_LOOK = 2**16


class Run(NamedTuple):
    """A stretch of `size` values that are equal in both."""

    a: int
    """Where it begins in the first sequence."""
    b: int
    size: int


def common_prefix(x: Integers, y: Integers) -> int:
    """How many values agree from the front; reads no more than a few times what agrees."""
    limit = min(len(x), len(y))
    if not limit or x[0] != y[0]:
        return 0
    place, look = 0, FIRST_LOOK
    while place < limit:
        stop = min(limit, place + look)
        differs = x[place:stop] != y[place:stop]
        found = int(differs.argmax())
        if differs[found]:
            return place + found
        place, look = stop, min(2 * look, LONGEST_LOOK)
    return limit


def common_suffix(x: Integers, y: Integers) -> int:
    """How many values agree from the end."""
    return common_prefix(x[::-1], y[::-1])


def joined(runs: list[Run]) -> list[Run]:
    """The runs, which follow each other in both sequences, with those that touch made one and empty ones left out."""
    result: list[Run] = []
    for run in runs:
        if not run.size:
            continue
        last = result[-1] if result else None
        if last and last.a + last.size == run.a and last.b + last.size == run.b:
            result[-1] = Run(last.a, last.b, last.size + run.size)
        else:
            result.append(run)
    return result
