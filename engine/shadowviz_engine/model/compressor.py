"""Pooling of a window of tokens into one entry."""

from dataclasses import dataclass

import torch
from torch import Tensor

from shadowviz_engine.model.layers import normalise, rotate
from shadowviz_engine.model.params import PoolParams
from shadowviz_engine.model.plan import ClosingEntries


@dataclass(frozen=True)
class Pooling:
    """How the closing windows of a step are pooled, the same for all layers."""

    entries: ClosingEntries
    turns: Tensor
    """Rotation to the first position of each window, `[entries, rotary_dim / 2]`."""


def close_entries(params: PoolParams, pooling: Pooling, tails: Tensor, target: Tensor) -> None:
    """Pool the windows that close in this step and store them in `target`.

    Args:
        tails: `[slots, 2 * series * dim]`, the raw kv and gate rows, those of this step included.
        target: `[rows, dim]`, changed in place.

    Source: DeepSeek-V4 technical report, sections 2.3.1 and 2.3.2.
    """
    entries = pooling.entries
    dim = target.shape[1]
    parts = tails.view(-1, dim).index_select(0, entries.parts.flatten()).view(*entries.parts.shape, dim)
    weights = torch.softmax(parts[:, 1].float() + params.bias + entries.absent, dim=1)
    pooled = (parts[:, 0] * weights.to(parts.dtype)).sum(dim=1)
    rows = rotate(normalise(pooled, params.norm), pooling.turns)
    target.index_copy_(0, entries.targets, rows[: entries.targets.shape[0]])
