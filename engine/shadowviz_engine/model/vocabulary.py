"""The product with the vocabulary: the one weight of a pass that is too large for any cache of the processor."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

_NUM_PARTS = 4
_LEAST_BYTES = 16 << 20
"""Smaller weights are read in less time than it takes to wake a thread."""


class SharedProduct:
    """Rows times a weight `[in, out]` on the CPU, shared with one more thread where there is a processor for it.

    Two threads read memory twice as fast as one. Unlike torch's own, which wait for each other at every operation,
    these take the next part when they are done with one: a thread that the machine has no time for delays nobody.
    """

    def __init__(self, weight: Tensor) -> None:
        self._parts: tuple[Tensor, ...] = (weight,)
        if weight.nbytes >= _LEAST_BYTES and _num_processors() > 1:
            self._parts = tuple(part.contiguous() for part in torch.chunk(weight, _NUM_PARTS, 1))
        self._width = weight.shape[1]

    def __call__(self, rows: Tensor) -> Tensor:
        """`[rows, out]`."""
        if len(self._parts) == 1:
            return torch.mm(rows, self._parts[0])
        product = rows.new_empty(rows.shape[0], self._width)
        places = torch.split(product, [part.shape[1] for part in self._parts], 1)
        # Taking the next number from it is one step for the interpreter, so no part is computed twice.
        turns = iter(range(len(self._parts)))
        help_ = _helper().submit(self._compute, turns, rows, places)
        self._compute(turns, rows, places)
        if not help_.cancel():
            help_.result()
        return product

    def _compute(self, turns: Iterator[int], rows: Tensor, places: tuple[Tensor, ...]) -> None:
        with torch.inference_mode():
            for turn in turns:
                torch.mm(rows, self._parts[turn], out=places[turn])


@cache
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "shadowviz-vocabulary")


def _num_processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
