"""The lightning indexer: which entries a query attends to."""

from dataclasses import dataclass

import torch
from torch import Tensor

NEAR_TIE = 1e-5
"""Scores so close that another kernel, or another order of summation, may choose otherwise."""
_MAX_SCORES = 1 << 24
"""Products held at a time, over blocks, queries, heads and keys."""


@dataclass(frozen=True)
class Chosen:
    """Entries that every query of a group attends to."""

    entries: Tensor
    """`[queries, top_k]`, ascending; those from the query's number of visible entries on are padding."""
    best: Tensor | None
    """`[queries, 1]`: the largest score, NaN if any is; None when no query had to leave an entry out."""
    margin: Tensor | None
    """`[queries]`: last chosen score minus first unchosen one; None when none is below NEAR_TIE."""


def score_entries(query: Tensor, weights: Tensor, keys: Tensor, rows: Tensor, tile: int) -> Tensor:
    """Score of every entry for every query: the weighted sum over heads of max(0, query . key).

    Args:
        query: `[blocks, width * heads, dim]`, rotated.
        weights: `[blocks * width, 1, heads]`, scaled.
        keys: `[rows, dim]`, all index keys of the layer.
        rows: `[blocks, entries]`, the entries' rows; a multiple of `tile`.

    Returns:
        `[blocks * width, entries]`; entries that are not there score as their dummy row does.

    Source: DeepSeek-V4 technical report, section 2.3.1, equation 16.
    """
    num_blocks, num_entries = rows.shape
    at_a_time = max(1, _MAX_SCORES // (query.shape[1] * num_entries))
    width = weights.shape[0] // num_blocks
    pieces = [
        _score_blocks(
            query[first : first + at_a_time],
            weights[first * width : (first + at_a_time) * width],
            keys,
            rows[first : first + at_a_time],
            tile,
        )
        for first in range(0, num_blocks, at_a_time)
    ]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def _score_blocks(query: Tensor, weights: Tensor, keys: Tensor, rows: Tensor, tile: int) -> Tensor:
    tiles = []
    for part in torch.split(rows, tile, dim=1):
        key = keys.index_select(0, part.flatten()).view(*part.shape, -1)
        products = torch.bmm(query, key.transpose(1, 2)).relu_()
        tiles.append(torch.bmm(weights, products.view(weights.shape[0], weights.shape[2], -1)).squeeze(1))
    return tiles[0] if len(tiles) == 1 else torch.cat(tiles, dim=1)


def choose_entries(scores: Tensor, unseen: Tensor, top_k: int) -> Chosen:
    """The `top_k` best entries of each query, equal scores by lowest entry; changes `scores` in place.

    Args:
        scores: `[queries, entries]`, more entries than `top_k`.
        unseen: `[queries, entries]`, whether an entry is not closed at the query.
    """
    scores.masked_fill_(unseen, -torch.inf)
    best, order = scores.topk(top_k + 1, dim=1)
    margin = best[:, top_k - 1] - best[:, top_k]
    entries = order[:, :top_k]
    if not bool((margin < NEAR_TIE).any()):
        return Chosen(entries.sort(dim=1).values, best[:, :1], None)
    # The order in which topk leaves equal scores depends on the length of the row.
    tied = torch.nonzero(margin == 0).flatten()
    ordered = scores.index_select(0, tied).sort(dim=1, descending=True, stable=True)
    entries = entries.index_copy(0, tied, ordered.indices[:, :top_k])
    return Chosen(entries.sort(dim=1).values, best[:, :1], margin)


def all_entries(num_queries: int, count: int, device: torch.device) -> Chosen:
    """The first `count` entries for every query, where none sees more."""
    return Chosen(torch.arange(count, device=device).expand(num_queries, count), None, None)
