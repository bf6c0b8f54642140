"""Norms, rotary positions and sub-dicts of a state dict, shared by the modules of the reference model."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from shadowviz_engine.model.config import Rope, YarnScaling

State = Mapping[str, Tensor]


def under(state: State, prefix: str) -> dict[str, Tensor]:
    """The entries of `state` whose name starts with `prefix`, with that prefix taken off."""
    return {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}


def linear(state: State, name: str, hidden: Tensor) -> Tensor:
    """`hidden [..., inputs]` times the matrix `<name>.weight [outputs, inputs]`, without a bias."""
    return hidden @ state[f"{name}.weight"].T


def split_channels(rows: Tensor, width: int) -> Tensor:
    """`[..., parts, width]`: the last axis cut into parts of `width` channels, as the heads of a projection are."""
    return rows.reshape(*rows.shape[:-1], -1, width)


def rms(hidden: Tensor, eps: float) -> Tensor:
    """`hidden` divided by the root of the mean square of its last axis."""
    return hidden * torch.rsqrt(hidden.square().mean(-1, keepdim=True) + eps)


def rms_norm(state: State, name: str, hidden: Tensor, eps: float) -> Tensor:
    """`rms` times the learned weight `<name>.weight` of the last axis."""
    return state[f"{name}.weight"] * rms(hidden, eps)


def turns(rope: Rope, num_tokens: int, device: torch.device) -> Tensor:
    """How far each pair of rotary channels is turned at positions 0 and up, `[tokens, pairs]` as complex numbers.

    Source: rotary embedding, arXiv 2104.09864; its stretched form, arXiv 2309.00071 section 3.2 ("NTK by parts").
    """
    exponents = torch.arange(0, rope.rotary_dim, 2, dtype=torch.float32) / rope.rotary_dim
    frequencies = 1.0 / rope.theta**exponents
    length = 1.0
    if rope.yarn is not None:
        slowed = _share_slowed(rope, rope.yarn)
        frequencies = frequencies / rope.yarn.factor * slowed + frequencies * (1 - slowed)
        length = rope.yarn.attention_factor
    angles = torch.arange(num_tokens, dtype=torch.float32).unsqueeze(-1) * frequencies
    return torch.polar(torch.full_like(angles, length), angles).to(device)


def _share_slowed(rope: Rope, yarn: YarnScaling) -> Tensor:
    """How much of `factor` each pair is slowed by, `[pairs]` from 0 to 1.

    A pair that makes `beta_fast` turns or more within the original positions is not slowed at all, one that makes
    fewer than `beta_slow` wholly, and those between along a ramp over the pairs' numbers.
    """
    first, last = (
        -rope.rotary_dim * math.log(2 * math.pi * num_turns / yarn.original_positions) / (2 * math.log(rope.theta))
        for num_turns in (yarn.beta_fast, yarn.beta_slow)
    )
    start, stop = max(math.floor(first), 0), min(math.ceil(last), rope.rotary_dim - 1)
    pairs = torch.arange(rope.rotary_dim // 2, dtype=torch.float32)
    return ((pairs - start) / max(stop - start, 0.001)).clamp(0, 1)


def rotate(hidden: Tensor, turned_by: Tensor) -> Tensor:
    """`hidden` with its last channels turned as neighbouring pairs.

    Args:
        hidden: `[..., tokens, channels]`.
        turned_by: `[tokens, pairs]`, see `turns`; the last `2 * pairs` channels turn, the others stay.
    """
    num_turning = 2 * turned_by.shape[-1]
    still, turning = hidden[..., :-num_turning], hidden[..., -num_turning:]
    even, odd = turning[..., 0::2], turning[..., 1::2]
    cos, sin = turned_by.real.to(hidden.dtype), turned_by.imag.to(hidden.dtype)
    turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)
    return torch.cat([still, turned], dim=-1)
