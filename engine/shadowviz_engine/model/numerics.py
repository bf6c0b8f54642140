"""The two numeric modes: which shapes a product may have, and with how many threads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from shadowviz_engine.model.balance import balance_quickly, balance_rows
from shadowviz_engine.model.tiles import Tile, attend_at_once, attend_in_tiles

Linear = Callable[[Tensor, Tensor], Tensor]

BLOCK = 16
"""Positions of one block of queries; blocks start at multiples of it."""
_MAX_ROWS = 512


class Numerics(StrEnum):
    """What a run promises about its bits."""

    EXACT = "exact"
    """Logits depend on the tokens alone: a resumed run equals a cold one bit for bit, in any batch (float32, CPU)."""
    FAST = "fast"
    """No such promise; free shapes."""


@dataclass(frozen=True)
class Shapes:
    """Sizes that the numeric mode prescribes; 0 = as many as there are."""

    entry_tile: int
    """Entries of one attention tile."""
    index_tile: int
    """Index keys scored by one product."""
    row_multiple: int
    """Leading sizes of products are padded to multiples of this."""


SHAPES = {Numerics.EXACT: Shapes(16, 64, BLOCK), Numerics.FAST: Shapes(0, 0, 1)}


def padded(count: int, multiple: int) -> int:
    """`count` rounded up to a multiple of `multiple`, which 0 leaves as it is."""
    return -(-count // multiple) * multiple if multiple else count


def fast_linear(rows: Tensor, weight: Tensor) -> Tensor:
    """`[n, in]` times `[in, out]` in one product: for few rows twice as fast as from weights stored `[out, in]`."""
    return torch.mm(rows, weight)


def exact_linear(rows: Tensor, weight: Tensor) -> Tensor:
    """The same for a multiple of 16 rows, at most 512 a product: a row's bits do not depend on the other rows.

    Kernels for fewer than 12 rows add in another order, and so may those for thousands.
    """
    assert rows.shape[0] % BLOCK == 0, f"{rows.shape[0]} rows are no multiple of {BLOCK}"
    if rows.shape[0] <= _MAX_ROWS:
        return torch.mm(rows, weight)
    return torch.cat([torch.mm(part, weight) for part in torch.split(rows, _MAX_ROWS)])


@dataclass(frozen=True)
class Kernels:
    """The operations that the numeric mode chooses."""

    linear: Linear
    balance: Callable[[Tensor, int, float], Tensor]
    attend: Callable[[list[Tile], Tensor], Tensor]


KERNELS = {
    Numerics.EXACT: Kernels(exact_linear, balance_rows, attend_in_tiles),
    Numerics.FAST: Kernels(fast_linear, balance_quickly, attend_at_once),
}


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run torch with `count` threads, and give the process its own number back afterwards."""
    before = torch.get_num_threads()
    if before == count:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
