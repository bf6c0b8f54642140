"""Seeded random weights under which a fault in the state shows in the logits."""

import hashlib
import math

import torch
from torch import Tensor

from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.names import expected_shapes

_CLOSED_GATE = -1e30


def random_weights(config: ModelConfig, seed: int = 0) -> dict[str, Tensor]:
    """State dict in float32: every tensor depends on its name and `seed` alone.

    Matrices have the standard deviation fan_in ** -0.5, compressor gates twice that: with the customary 0.02 attention
    is nearly uniform, and a wrong row of state hardly moves a logit. Where the configuration has no overlap, the gate
    of the overlap is closed, so that transformers, which always overlaps, gives the same logits.
    """
    return {name: _tensor(config, name, shape, seed) for name, shape in expected_shapes(config).items()}


def _tensor(config: ModelConfig, name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(_seed_of(name, seed))
    if name.endswith("tid2eid"):
        return _expert_table(config.num_experts, shape, generator)
    if name.endswith(("norm.weight", "layernorm.weight")):
        return 1.0 + 0.1 * torch.randn(shape, generator=generator)
    if name.endswith("scale"):
        return torch.ones(shape)
    if name.endswith("e_score_correction_bias"):
        return torch.zeros(shape)
    values = torch.randn(shape, generator=generator) * _deviation(name, shape)
    if name.endswith("position_bias") and not _overlaps(config, name):
        values[:, : shape[1] // 2] = _CLOSED_GATE
    return values


def _deviation(name: str, shape: tuple[int, ...]) -> float:
    if name.endswith(("sinks", "position_bias")):
        return 1.0
    if name.endswith("base"):
        return 0.5
    if name.endswith(("attn_hc.fn", "ffn_hc.fn", "hc_fn")):
        return 0.1
    if name.endswith("embed_tokens.weight"):
        return 1.0
    gate = 2.0 if ".compressor." in name and name.endswith("gate_proj.weight") else 1.0
    return gate / math.sqrt(shape[-1])


def _overlaps(config: ModelConfig, name: str) -> bool:
    """Whether the compressor that `name` belongs to keeps both halves of its gate open."""
    compressor = config.compressor_of(int(name.split(".")[2]))
    return compressor is None or compressor.overlap or not compressor.indexed


def _expert_table(num_experts: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """`[tokens, experts a token]`: distinct experts for every token id."""
    order = torch.rand(shape[0], num_experts, generator=generator).argsort(dim=1)
    return order[:, : shape[1]].contiguous()


def _seed_of(name: str, seed: int) -> int:
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")
