"""How much of two texts is the same from the front."""

from typing import TypeVar

Text = TypeVar("Text", str, bytes)


def common_beginning(one: Text, other: Text) -> int:
    """Length of what both begin with, in characters or bytes."""
    # Halving compares in C where a loop over characters would take seconds for megabytes.
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
