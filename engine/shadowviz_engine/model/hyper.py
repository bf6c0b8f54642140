"""Manifold-constrained hyper-connections: several residual streams, mixed by a doubly stochastic matrix."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.model.layers import rms_norm
from shadowviz_engine.model.numerics import Linear


@dataclass(frozen=True)
class HyperParams:
    """Weights of one site, and how often its matrix is normalised."""

    project: Tensor
    """`[2 streams + streams^2, streams * hidden]`"""
    base: Tensor
    scale: Tensor
    """Of every output of the projection, as long as `base`."""
    iterations: int
    eps: float
    norm_eps: float


@dataclass(frozen=True)
class HeadParams:
    """Weights that collapse the streams at the end."""

    project: Tensor
    base: Tensor
    scale: Tensor
    eps: float
    norm_eps: float


def collapse(params: HyperParams, streams: Tensor, linear: Linear) -> tuple[Tensor, Tensor, Tensor]:
    """Input of the block behind this site, and how its output goes back into the streams.

    Args:
        streams: `[rows, n, hidden]`.

    Returns:
        `[rows, hidden]`; the weight of the block's output in each stream, `[rows, n, 1]`; and the matrix that mixes
        the old streams into the new, `[rows, n, n]`, to be multiplied from the left.
    """
    count = streams.shape[1]
    flat = rms_norm(streams.flatten(1).float(), None, params.norm_eps)
    mixes = torch.addcmul(params.base, linear(flat, params.project), params.scale)
    gates = torch.sigmoid(mixes[:, : 2 * count])
    inputs = gates[:, :count] + params.eps
    outputs = gates[:, count:] * 2
    square = torch.softmax(mixes[:, 2 * count :].unflatten(1, (count, count)), dim=-1) + params.eps
    balanced = balance(square, params.iterations, params.eps).to(streams.dtype)
    collapsed = torch.bmm(inputs.to(streams.dtype).unsqueeze(1), streams).squeeze(1)
    return collapsed, outputs.to(streams.dtype).unsqueeze(-1), balanced.transpose(1, 2)


def expand(streams: Tensor, output: Tensor, weights: Tensor, mixing: Tensor) -> Tensor:
    """`[rows, n, hidden]`: the mixed streams plus the block's `output` `[rows, hidden]`."""
    return torch.baddbmm(weights * output.unsqueeze(1), mixing, streams)


def collapse_head(params: HeadParams, streams: Tensor, linear: Linear) -> Tensor:
    """`[rows, hidden]`: the streams behind the last layer as one."""
    flat = rms_norm(streams.flatten(1).float(), None, params.norm_eps)
    mixes = torch.addcmul(params.base, linear(flat, params.project), params.scale)
    inputs = torch.sigmoid(mixes) + params.eps
    return torch.bmm(inputs.to(streams.dtype).unsqueeze(1), streams).squeeze(1)


def balance(square: Tensor, iterations: int, eps: float) -> Tensor:
    """`square` `[rows, n, n]`, positive, with columns and rows normalised in turn, columns first and last.

    Source: Sinkhorn and Knopp, 1967.
    """
    if square.is_cuda:
        return _balance_on_device(square, iterations, eps)
    return _balance_on_host(square, iterations, eps)


def _balance_on_device(square: Tensor, iterations: int, eps: float) -> Tensor:
    square = square / (square.sum(1, keepdim=True) + eps)
    for _ in range(iterations - 1):
        square = square / (square.sum(2, keepdim=True) + eps)
        square = square / (square.sum(1, keepdim=True) + eps)
    return square


def _balance_on_host(square: Tensor, iterations: int, eps: float) -> Tensor:
    # The cost is the number of operations, two a layer times 39: NumPy's are the cheaper ones, most of all with the
    # rows innermost. Every operation is rounded as IEEE 754 says, so the bits do not depend on the number of rows.
    count = square.shape[1]
    values = np.ascontiguousarray(square.numpy().transpose(1, 2, 0))
    floor = np.float32(eps)
    over_rows = np.empty((1, count, values.shape[2]), np.float32)
    over_columns = np.empty((count, 1, values.shape[2]), np.float32)
    _normalise(values, 0, over_rows, floor)
    for _ in range(iterations - 1):
        _normalise(values, 1, over_columns, floor)
        _normalise(values, 0, over_rows, floor)
    return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1)))


def _normalise(
    values: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]",
    axis: int,
    sums: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]",
    floor: np.float32,
) -> None:
    np.add.reduce(values, axis, None, sums, True)
    np.add(sums, floor, sums)
    np.divide(values, sums, values)
