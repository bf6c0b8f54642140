"""Attention of the reference model: a window of shared key-value rows, compressed entries, and a sink."""

from typing import NamedTuple

import torch
from torch import Tensor

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.reference_compress import (
    closed_entries,
    compress,
    index_scores,
    select_entries,
)
from shadowviz_engine.model.reference_ops import (
    State,
    linear,
    rms,
    rms_norm,
    rotate,
    split_channels,
    turns,
    under,
)


class Entries(NamedTuple):
    """Compressed entries `[batch, entries, head_dim]` and who reads them, a mask `[batch, tokens, entries]`."""

    rows: Tensor
    visible: Tensor
    scores: Tensor | None
    """Of the lightning indexer, `[batch, tokens, entries]`; None in a layer without one."""


class Attended(NamedTuple):
    """What attention gives and what an indexer is taught with."""

    output: Tensor
    """`[batch, tokens, hidden]`."""
    mass: Tensor
    """Share of attention on each entry, mean over heads, `[batch, tokens, entries]`."""
    scores: Tensor | None
    """See `Entries`."""


def attend(config: ModelConfig, state: State, layer: int, hidden: Tensor) -> Attended:
    """Attention of one layer.

    Args:
        config: of the model.
        state: of the layer's `self_attn`.
        layer: its number, which picks compressor and rotary angles.
        hidden: `[batch, tokens, hidden]`, normed.

    Source: DeepSeek-V4 technical report, section 2.3.
    """
    compressor, eps = config.compressor_of(layer), config.norm_eps
    rope = config.rope_main if compressor is None else config.rope_compress
    turned_by = turns(rope, hidden.shape[1], hidden.device)

    query_rank = rms_norm(state, "q_a_norm", linear(state, "q_a_proj", hidden), eps)
    query = rms(split_channels(linear(state, "q_b_proj", query_rank), config.head_dim).transpose(1, 2), eps)
    query = rotate(query, turned_by)
    kv = rotate(rms_norm(state, "kv_norm", linear(state, "kv_proj", hidden), eps), turned_by)

    if compressor is None:
        entries = _no_entries(hidden, config.head_dim)
    else:
        entries = _entries(config, compressor, under(state, "compressor."), _Inputs(hidden, query_rank, turned_by))
    rows = torch.cat([kv, entries.rows], dim=1).unsqueeze(1)
    in_window = _window(hidden.shape[1], config.n_win, hidden.device).expand(len(hidden), -1, -1)
    visible = torch.cat([in_window, entries.visible], dim=-1).unsqueeze(1)
    logits = (query @ rows.transpose(-1, -2) * config.head_dim**-0.5).masked_fill(~visible, -torch.inf)
    sinks = state["sinks"].view(1, -1, 1, 1).expand(*logits.shape[:-1], 1)
    weights = torch.cat([logits, sinks], dim=-1).softmax(-1)[..., :-1]
    # A row is key and value in one, so the values come turned by their positions: turning back by the query's leaves
    # a value that depends on the distance alone.
    output = rotate(weights @ rows, turned_by.conj())
    mass = weights[..., hidden.shape[1] :].mean(1)
    return Attended(_project_out(config, state, output), mass, entries.scores)


class _Inputs(NamedTuple):
    """What compressors and indexers read: see `compress` and `index_scores`."""

    hidden: Tensor
    query_rank: Tensor
    turned_by: Tensor


def _no_entries(hidden: Tensor, head_dim: int) -> Entries:
    batch, num_tokens, _ = hidden.shape
    nobody = hidden.new_empty(batch, num_tokens, 0, dtype=torch.bool)
    return Entries(hidden.new_empty(batch, 0, head_dim), nobody, None)


def _entries(config: ModelConfig, compressor: Compressor, state: State, inputs: _Inputs) -> Entries:
    hidden, query_rank, turned_by = inputs
    rows = compress(compressor, state, hidden, turned_by, config.norm_eps)
    closed = closed_entries(hidden.shape[1], compressor.ratio, hidden.device).expand(len(hidden), -1, -1)
    if not compressor.indexed:
        return Entries(rows, closed, None)
    indexer = under(state, "indexer.")
    keys = compress(compressor, indexer, hidden, turned_by, config.norm_eps)
    scores = index_scores(indexer, hidden, query_rank, turned_by, keys)
    return Entries(rows, select_entries(scores, closed, config.index_topk), scores)


def _window(num_tokens: int, n_win: int, device: torch.device) -> Tensor:
    """`[tokens, tokens]`: a query reads itself and the `n_win - 1` tokens before it."""
    position = torch.arange(num_tokens, device=device)
    age = position.unsqueeze(-1) - position
    return (age >= 0) & (age < n_win)


def _project_out(config: ModelConfig, state: State, output: Tensor) -> Tensor:
    """`[batch, tokens, hidden]`: heads `[batch, heads, tokens, head_dim]` in groups through a low rank, then mixed."""
    flat = output.transpose(1, 2).flatten(2)
    grouped = split_channels(flat, flat.shape[-1] // config.o_groups)
    matrices = state["o_a_proj.weight"].reshape(config.o_groups, -1, grouped.shape[-1])
    return linear(state, "o_b_proj", torch.einsum("btgi,goi->btgo", grouped, matrices).flatten(2))
