"""Manifold-constrained hyper-connections: several residual streams, mixed by a doubly stochastic matrix."""

from dataclasses import dataclass

import torch
from torch import Tensor

from shadowviz_engine.model.layers import inverse_length
from shadowviz_engine.model.numerics import Kernels


@dataclass(frozen=True)
class HyperParams:
    """Weights of one site, and how often its matrix is normalised."""

    floor: Tensor
    """Of the sum of squares of the streams."""
    project: Tensor
    """`[streams * hidden, 2 streams + streams^2]`: with the scales and the square root of the width in it."""
    base: Tensor
    factor: Tensor
    """`[2 streams]`: 1 for what is read from the streams, 2 for what is written to them."""
    least: Tensor
    """`[2 streams]`: eps for what is read, 0 for what is written."""
    iterations: int
    eps: float


@dataclass(frozen=True)
class HeadParams:
    """Weights that collapse the streams at the end; fields as in HyperParams."""

    floor: Tensor
    project: Tensor
    base: Tensor
    eps: float


def collapse(params: HyperParams, streams: Tensor, kernels: Kernels) -> tuple[Tensor, Tensor, Tensor]:
    """Input of the block behind this site, and how its output goes back into the streams.

    Args:
        streams: `[rows, n, hidden]`.

    Returns:
        `[rows, hidden]`; the weight of the block's output in each stream, `[rows, n, 1]`; and the matrix that mixes
        the old streams into the new, `[rows, n, n]`, to be multiplied from the left.
    """
    num_rows, count, _ = streams.shape
    flat = streams.flatten(1).float()
    mixes = torch.addcmul(params.base, kernels.linear(flat, params.project), inverse_length(flat, params.floor))
    gates = torch.addcmul(params.least, torch.sigmoid(mixes[:, : 2 * count]), params.factor).to(streams.dtype)
    inputs, outputs = gates.view(num_rows, 2, count, 1).unbind(1)
    square = torch.softmax(mixes[:, 2 * count :].view(num_rows, count, count), dim=-1)
    mixing = kernels.balance(square, params.iterations, params.eps).to(streams.dtype)
    collapsed = torch.bmm(inputs.transpose(1, 2), streams).squeeze(1)
    return collapsed, outputs, mixing


def expand(streams: Tensor, output: Tensor, weights: Tensor, mixing: Tensor) -> Tensor:
    """`[rows, n, hidden]`: the mixed streams plus the block's `output` `[rows, hidden]`."""
    return torch.baddbmm(weights * output.unsqueeze(1), mixing, streams)


def collapse_head(params: HeadParams, streams: Tensor, kernels: Kernels) -> Tensor:
    """`[rows, hidden]`: the streams behind the last layer as one."""
    flat = streams.flatten(1).float()
    mixes = torch.addcmul(params.base, kernels.linear(flat, params.project), inverse_length(flat, params.floor))
    inputs = torch.sigmoid(mixes) + params.eps
    return torch.bmm(inputs.to(streams.dtype).unsqueeze(1), streams).squeeze(1)
