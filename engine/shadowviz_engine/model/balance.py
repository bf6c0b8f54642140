"""Sinkhorn's algorithm: positive matrices made doubly stochastic."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

_TURNS_A_LOOK = 4
_NEGLIGIBLE_EPS = 1000
"""Times eps that the least entry must be for the eps of each divisor to change nothing but rounding."""
_SETTLED = 3e-7
"""Spread of the row sums, about 1, from which on another turn changes nothing but rounding."""

Floats = npt.NDArray[np.float32]


def balance_rows(square: Tensor, iterations: int, eps: float) -> Tensor:
    """Transposed `square` `[rows, n, n]` plus eps, its columns and rows normalised in turn, columns first and last.

    On the CPU. The bits of a row do not depend on the number of rows: additions and divisions are rounded as IEEE 754
    says, and a sum over so few numbers is taken in order.

    Source: Sinkhorn and Knopp, 1967; the order and the eps are the model's.
    """
    # The cost is the number of operations, two sites a layer times 39 normalisations: NumPy's are the cheaper ones,
    # most of all with the rows innermost.
    floor = np.float32(eps)
    values = np.add(square.numpy().transpose(1, 2, 0), floor, order="C")
    _, count, num_rows = values.shape
    over_rows = np.empty((1, count, num_rows), np.float32)
    over_columns = np.empty((count, 1, num_rows), np.float32)
    _normalise(values, 0, over_rows, floor)
    for _ in range(iterations - 1):
        _normalise(values, 1, over_columns, floor)
        _normalise(values, 0, over_rows, floor)
    return torch.from_numpy(values).permute(2, 1, 0).contiguous()


def _normalise(values: Floats, axis: int, sums: Floats, floor: np.float32) -> None:
    np.add.reduce(values, axis=axis, out=sums, keepdims=True)
    np.add(sums, floor, sums)
    np.divide(values, sums, values)


def balance_quickly(square: Tensor, iterations: int, eps: float) -> Tensor:
    """As `balance_rows`, on any device, within a few eps of it."""
    if square.is_cuda:
        return _balance_on_device(square, iterations, eps)
    return _balance_one(square, iterations, eps) if square.shape[0] == 1 else balance_rows(square, iterations, eps)


def _balance_on_device(square: Tensor, iterations: int, eps: float) -> Tensor:
    values = square + eps
    values = values / (values.sum(1, keepdim=True) + eps)
    for _ in range(iterations - 1):
        values = values / (values.sum(2, keepdim=True) + eps)
        values = values / (values.sum(1, keepdim=True) + eps)
    return values.transpose(1, 2)


def _balance_one(square: Tensor, iterations: int, eps: float) -> Tensor:
    """A single matrix: what its rows and columns are divided by, as two vectors, until they no longer move."""
    values = np.add(square.numpy()[0], np.float32(eps))
    if np.minimum.reduce(values, axis=None) < _NEGLIGIBLE_EPS * eps:
        return balance_rows(square, iterations, eps)
    transposed = np.ascontiguousarray(values.T)
    rows = np.ones(values.shape[0], np.float32)
    sums = np.empty_like(rows)
    columns = np.reciprocal(np.dot(transposed, rows))
    dot, reciprocal = np.dot, np.reciprocal
    for turn in range(1, iterations):
        dot(values, columns, sums)
        if turn % _TURNS_A_LOOK == 0 and _spread(sums * rows) < _SETTLED:
            break
        reciprocal(sums, rows)
        dot(transposed, rows, columns)
        reciprocal(columns, columns)
    # Of the eps in each divisor, about 1, only the last one's is left: the next division takes the others back.
    columns *= np.float32(1 - eps)
    transposed *= columns[:, None]
    transposed *= rows
    return torch.from_numpy(transposed).unsqueeze(0)


def _spread(values: Floats) -> float:
    return float(np.maximum.reduce(values) - np.minimum.reduce(values))
