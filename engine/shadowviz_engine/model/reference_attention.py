"""Attention of the reference model: a window of shared key-value rows, compressed entries, and a sink."""

from typing import NamedTuple

import torch
from torch import Tensor

from shadowviz_engine.model.reference_compress import (
    closed_entries,
    compress,
    compress_overlapping,
    index_scores,
    select_entries,
)
from shadowviz_engine.model.reference_config import ReferenceConfig
from shadowviz_engine.model.reference_ops import (
    State,
    angular_frequencies,
    linear,
    rms,
    rms_norm,
    rotate,
    split_channels,
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


def attend(config: ReferenceConfig, state: State, layer: int, hidden: Tensor) -> Attended:
    """Attention of one layer.

    Args:
        config: of the model.
        state: of the layer's `self_attn`.
        layer: its number, which picks compressor and rotary angles.
        hidden: `[batch, tokens, hidden]`, normed.

    Source: DeepSeek-V4 technical report, section 2.3.
    """
    kind, eps = config.layer_types[layer], config.rms_norm_eps
    rope = config.rope_parameters["main" if kind == "sliding_attention" else "compress"]
    frequencies = angular_frequencies(rope, config.head_dim).to(hidden.device)
    angles = torch.arange(hidden.shape[1], device=hidden.device).unsqueeze(-1) * frequencies

    query_rank = rms_norm(state, "q_a_norm", linear(state, "q_a_proj", hidden), eps)
    query = rms(split_channels(linear(state, "q_b_proj", query_rank), config.head_dim).transpose(1, 2), eps)
    query = rotate(query, angles)
    kv = rotate(rms_norm(state, "kv_norm", linear(state, "kv_proj", hidden), eps), angles)

    entries = _entries(config, under(state, "compressor."), kind, _Inputs(hidden, query_rank, frequencies, angles))
    rows = torch.cat([kv, entries.rows], dim=1).unsqueeze(1)
    in_window = _window(hidden.shape[1], config.sliding_window, hidden.device).expand(len(hidden), -1, -1)
    visible = torch.cat([in_window, entries.visible], dim=-1).unsqueeze(1)
    logits = (query @ rows.transpose(-1, -2) * config.head_dim**-0.5).masked_fill(~visible, -torch.inf)
    sinks = state["sinks"].view(1, -1, 1, 1).expand(*logits.shape[:-1], 1)
    weights = torch.cat([logits, sinks], dim=-1).softmax(-1)[..., :-1]
    # The rows are keys and values in one, so the values came with their positions: turn the sum back to the query's.
    output = rotate(weights @ rows, -angles)
    mass = weights[..., hidden.shape[1] :].mean(1)
    return Attended(_project_out(config, state, output), mass, entries.scores)


class _Inputs(NamedTuple):
    """What compressors and indexers read: see `compress` and `index_scores`."""

    hidden: Tensor
    query_rank: Tensor
    frequencies: Tensor
    angles: Tensor


def _entries(config: ReferenceConfig, state: State, kind: str, inputs: _Inputs) -> Entries:
    hidden, query_rank, frequencies, angles = inputs
    batch, num_tokens, _ = hidden.shape
    if kind == "sliding_attention":
        none = hidden.new_empty(batch, 0, config.head_dim)
        return Entries(none, hidden.new_empty(batch, num_tokens, 0, dtype=torch.bool), None)
    closed = closed_entries(num_tokens, len(state["position_bias"]), hidden.device).expand(batch, -1, -1)
    if kind == "heavily_compressed_attention":
        return Entries(compress(state, hidden, frequencies, config.rms_norm_eps), closed, None)
    indexer = under(state, "indexer.")
    keys = compress_overlapping(indexer, hidden, frequencies, config.rms_norm_eps)
    scores = index_scores(indexer, hidden, query_rank, angles, keys)
    rows = compress_overlapping(state, hidden, frequencies, config.rms_norm_eps)
    return Entries(rows, select_entries(scores, closed, config.index_topk), scores)


def _window(num_tokens: int, n_win: int, device: torch.device) -> Tensor:
    """`[tokens, tokens]`: a query reads itself and the `n_win - 1` tokens before it."""
    position = torch.arange(num_tokens, device=device)
    age = position.unsqueeze(-1) - position
    return (age >= 0) & (age < n_win)


def _project_out(config: ReferenceConfig, state: State, output: Tensor) -> Tensor:
    """`[batch, tokens, hidden]`: heads `[batch, heads, tokens, head_dim]` in groups through a low rank, then mixed."""
    flat = output.transpose(1, 2).flatten(2)
    grouped = split_channels(flat, flat.shape[-1] // config.o_groups)
    matrices = state["o_a_proj.weight"].reshape(config.o_groups, -1, grouped.shape[-1])
    return linear(state, "o_b_proj", torch.einsum("btgi,goi->btgo", grouped, matrices).flatten(2))
