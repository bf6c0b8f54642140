"""What a step finds, stores and reads, layer by layer, so that two runs can be compared row by row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.core.geometry import hybrid_kinds
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows
from shadowviz_engine.model.buffers import StateBuffers, series_of
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.plan import BlockGroup, EntryTable, Mask, StepPlan
from shadowviz_engine.model.step import Ints, SequenceStep
from shadowviz_engine.model.tiles import Tile


class Stage(StrEnum):
    """What is done with the rows."""

    STATE = "state"
    """Rows that a step found when it began, or stored."""
    READ = "read"
    """What was read of them: a query's scores, or the window that an entry is pooled from."""
    ROUTE = "route"
    """What a router that scores its experts thinks of them, and which it chose."""
    HEAD = "head"
    """The rows that go into the product with the vocabulary, each of which is used for its own logits alone."""


Stages = frozenset[Stage]
STATE_AND_READS: Stages = frozenset((Stage.STATE, Stage.READ))
ROUTER = "router"
"""Stands for a kind in what is told of a router, whose columns are the experts that were chosen."""
HEAD = "head"
"""Stands for a kind in what is told of rows for the vocabulary, in a layer behind the last one."""


@dataclass(frozen=True)
class Traced:
    """One layer's rows of one state kind, of all sequences of a step; padding of the step is left out.

    In exact numerics equal rows of two runs have equal bits, however the runs are cut into steps and batches.
    """

    stage: Stage
    kind: str
    """Label of the state kind whose rows were found, stored or read; else ROUTER or HEAD."""
    layer: int
    sequences: Ints
    """`[n]`: number of the sequence in the step."""
    rows: Ints
    """`[n]`: STATE the row itself, position or entry; READ who reads it, a query's position or an entry that closes;
    else a position."""
    columns: Ints | None
    """READ, `[n, columns]`: the row of the kind in each column, ascending; -1 where the reader must not see it. ROUTE:
    the expert in each column; -1 where it was not chosen."""
    values: Tensor
    """`[n, width]`, or for READ `[n, columns, width]`: scores of every head, or kv and gate; 0 where hidden. ROUTE:
    `[n, experts, 1]`, scores of all experts."""


Trace = Callable[[Traced], None]


