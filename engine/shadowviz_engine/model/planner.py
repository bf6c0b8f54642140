"""Working out the index arrays of a step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.buffers import series_of
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.numerics import BLOCK, SHAPES, Numerics, Shapes, padded
from shadowviz_engine.model.plan import BlockGroup, ClosingEntries, EntryTable, Mask, StepPlan
from shadowviz_engine.model.residency import Sequences, require_mapped
from shadowviz_engine.model.step import Ints, SequenceStep


@dataclass(frozen=True)
class _Blocks:
    """Sequence and first position of every block of one width."""

    width: int
    sequence: Ints
    first: Ints

    def positions(self) -> Ints:
        return self.first[:, None] + np.arange(self.width)


def plan_step(
    config: ModelConfig,
    steps: Sequence[SequenceStep],
    full_to_swa: Ints,
    numerics: Numerics,
    device: torch.device,
    dtype: torch.dtype,
) -> StepPlan:
    """Index arrays of `steps`.

    Raises:
        ModelError: a row that a step needs has no SWA slot.
    """
    sequences = Sequences.of(steps)
    require_mapped(config, sequences, full_to_swa)
    blocks = _cut_blocks(sequences, numerics)
    shapes = SHAPES[numerics]
    builder = _Builder(config, sequences, full_to_swa, shapes, device, dtype)
    positions = np.concatenate([part.positions().ravel() for part in blocks])
    owners = np.concatenate([np.repeat(part.sequence, part.width) for part in blocks])
    is_real = (positions >= sequences.start[owners]) & (positions < sequences.stop[owners])
    real = np.flatnonzero(is_real)
    slots = sequences.slots_at(owners[real], positions[real])
    token_ids = np.zeros(len(positions), np.int64)
    token_ids[real] = sequences.tokens_at(owners[real], positions[real])
    is_last = positions == sequences.stop[owners] - 1
    last_rows = np.empty(len(steps), np.int64)
    last_rows[owners[is_last]] = np.flatnonzero(is_last)
    return StepPlan(
        token_ids=builder.tensor(token_ids),
        positions=builder.tensor(positions),
        furthest=int(positions.max()),
        real=None if len(real) == len(positions) else builder.tensor(real),
        targets=builder.tensor(full_to_swa[slots]),
        groups=builder.groups(blocks),
        closing=builder.closing(),
        last_rows=last_rows,
        row_sequences=owners,
        row_positions=positions,
        row_is_real=is_real,
    )


def _cut_blocks(sequences: Sequences, numerics: Numerics) -> tuple[_Blocks, ...]:
    """Blocks at multiples of 16; in `fast`, a step of one token is a block by itself."""
    single = sequences.stop - sequences.start == 1
    if numerics is Numerics.EXACT:
        single[:] = False
    groups = []
    if single.any():
        chosen = np.flatnonzero(single)
        groups.append(_Blocks(1, chosen, sequences.start[chosen]))
    if not single.all():
        chosen = np.flatnonzero(~single)
        starts = [np.arange(sequences.start[item] // BLOCK * BLOCK, sequences.stop[item], BLOCK) for item in chosen]
        groups.append(_Blocks(BLOCK, np.repeat(chosen, [len(item) for item in starts]), np.concatenate(starts)))
    return tuple(groups)


class _Builder:
    """The parts of a plan that share its inputs."""

    def __init__(
        self,
        config: ModelConfig,
        sequences: Sequences,
        full_to_swa: Ints,
        shapes: Shapes,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self._config = config
        self._sequences = sequences
        self._full_to_swa = full_to_swa
        self._shapes = shapes
        self._device = device
        self._dtype = dtype

    def tensor(self, values: Ints) -> Tensor:
        return torch.from_numpy(values).to(self._device)

    def _bias(self, allowed: Mask) -> Tensor:
        """`[blocks, width * heads, keys]` from `[blocks, width, keys]`."""
        plain = torch.from_numpy(np.where(allowed, np.float32(0), np.float32(-np.inf)))
        heads = self._config.num_heads
        return plain.to(self._device, self._dtype).repeat_interleave(heads, dim=1)

    def groups(self, blocks: tuple[_Blocks, ...]) -> tuple[BlockGroup, ...]:
        tables = {item.name: self._entry_rows(item) for item in self._config.used_compressors}
        groups = []
        first_row = 0
        for part in blocks:
            window_rows, window_bias = self._window(part)
            groups.append(
                BlockGroup(
                    first_row,
                    len(part.first),
                    part.width,
                    window_rows,
                    window_bias,
                    {
                        item.name: self._table(item, tables[item.name], part)
                        for item in self._config.used_compressors
                        if tables[item.name].shape[1]
                    },
                )
            )
            first_row += len(part.first) * part.width
        return tuple(groups)

    def _window(self, blocks: _Blocks) -> tuple[Tensor, Tensor]:
        """SWA slots and bias of the keys from the first query's window to the block's last position."""
        n_win = self._config.n_win
        back = padded(n_win - 1, BLOCK) if blocks.width > 1 else n_win - 1
        keys = blocks.first[:, None] + np.arange(-back, blocks.width)
        lowest = np.maximum(self._sequences.start - n_win + 1, 0)[blocks.sequence, None]
        present = (keys >= lowest) & (keys < self._sequences.stop[blocks.sequence, None])
        slots = self._sequences.slots_at(blocks.sequence[:, None], np.where(present, keys, 0))
        rows = np.where(present, self._full_to_swa[slots], 0)
        distance = blocks.positions()[:, :, None] - keys[:, None, :]
        return self.tensor(rows), self._bias(present[:, None, :] & (distance >= 0) & (distance < n_win))

    def _entry_rows(self, compressor: Compressor) -> Ints:
        """`[sequences, entries]`: rows of the entries closed before each stop, padded to whole tiles with row 0."""
        ratio = compressor.ratio
        most = int(self._sequences.stop.max()) // ratio
        if not most:
            return np.zeros((len(self._sequences.stop), 0), np.int64)
        if compressor.indexed and self._shapes.index_tile:
            columns = padded(max(most, self._config.index_topk + 1), self._shapes.index_tile)
        else:
            columns = padded(most, self._shapes.entry_tile)
        closing = np.arange(1, columns + 1) * ratio - 1
        present = closing < self._sequences.stop[:, None]
        owners = np.arange(len(self._sequences.stop))[:, None]
        slots = self._sequences.slots_at(owners, np.where(present, closing, 0))
        return np.where(present, slots // ratio, 0)

    def _table(self, compressor: Compressor, rows: Ints, blocks: _Blocks) -> EntryTable:
        ratio = compressor.ratio
        closed = np.minimum(blocks.positions() + 1, self._sequences.stop[blocks.sequence, None]) // ratio
        tile = self._shapes.index_tile if compressor.indexed else self._shapes.entry_tile
        closed = closed.reshape(-1, 1)
        seen = np.arange(rows.shape[1]) < closed
        must_choose = compressor.indexed and closed.max() > self._config.index_topk
        return EntryTable(
            self.tensor(rows[blocks.sequence]),
            self.tensor(closed),
            torch.from_numpy(~seen).to(self._device) if must_choose else None,
            None if compressor.indexed else self._bias(seen.reshape(len(blocks.first), blocks.width, -1)),
            tile or rows.shape[1],
        )

    def closing(self) -> dict[str, ClosingEntries]:
        found = {item.name: self._closing(item) for item in self._config.used_compressors}
        return {name: entries for name, entries in found.items() if entries is not None}

    def _closing(self, compressor: Compressor) -> ClosingEntries | None:
        ratio = compressor.ratio
        first, stop = self._sequences.start // ratio, self._sequences.stop // ratio
        if (first == stop).all():
            return None
        owners = np.repeat(np.arange(len(first)), stop - first)
        entries = np.concatenate([np.arange(low, high) for low, high in zip(first, stop, strict=True)])
        targets = self._sequences.slots_at(owners, (entries + 1) * ratio - 1) // ratio
        padding = padded(len(entries), self._shapes.row_multiple) - len(entries)
        overlap = ratio if compressor.overlap else 0
        tokens = entries[:, None] * ratio + np.arange(-overlap, ratio)
        absent = tokens < 0
        tails = self._full_to_swa[self._sequences.slots_at(owners[:, None], np.where(absent, 0, tokens))]
        parts = np.pad(_tail_parts(compressor, np.where(absent, 0, tails)), ((0, padding), (0, 0), (0, 0)))
        mask = np.where(np.pad(absent, ((0, padding), (0, 0))), np.float32(-np.inf), np.float32(0))
        return ClosingEntries(
            self.tensor(parts),
            torch.from_numpy(mask).to(self._device).unsqueeze(-1),
            self.tensor(np.pad(entries * ratio, (0, padding))),
            int(entries.max()) * ratio,
            self.tensor(targets),
            owners,
            entries,
        )


def _tail_parts(compressor: Compressor, rows: Ints) -> Ints:
    """`[entries, 2, window]`: where kv and gate of each token stand when tail rows are cut into their series.

    A row holds kv and gate, of each first the series for the next window, then the one for the token's own.
    """
    series = series_of(compressor)
    own = np.full(rows.shape[1], series - 1)
    if compressor.overlap:
        own[: compressor.ratio] = 0
    parts: Ints = rows[:, None, :] * (2 * series) + np.stack([own, own + series])
    return parts
