"""Long arrays in which a few things change: pieces are copied, nothing is worked out for each element."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)

ROOM = 16
"""A column that must grow gets a part like this beyond what is asked for."""


def spliced(
    values: NDArray[Item], gone: NDArray[np.int32], before: Sequence[int], added: Sequence[int]
) -> NDArray[Item]:
    """`values` without those at the positions `gone`, and with `added` put in; both ascend.

    Args:
        before: position in `values` in front of which each of `added` comes.
    """
    result = np.empty(len(values) - len(gone) + len(added), dtype=values.dtype)
    at = read = 0
    edits = sorted(
        [*((place, 1, 0) for place in gone.tolist()), *zip(before, [0] * len(added), added, strict=True)],
        key=lambda edit: edit[:2],
    )
    for place, takes, value in edits:
        result[at : at + place - read] = values[read:place]
        at += place - read
        read = place + takes
        if not takes:
            result[at] = value
            at += 1
    result[at:] = values[read:]
    return result


def grown(column: NDArray[Item], num: int, fill: int) -> NDArray[Item]:
    """`column`, or a longer copy where it has fewer than `num` elements; those beyond are `fill`."""
    if num <= len(column):
        return column
    longer = np.full(num + num // ROOM, fill, dtype=column.dtype)
    longer[: len(column)] = column
    return longer
