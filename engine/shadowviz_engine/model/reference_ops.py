"""Norms, rotary positions and sub-dicts of a state dict, shared by the modules of the reference model."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

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


def angular_frequencies(rope: Mapping[str, Any], head_dim: int) -> Tensor:
    """Radians a token turns each pair of rotary channels, `[pairs]` in float32.

    Args:
        rope: one entry (`main` or `compress`) of `rope_parameters` in the model's config.
        head_dim: channels of an attention head, of which a share `partial_rotary_factor` turns.

    Source: rotary embedding, arXiv 2104.09864; for `rope_type` yarn, arXiv 2309.00071 section 3.2 ("NTK by parts").
    """
    num_channels = int(head_dim * rope["partial_rotary_factor"])
    exponents = torch.arange(0, num_channels, 2, dtype=torch.float32) / num_channels
    plain = 1.0 / rope["rope_theta"] ** exponents
    if rope["rope_type"] == "default":
        return plain
    # A pair that makes `beta_fast` turns or more within the original context keeps its frequency, one that makes
    # fewer than `beta_slow` is slowed down by `factor`, and those between are blended along a ramp over pair numbers.
    first = max(math.floor(_pair_that_makes(rope.get("beta_fast") or 32, rope, num_channels)), 0)
    last = min(math.ceil(_pair_that_makes(rope.get("beta_slow") or 1, rope, num_channels)), num_channels - 1)
    pairs = torch.arange(num_channels // 2, dtype=torch.float32)
    slowed = ((pairs - first) / max(last - first, 0.001)).clamp(0, 1)
    return plain / rope["factor"] * slowed + plain * (1 - slowed)


def _pair_that_makes(num_turns: float, rope: Mapping[str, Any], num_channels: int) -> float:
    """The (fractional) pair that turns `num_turns` times over the original context length."""
    radians_a_token = 2 * math.pi * num_turns / rope["original_max_position_embeddings"]
    return -num_channels * math.log(radians_a_token) / (2 * math.log(rope["rope_theta"]))


def rotate(hidden: Tensor, angles: Tensor) -> Tensor:
    """`hidden` with its last channels turned, as neighbouring pairs, by `angles`.

    Args:
        hidden: `[..., tokens, channels]`.
        angles: `[tokens, pairs]` in radians; the last `2 * pairs` channels turn, the others stay.
    """
    num_turning = 2 * angles.shape[-1]
    still, turning = hidden[..., :-num_turning], hidden[..., -num_turning:]
    even, odd = turning[..., 0::2], turning[..., 1::2]
    cos, sin = angles.cos().to(hidden.dtype), angles.sin().to(hidden.dtype)
    turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)
    return torch.cat([still, turned], dim=-1)