class StepTrace:
    """Tells `trace` what the layers of one step do, in the order in which data flows."""

    def __init__(
        self,
        trace: Trace,
        config: ModelConfig,
        steps: Sequence[SequenceStep],
        full_to_swa: Ints,
        plan: StepPlan,
        stages: Stages = STATE_AND_READS,
    ) -> None:
        self.stages = stages
        """What is told."""
        self._trace = trace
        self._config = config
        self._steps = steps
        self._full_to_swa = full_to_swa
        self._plan = plan
        self._kinds = hybrid_kinds(config.n_win, config.used_compressors, config.schedule)

    def found(self, layer: int, buffers: StateBuffers) -> None:
        """The rows of a layer that the steps go on from."""
        if Stage.STATE not in self.stages:
            return
        for kind in self._kinds:
            if layer not in kind.owners:
                continue
            parts = [_found_rows(kind, step, self._full_to_swa) for step in self._steps]
            counts = [len(rows) for rows, _ in parts]
            if not sum(counts):
                continue
            numbers = torch.from_numpy(np.concatenate([places for _, places in parts]))
            tensor = buffers.rows(kind.label, layer)
            values = tensor.index_select(0, numbers.to(tensor.device))
            rows = np.concatenate([rows for rows, _ in parts])
            owners = np.repeat(np.arange(len(parts)), counts)
            self._trace(Traced(Stage.STATE, kind.label, layer, owners, rows, None, values))

    def stored(self, label: str, layer: int, values: Tensor) -> None:
        """What the step's real tokens put at their SWA slots."""
        if Stage.STATE not in self.stages:
            return
        plan = self._plan
        real = np.flatnonzero(plan.row_is_real)
        owners, positions = plan.row_sequences[real], plan.row_positions[real]
        self._trace(Traced(Stage.STATE, label, layer, owners, positions, None, values.clone()))

    def pooled(self, name: str, tail_label: str, layer: int, tails: Tensor) -> None:
        """The windows that entries of the compressor `name` are pooled from: kv and gate, masked ones left out."""
        if Stage.READ not in self.stages:
            return
        closing = self._plan.closing[name]
        owners, entries = closing.owners, closing.entries
        compressor = next(item for item in self._config.used_compressors if item.name == name)
        dim = tails.shape[1] // (2 * series_of(compressor))
        parts = closing.parts[: len(entries)]
        values = tails.view(-1, dim).index_select(0, parts.flatten()).view(*parts.shape, dim)
        window = parts.shape[2]
        columns = (entries[:, None] + 1) * compressor.ratio + np.arange(-window, 0)
        hidden = np.isneginf(closing.absent[: len(entries), :, 0].cpu().numpy())
        both = torch.cat([values[:, 0], values[:, 1]], dim=-1)
        self._read(tail_label, layer, (owners, entries), np.where(hidden, -1, columns), both)

    def closed(self, name: str, entry_label: str, layer: int, entries: Tensor) -> None:
        """Entries of the compressor `name` that the step stored."""
        if Stage.STATE not in self.stages:
            return
        closing = self._plan.closing[name]
        values = entries.index_select(0, closing.targets)
        self._trace(Traced(Stage.STATE, entry_label, layer, closing.owners, closing.entries, None, values))

    def window(self, layer: int, group: BlockGroup, tile: Tile) -> None:
        """Scores of a group's queries against their sliding windows."""
        if Stage.READ not in self.stages:
            return
        first = self._plan.row_positions[group.rows].reshape(group.num_blocks, group.width)[:, :1]
        keys = first + np.arange(group.width - tile.scores.shape[2], group.width)
        columns = np.repeat(keys, group.width, axis=0)
        self._tiles("swa_kv", layer, group, columns, [(tile, group.window_bias)])

    def dense(self, label: str, layer: int, group: BlockGroup, tiles: Sequence[Tile], table: EntryTable) -> None:
        """Scores of a group's queries against all entries."""
        if Stage.READ not in self.stages:
            return
        assert table.bias is not None
        biases = torch.split(table.bias, table.tile, 2)
        columns = np.broadcast_to(np.arange(table.rows.shape[1]), (group.num_queries, table.rows.shape[1]))
        self._tiles(label, layer, group, columns, list(zip(tiles, biases, strict=True)))

    def ranked(self, layer: int, group: BlockGroup, scores: Tensor, table: EntryTable) -> None:
        """The indexer's scores, of the queries that see more entries than they may choose."""
        if Stage.READ not in self.stages:
            return
        visible = table.visible.flatten().cpu().numpy()
        chooses = visible > self._config.index_topk
        columns = np.arange(scores.shape[1])
        seen = np.where(columns < visible[:, None], columns, -1)
        if table.unseen is not None:
            seen = np.where(table.unseen.cpu().numpy(), -1, seen)
        self._queries("index_k", layer, group, seen, scores.unsqueeze(-1), chooses)

    def chosen(self, label: str, layer: int, group: BlockGroup, entries: Tensor, hidden: Tensor, tile: Tile) -> None:
        """Scores of a group's queries against the entries that the indexer chose."""
        if Stage.READ not in self.stages:
            return
        columns = np.where(hidden.cpu().numpy(), -1, entries.cpu().numpy())
        self._queries(label, layer, group, columns, tile.scores.transpose(1, 2))

    def routed(self, layer: int, chosen: Tensor, scores: Tensor) -> None:
        """Experts that each row chose, `[rows, top_k]`, by their scores `[rows, experts]`."""
        plan = self._plan
        real = np.flatnonzero(plan.row_is_real)
        columns = np.full(scores.shape, -1)
        experts = chosen.cpu().numpy()
        np.put_along_axis(columns, experts, experts, axis=1)
        values = scores[torch.from_numpy(real).to(scores.device)].unsqueeze(-1)
        readers = plan.row_sequences[real], plan.row_positions[real]
        self._trace(Traced(Stage.ROUTE, ROUTER, layer, *readers, columns[real], values))

    def headed(self, rows: Tensor) -> None:
        """What goes into the product with the vocabulary, a row for each of the step's real tokens."""
        plan = self._plan
        real = np.flatnonzero(plan.row_is_real)
        readers = plan.row_sequences[real], plan.row_positions[real]
        self._trace(Traced(Stage.HEAD, HEAD, len(self._config.schedule.layers), *readers, None, rows))

    def _tiles(
        self, label: str, layer: int, group: BlockGroup, columns: Ints, tiles: Sequence[tuple[Tile, Tensor]]
    ) -> None:
        heads = self._config.num_heads
        scores = torch.cat([tile.scores for tile, _ in tiles], dim=2)
        bias = torch.cat([bias for _, bias in tiles], dim=2).view(group.num_queries, heads, -1)[:, 0]
        hidden = np.isneginf(bias.float().cpu().numpy())
        values = scores.view(group.num_queries, heads, -1).transpose(1, 2)
        self._queries(label, layer, group, np.where(hidden, -1, columns), values)

    def _queries(
        self, label: str, layer: int, group: BlockGroup, columns: Ints, values: Tensor, wanted: Mask | None = None
    ) -> None:
        plan = self._plan
        keep = plan.row_is_real[group.rows] & (columns >= 0).any(axis=1)
        if wanted is not None:
            keep = keep & wanted
        index = np.flatnonzero(keep)
        if not len(index):
            return
        at = index + group.first_row
        readers = (plan.row_sequences[at], plan.row_positions[at])
        self._read(label, layer, readers, columns[index], values[torch.from_numpy(index).to(values.device)])

    def _read(self, label: str, layer: int, readers: tuple[Ints, Ints], columns: Ints, values: Tensor) -> None:
        hidden = torch.from_numpy(columns < 0).to(values.device).unsqueeze(-1)
        shown = values.masked_fill(hidden, 0)
        self._trace(Traced(Stage.READ, label, layer, *readers, columns, shown))


def _found_rows(kind: StateKind, step: SequenceStep, full_to_swa: Ints) -> tuple[Ints, Ints]:
    """Rows of `kind` that a step needs, and where they lie in the kind's tensors."""
    needed = needed_rows(kind, step.start)
    rows = np.arange(needed.start, needed.stop)
    if kind.shape is Shape.RANGE:
        return rows, step.slots[(rows + 1) * kind.unit - 1] // kind.unit
    return rows, full_to_swa[step.slots[rows]]
