"""Normalisation and rotary embedding."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from shadowviz_engine.model.config import Rope

_TABLE_STEP = 1024


@dataclass(frozen=True)
class Norm:
    """Root-mean-square normalisation, as sums: rows / sqrt(sum of squares + floor) * weight."""

    weight: Tensor | None
    """`[dim]`, with the square root of dim in it; None = leave that factor, and the weight, to what follows."""
    floor: Tensor
    """dim * eps, a tensor of no dimensions: a Python number costs a tensor at every use."""


def norm_of(weight: Tensor, eps: float) -> Norm:
    """Normalisation with the learned `weight` `[dim]`."""
    dim = weight.shape[0]
    return Norm(weight * math.sqrt(dim), torch.tensor(dim * eps, device=weight.device))


def unit_norm_of(dim: int, eps: float, device: torch.device) -> Norm:
    """Normalisation to length 1 instead of the square root of `dim`."""
    return Norm(None, torch.tensor(dim * eps, device=device))


def normalise(rows: Tensor, norm: Norm) -> Tensor:
    """`[..., dim]` normalised in float32, in the type of `rows`."""
    wide = rows.float()
    scaled = wide * inverse_length(wide, norm.floor)
    return (scaled if norm.weight is None else scaled.mul_(norm.weight)).to(rows.dtype)


def inverse_length(rows: Tensor, floor: Tensor) -> Tensor:
    """`[..., 1]`: 1 / sqrt(sum of squares + floor) of `rows` `[..., dim]`."""
    return (rows * rows).sum(dim=-1, keepdim=True).add_(floor).rsqrt_()


def rotate(rows: Tensor, turns: Tensor) -> Tensor:
    """Turn the trailing channels of `rows`, neighbouring channels as one complex number; changes `rows` in place.

    Args:
        rows: `[..., dim]`, contiguous.
        turns: complex, `[..., rotary_dim / 2]`.
    """
    half = turns.shape[-1]
    trailing = rows[..., -2 * half :]
    if rows.dtype is torch.float32:
        torch.view_as_complex(trailing.view(*trailing.shape[:-1], half, 2)).mul_(turns)
        return rows
    turned = torch.view_as_complex(trailing.float().view(*trailing.shape[:-1], half, 2)) * turns
    trailing.copy_(torch.view_as_real(turned).flatten(-2))
    return rows


def inverse_frequencies(rope: Rope) -> Tensor:
    """`[rotary_dim / 2]`: radians a position, stretched by YaRN where the embedding has it.

    Source: YaRN, arXiv 2309.00071, section 3.2.
    """
    exponents = torch.arange(0, rope.rotary_dim, 2, dtype=torch.float32) / rope.rotary_dim
    plain = 1.0 / rope.theta**exponents
    yarn = rope.yarn
    if yarn is None:
        return plain
    low = max(math.floor(_channel_of(yarn.beta_fast, rope, yarn.original_positions)), 0)
    high = min(math.ceil(_channel_of(yarn.beta_slow, rope, yarn.original_positions)), rope.rotary_dim - 1)
    steps = torch.arange(rope.rotary_dim // 2, dtype=torch.float32)
    stretched = ((steps - low) / max(high - low, 0.001)).clamp(0, 1)
    return plain / yarn.factor * stretched + plain * (1 - stretched)


def _channel_of(rotations: float, rope: Rope, positions: int) -> float:
    """The channel pair that turns `rotations` times over `positions`."""
    turns = math.log(positions / (rotations * 2 * math.pi))
    return rope.rotary_dim * turns / (2 * math.log(rope.theta))


class RopeTable:
    """Turns of every position up to the furthest asked for, computed in steps of a fixed size."""

    def __init__(self, rope: Rope, device: torch.device) -> None:
        self._frequencies = inverse_frequencies(rope)
        self._scale = 1.0 if rope.yarn is None else rope.yarn.attention_factor
        self._device = device
        self._turns = torch.empty(0, rope.rotary_dim // 2, dtype=torch.complex64, device=device)

    def turns(self, positions: Tensor, furthest: int) -> Tensor:
        """`[n, rotary_dim / 2]` complex, for `positions` of at most `furthest`."""
        while self._turns.shape[0] <= furthest:
            first = self._turns.shape[0]
            angles = torch.arange(first, first + _TABLE_STEP, dtype=torch.float32)[:, None] * self._frequencies
            step = torch.complex(angles.cos() * self._scale, angles.sin() * self._scale)
            self._turns = torch.cat([self._turns, step.to(self._device)])
        return self._turns.index_select(0, positions)
