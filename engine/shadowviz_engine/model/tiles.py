"""Softmax attention over several sets of keys and a sink."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tile:
    """Keys that some queries attend to in one product."""

    scores: Tensor
    """`[batch, queries * heads, keys]`, masked with -inf."""
    values: Tensor
    """`[batch, keys, head_dim]`"""


def attend_in_tiles(tiles: list[Tile], sinks: Tensor) -> Tensor:
    """`[queries, heads, head_dim]`: softmax over the keys of all tiles and the sink, times the values.

    The largest score is taken over all tiles first; sums and products then run tile after tile, so that a tile that
    is masked throughout adds exact zeros, and more tiles do not change the bits.

    Args:
        tiles: in absolute order.
        sinks: `[heads]`, a logit without a value.
    """
    heads = sinks.shape[0]
    largest = sinks
    for tile in tiles:
        largest = torch.maximum(largest, tile.scores.amax(dim=-1).view(-1, heads))
    total = (sinks - largest).exp_()
    output: Tensor | None = None
    for tile in tiles:
        batch, queries, _ = tile.scores.shape
        weights = (tile.scores - largest.view(batch, queries, 1)).exp_()
        total += weights.sum(dim=-1).view(-1, heads)
        part = torch.bmm(weights, tile.values)
        output = part.view(-1, heads, part.shape[-1]) if output is None else output.add_(part.view(output.shape))
    assert output is not None
    return output.div_(total.unsqueeze(-1))


def attend_at_once(tiles: list[Tile], sinks: Tensor) -> Tensor:
    """As `attend_in_tiles`, in as few operations as there can be."""
    heads = sinks.shape[0]
    num_queries = tiles[0].scores.shape[0] * tiles[0].scores.shape[1] // heads
    parts = [tile.scores.view(num_queries, heads, -1) for tile in tiles]
    sizes = [part.shape[2] for part in parts]
    scores = torch.cat([*parts, sinks.to(parts[0].dtype).view(1, heads, 1).expand(num_queries, -1, 1)], dim=2)
    weights = torch.softmax(scores, dim=2, dtype=torch.float32).to(scores.dtype).split_with_sizes([*sizes, 1], dim=2)
    output = torch.zeros((), device=sinks.device)
    for number, (tile, weight) in enumerate(zip(tiles, weights, strict=False)):
        part = torch.bmm(weight.reshape(tile.scores.shape), tile.values).view(num_queries, heads, -1)
        output = part if number == 0 else output.add_(part)
    return output
