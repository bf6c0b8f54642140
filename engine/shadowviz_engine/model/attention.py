"""Shared-key attention with sinks over the sliding window and compressed entries, on paged state."""

from dataclasses import dataclass

import torch
from torch import Tensor

from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.compressor import Pooling, close_entries
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.indexer import Chosen, all_entries, choose_entries, score_entries
from shadowviz_engine.model.layers import normalise, rotate
from shadowviz_engine.model.numerics import Kernels
from shadowviz_engine.model.params import AttentionParams
from shadowviz_engine.model.plan import BlockGroup, EntryTable, StepPlan
from shadowviz_engine.model.tiles import Tile
from shadowviz_engine.model.trace import StepTrace


@dataclass(frozen=True)
class Turns:
    """Rotation of every row, complex."""

    forward: Tensor
    """`[rows, rotary_dim / 2]`"""
    forward_heads: Tensor
    """The same as `[rows, 1, rotary_dim / 2]`."""
    back_heads: Tensor


@dataclass(frozen=True)
class StepContext:
    """What all layers of one step share."""

    config: ModelConfig
    kernels: Kernels
    plan: StepPlan
    turns_main: Turns
    turns_compress: Turns
    poolings: dict[str, Pooling]
    buffers: StateBuffers
    choices: list[tuple[int, BlockGroup, Chosen]]
    """Filled by the layers: what each indexer chose."""
    trace: StepTrace | None = None


def attention_block(params: AttentionParams, layer: int, rows: Tensor, context: StepContext) -> Tensor:
    """`[rows, hidden]`: attention output of a layer; stores the state of the step's tokens first."""
    config, linear = context.config, context.kernels.linear
    parts = linear(rows, params.project).split_with_sizes(params.sizes, dim=1)
    latent = normalise(parts[0], params.latent_norm)
    queries = linear(latent, params.query)
    turns = context.turns_main if params.compressor is None else context.turns_compress
    heads = queries[:, : config.num_heads * config.head_dim].view(-1, config.num_heads, config.head_dim)
    query = rotate(normalise(heads, params.query_norm), turns.forward_heads)
    key = rotate(normalise(parts[1], params.key_norm), turns.forward)
    if context.trace is not None:
        context.trace.found(layer, context.buffers)
    _store(context, "swa_kv", layer, key)
    for pool, tail in zip(params.pools, parts[2:], strict=False):
        _store(context, pool.tail_label, layer, tail)
        _close(params, pool.entry_label, layer, context)
    index_query = queries[:, config.num_heads * config.head_dim :]
    outputs = []
    for group in context.plan.groups:
        tiles = [_window_tile(layer, query, group, context)]
        tiles += _entry_tiles(params, layer, query, index_query, parts[-1], group, context)
        outputs.append(context.kernels.attend(tiles, params.sinks))
    output = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return _project_out(params, rotate(output, turns.back_heads).flatten(1), context.kernels)


def _store(context: StepContext, label: str, layer: int, values: Tensor) -> None:
    """Write the rows of the step's real tokens to their SWA slots."""
    real = context.plan.real
    chosen = values if real is None else values.index_select(0, real)
    context.buffers.rows(label, layer).index_copy_(0, context.plan.targets, chosen)
    if context.trace is not None:
        context.trace.stored(label, layer, chosen)


def _close(params: AttentionParams, entry_label: str, layer: int, context: StepContext) -> None:
    assert params.compressor is not None
    name = params.compressor.name
    pooling = context.poolings.get(name)
    if pooling is None:
        return
    pool = next(item for item in params.pools if item.entry_label == entry_label)
    tails, entries = context.buffers.rows(pool.tail_label, layer), context.buffers.rows(entry_label, layer)
    close_entries(pool, pooling, tails, entries)
    if context.trace is not None:
        context.trace.pooled(name, pool.tail_label, layer, tails)
        context.trace.closed(name, entry_label, layer, entries)


def _window_tile(layer: int, query: Tensor, group: BlockGroup, context: StepContext) -> Tile:
    values = _gather(context.buffers.rows("swa_kv", layer), group.window_rows)
    tile = _block_tile(query[group.rows], values, group.window_bias)
    if context.trace is not None:
        context.trace.window(layer, group, tile)
    return tile


