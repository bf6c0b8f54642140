"""Compressors and lightning indexer of the reference model: many tokens into one entry, and which entries to read."""

import torch
from torch import Tensor
from torch.nn.functional import relu

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.reference_ops import State, linear, rms_norm, rotate, split_channels


def compress(compressor: Compressor, state: State, hidden: Tensor, turned_by: Tensor, eps: float) -> Tensor:
    """Entries of a compressor or of an indexer's, `[batch, tokens // ratio, channels]`.

    Entry i is the mean of the `kv` of its tokens, weighted channel by channel with the softmax of their gates, then
    normed and turned to the position of its window's first token. Its tokens are its window `[i*ratio, (i+1)*ratio)`
    and, with overlap, the window before. A compressor that is indexed projects each token to two series of channels,
    the first for the entry after its window and the second for that of its window.

    Args:
        compressor: of the layer.
        state: its `kv_proj`, `gate_proj`, `position_bias [ratio, channels]` and `kv_norm`.
        hidden: `[batch, tokens, hidden]`.
        turned_by: `[tokens, pairs]`, see `turns`.
        eps: of the norm.

    Source: DeepSeek-V4 technical report, sections 2.3.1 and 2.3.2.
    """
    ratio = compressor.ratio
    kv = _windows(linear(state, "kv_proj", hidden), ratio)
    gate = _windows(linear(state, "gate_proj", hidden), ratio) + state["position_bias"]
    if compressor.indexed:
        kv_for_next, kv = kv.chunk(2, dim=-1)
        gate_for_next, gate = gate.chunk(2, dim=-1)
        if compressor.overlap:
            kv = torch.cat([_from_window_before(kv_for_next, 0.0), kv], dim=2)
            gate = torch.cat([_from_window_before(gate_for_next, -torch.inf), gate], dim=2)
    pooled = rms_norm(state, "kv_norm", (kv * gate.softmax(dim=2)).sum(dim=2), eps)
    return rotate(pooled, turned_by[: ratio * pooled.shape[1] : ratio])


def index_scores(state: State, hidden: Tensor, query_rank: Tensor, turned_by: Tensor, keys: Tensor) -> Tensor:
    """Score of every entry for every query, `[batch, tokens, entries]`, closed or not.

    Args:
        state: of the indexer: `q_b_proj` and `scorer.weights_proj`.
        hidden: `[batch, tokens, hidden]`.
        query_rank: `[batch, tokens, rank]`, the low-rank query that attention uses too.
        turned_by: `[tokens, pairs]`, see `turns`.
        keys: `[batch, entries, index_dim]`.

    Source: DeepSeek-V4 technical report, section 2.3.1: the sum over heads of weight times ReLU(query . key).
    """
    index_dim = keys.shape[-1]
    query = rotate(split_channels(linear(state, "q_b_proj", query_rank), index_dim).transpose(1, 2), turned_by)
    weights = linear(state, "scorer.weights_proj", hidden)
    agreement = relu(query @ keys.transpose(-1, -2).unsqueeze(1)) * index_dim**-0.5
    return torch.einsum("bhte,bth->bte", agreement, weights * weights.shape[-1] ** -0.5)


def closed_entries(num_tokens: int, ratio: int, device: torch.device) -> Tensor:
    """Which entries are closed at each token, `[tokens, tokens // ratio]`: those whose window ends there or earlier."""
    num_closed = (torch.arange(num_tokens, device=device) + 1) // ratio
    return torch.arange(num_tokens // ratio, device=device) < num_closed.unsqueeze(-1)


def select_entries(scores: Tensor, closed: Tensor, index_topk: int) -> Tensor:
    """Which entries each query reads, a mask `[batch, tokens, entries]`.

    They are the `index_topk` closed entries with the highest scores, the lowest index first among equals; all closed
    ones when there are no more than that.
    """
    ranked = scores.masked_fill(~closed, -torch.inf).sort(dim=-1, descending=True, stable=True).indices
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, ranked[..., :index_topk], value=True)
    return chosen & closed


def _windows(rows: Tensor, ratio: int) -> Tensor:
    """`[batch, windows, ratio, channels]`: the full windows of `rows [batch, tokens, channels]`."""
    batch, num_tokens, num_channels = rows.shape
    num_windows = num_tokens // ratio
    return rows[:, : num_windows * ratio].reshape(batch, num_windows, ratio, num_channels)


def _from_window_before(windows: Tensor, first: float) -> Tensor:
    """`windows` moved on by one, with `first` in every row of the first."""
    return torch.cat([torch.full_like(windows[:, :1], first), windows[:, :-1]], dim=1)
