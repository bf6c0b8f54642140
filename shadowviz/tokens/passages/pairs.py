"""Which line of one prompt stands beside which of another."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from shadowviz.tokens.align.runs import Integers
from shadowviz.tokens.passages.lines import Lines

Pair = tuple[int | None, int | None]
"""Indices of a line of A and of one of B; None where nothing stands in its place."""


def pairs_of(one: Lines, other: Lines, partners: Integers) -> Iterator[Pair]:
    """Every line of both once and in order; two of which nothing differs stand together only if they are the same.

    Args:
        partners: for each token of A the one of B that holds the same text, or -1.
    """
    i = j = 0
    for found_i, found_j in [*_chosen(one, other, partners), (len(one.ends), len(other.ends))]:
        for pair in zip_longest(range(i, found_i), range(j, found_j)):
            yield from _beside(one, other, partners, pair)
        if found_i < len(one.ends):
            yield found_i, found_j
        i, j = found_i + 1, found_j + 1


def _beside(one: Lines, other: Lines, partners: Integers, pair: Pair) -> list[Pair]:
    i, j = pair
    if i is None or j is None or not (one.clean[i] and other.clean[j]):
        return [pair]
    same = _same_place(one, other, partners, np.array([i]), np.array([j]))[0]
    return [pair] if same else [(i, None), (None, j)]


def _chosen(one: Lines, other: Lines, partners: Integers) -> list[tuple[int, int]]:
    """Pairs of lines that share the most tokens in all, no line in two of them."""
    tokens = np.flatnonzero(partners >= 0)
    lines_a = np.searchsorted(one.ends, one.letters.tokens[tokens], side="right")
    lines_b = np.searchsorted(other.ends, other.letters.tokens[partners[tokens]], side="right")
    inside = (lines_a < len(one.ends)) & (lines_b < len(other.ends))
    lines_a, lines_b = lines_a[inside], lines_b[inside]
    if not len(lines_a):
        return []
    edges = np.flatnonzero(np.append(True, (np.diff(lines_a) != 0) | (np.diff(lines_b) != 0)))
    weights = np.diff(np.append(edges, len(lines_a)))
    lines_a, lines_b = lines_a[edges], lines_b[edges]
    same = _same_place(one, other, partners, lines_a, lines_b)
    kept = same | ~(one.clean[lines_a] & other.clean[lines_b])
    return _heaviest(lines_a[kept].tolist(), lines_b[kept].tolist(), (weights + same)[kept].tolist())


def _heaviest(lines_a: Sequence[int], lines_b: Sequence[int], weights: Sequence[int]) -> list[tuple[int, int]]:
    """Of pairs in order, those with the greatest weight of which no two share a line."""
    # Pairs that share a line with this one and come before it follow each other directly.
    best, last, before = [0], [-1], []
    first_a = first_b = 0
    for place, weight in enumerate(weights):
        if lines_a[first_a] != lines_a[place]:
            first_a = place
        if lines_b[first_b] != lines_b[place]:
            first_b = place
        free = min(first_a, first_b)
        before.append(last[free])
        taken = best[free] + weight
        best.append(max(taken, best[-1]))
        last.append(place if taken > best[-2] else last[-1])
    chosen = []
    place = last[-1]
    while place >= 0:
        chosen.append((lines_a[place], lines_b[place]))
        place = before[place]
    return chosen[::-1]


def _same_place(
    one: Lines, other: Lines, partners: Integers, lines_a: Integers, lines_b: Integers
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """For lines of which nothing differs, whether they begin and end at the same place of the same tokens."""
    if not len(partners):
        return np.zeros(len(lines_a), np.bool_)
    starts_a, starts_b = one.starts[lines_a], other.starts[lines_b]
    ends_a, ends_b = one.ends[lines_a], other.ends[lines_b]
    first_a, first_b = one.letters.holders(starts_a), other.letters.holders(starts_b)
    last_a, last_b = one.letters.holders(ends_a - 1), other.letters.holders(ends_b - 1)
    tokens_a, tokens_b = one.letters.tokens, other.letters.tokens
    same: np.ndarray[Any, np.dtype[np.bool_]] = (
        (partners[first_a] == first_b)
        & (partners[last_a] == last_b)
        & (starts_a - tokens_a[first_a] == starts_b - tokens_b[first_b])
        & (tokens_a[last_a + 1] - ends_a == tokens_b[last_b + 1] - ends_b)
    )
    return same