def _block_tile(query: Tensor, values: Tensor, bias: Tensor) -> Tile:
    """Scores of every query of a block `[blocks * width, heads, dim]` against the block's keys."""
    query = query.view(bias.shape[0], -1, query.shape[-1])
    return Tile(torch.baddbmm(bias, query, values.transpose(1, 2)), values)


def _gather(rows: Tensor, index: Tensor) -> Tensor:
    """`[*index, width]`"""
    return rows.index_select(0, index.flatten()).view(*index.shape, -1)


def _entry_tiles(
    params: AttentionParams,
    layer: int,
    query: Tensor,
    index_query: Tensor,
    index_weights: Tensor,
    group: BlockGroup,
    context: StepContext,
) -> list[Tile]:
    """The compressed entries of a group's blocks in absolute order, or those that the indexer chose."""
    compressor = params.compressor
    table = group.tables.get(compressor.name) if compressor is not None else None
    if compressor is None or table is None:
        return []
    label = params.pools[0].entry_label
    entries = context.buffers.rows(label, layer)
    if not compressor.indexed:
        assert table.bias is not None
        parts = zip(torch.split(table.rows, table.tile, 1), torch.split(table.bias, table.tile, 2), strict=True)
        tiles = [_block_tile(query[group.rows], _gather(entries, rows), bias) for rows, bias in parts]
        if context.trace is not None:
            context.trace.dense(label, layer, group, tiles, table)
        return tiles
    chosen = _choose(layer, index_query[group.rows], index_weights[group.rows], group, table, context)
    context.choices.append((layer, group, chosen))
    per_block = chosen.entries.reshape(group.num_blocks, -1)
    rows = table.rows.gather(1, per_block).view(chosen.entries.shape)
    hidden = chosen.entries >= table.visible
    bias = _selection_bias(chosen, hidden, query.dtype)
    values = _gather(entries, rows)
    tile = Tile(torch.baddbmm(bias.unsqueeze(1), query[group.rows], values.transpose(1, 2)), values)
    if context.trace is not None:
        context.trace.chosen(label, layer, group, chosen.entries, hidden, tile)
    return [tile]


def _selection_bias(chosen: Chosen, hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """`[queries, top_k]`: -inf where hidden, else 0, and NaN throughout where a visible score was NaN."""
    # topk ranks NaN first, so a spoilt index key would be chosen as if it were the best, and nothing would show it.
    plain = torch.zeros(1, 1, dtype=dtype, device=hidden.device) if chosen.best is None else chosen.best * 0
    return torch.where(hidden, -torch.inf, plain)


def _choose(
    layer: int, index_query: Tensor, weights: Tensor, group: BlockGroup, table: EntryTable, context: StepContext
) -> Chosen:
    config = context.config
    top_k, num_entries = config.index_topk, table.rows.shape[1]
    if table.unseen is None:
        return all_entries(index_query.shape[0], min(top_k, num_entries), index_query.device)
    heads, dim = config.index_heads, config.index_head_dim
    turned = rotate(index_query.reshape(-1, heads, dim).contiguous(), context.turns_compress.forward_heads[group.rows])
    scale = (heads * dim) ** -0.5
    scores = score_entries(
        turned.view(group.num_blocks, -1, dim),
        (weights * scale).unsqueeze(1),
        context.buffers.rows("index_k", layer),
        table.rows,
        table.tile,
    )
    if context.trace is not None:
        context.trace.ranked(layer, group, scores, table)
    return choose_entries(scores, table.unseen, top_k)


def _project_out(params: AttentionParams, output: Tensor, kernels: Kernels) -> Tensor:
    """`[rows, hidden]`: each group of heads through its own matrix, then all through one."""
    groups = output.chunk(len(params.group_out), dim=1)
    mixed = [kernels.linear(part, weight) for part, weight in zip(groups, params.group_out, strict=True)]
    return kernels.linear(torch.cat(mixed, dim=1), params.out)
