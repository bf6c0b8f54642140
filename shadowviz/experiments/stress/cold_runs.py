"""A cold run with everything that it stored and read, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import ROUTER, Stage, Traced

RowsKey = tuple[str, str, int]
"""Stage, label of a kind and layer."""


@dataclass(frozen=True)
class Reads:
    """What the readers of one kind in one layer saw."""

    readers: Ints
    """`[n]`, ascending: positions, or entries that close."""
    columns: Ints
    """`[n, columns]`: rows that were read, -1 where there is none."""
    values: Tensor
    """`[n, columns, width]`"""


@dataclass(frozen=True)
class ColdRun:
    """Everything that a run from the first token on stored and read; what other runs are held against."""

    tokens: Ints
    state: Mapping[tuple[str, int], Tensor]
    """By kind and layer, `[rows, width]`: row i is the kind's row i."""
    reads: Mapping[tuple[str, int], Reads]
    """By kind and layer; what a router chose is here as well."""
    logits: Tensor
    """`[tokens - first_logit, vocabulary]`; none where `heads` stands for them."""
    first_logit: int = 0
    heads: Tensor | None = None
    """`[tokens, hidden]`: what goes into the product with a vocabulary whose logits would fill the memory."""
    logprobs: tuple[float, ...] = ()
    """Of every token but the first, where they were worked out."""

    def __len__(self) -> int:
        """Tokens of the run."""
        return len(self.tokens)

    def queries(self, stop: int) -> Iterator[Traced]:
        """What the tokens before position `stop` read, as a trace would tell it."""
        for (kind, layer), reads in self.reads.items():
            # Windows that entries are pooled from are read by entries.
            if kind.endswith("_tail"):
                continue
            stage = Stage.ROUTE if kind == ROUTER else Stage.READ
            count = int(np.searchsorted(reads.readers, stop))
            at = slice(0, count)
            if count:
                sequences = np.zeros(count, np.int64)
                yield Traced(stage, kind, layer, sequences, reads.readers[at], reads.columns[at], reads.values[at])


@dataclass(frozen=True)
class Noise:
    """What two cold runs that were cut otherwise differ by; nothing in exact numerics."""

    rows: Mapping[RowsKey, float] = field(default_factory=dict)
    logits: float = 0.0

    def allowed(self, traced: Traced) -> float:
        """Difference that proves nothing in rows of this stage, kind and layer."""
        return self.rows.get(key_of(traced), 0.0)


EXACT = Noise()


def key_of(traced: Traced) -> RowsKey:
    """Stage, kind and layer of what was traced."""
    return str(traced.stage), traced.kind, traced.layer


def cold_run(tokens: Ints, trace: Iterable[Traced], logits: Tensor, first_logit: int = 0) -> ColdRun:
    """The cold run of one sequence from its trace, in one pass or several."""
    told: dict[RowsKey, list[Traced]] = {}
    for traced in trace:
        told.setdefault(key_of(traced), []).append(traced)
    state: dict[tuple[str, int], Tensor] = {}
    reads: dict[tuple[str, int], Reads] = {}
    heads: Tensor | None = None
    for (stage, kind, layer), parts in told.items():
        if stage == Stage.STATE:
            state[kind, layer] = _rows(parts)
        elif stage == Stage.HEAD:
            heads = _rows(parts)
        else:
            reads[kind, layer] = _reads(parts)
    return ColdRun(tokens, state, reads, logits, first_logit, heads)


def _rows(parts: Sequence[Traced]) -> Tensor:
    count = 1 + max(int(part.rows.max()) for part in parts)
    values = torch.full((count, parts[0].values.shape[1]), torch.nan, dtype=parts[0].values.dtype)
    for part in parts:
        values[torch.from_numpy(part.rows)] = part.values.cpu()
    return values


def _reads(parts: Sequence[Traced]) -> Reads:
    width = max(part.values.shape[1] for part in parts)
    columns = np.concatenate([pad_columns(columns_of(part), width) for part in parts])
    values = torch.cat([pad_values(part.values.cpu(), width) for part in parts])
    readers = np.concatenate([part.rows for part in parts])
    order = np.argsort(readers, kind="stable")
    return Reads(readers[order], columns[order], values[torch.from_numpy(order)])


def columns_of(traced: Traced) -> Ints:
    """Columns of something that was read."""
    assert traced.columns is not None, "what was read has columns"
    return traced.columns


def pad_columns(columns: Ints, width: int) -> Ints:
    """`columns` with columns that nobody reads behind them, `width` in all."""
    return np.pad(columns, ((0, 0), (0, width - columns.shape[1])), constant_values=-1)


def pad_values(values: Tensor, width: int) -> Tensor:
    """`values` `[n, columns, ...]` with zeros behind them, `width` columns in all."""
    return torch.nn.functional.pad(values, (0, 0, 0, width - values.shape[1]))


def seen_alone(columns: Ints, values: Tensor) -> tuple[Ints, Tensor]:
    """Columns and values with what nobody reads behind what is read, as far as the reader that reads most.

    Passes of another width lay the same rows out in other columns.
    """
    hidden = columns < 0
    order = np.argsort(hidden, axis=1, kind="stable")[:, : max(1, int((~hidden).sum(axis=1).max(initial=0)))]
    at = torch.from_numpy(order).unsqueeze(-1).expand(-1, -1, values.shape[2])
    return np.take_along_axis(columns, order, axis=1), values.gather(1, at)


def side_by_side(traced: Traced, reads: Reads, where: Ints) -> tuple[Ints, Ints, Tensor, Tensor]:
    """Columns of both and values of both, laid out alike; `where` are the indices of the readers in `reads`."""
    columns, expected_columns = columns_of(traced), reads.columns[where]
    values, expected = traced.values, reads.values.index_select(0, torch.from_numpy(where))
    if columns.shape != expected_columns.shape or not np.array_equal(columns, expected_columns):
        columns, values = seen_alone(columns, values)
        expected_columns, expected = seen_alone(expected_columns, expected)
        width = max(columns.shape[1], expected_columns.shape[1])
        columns, expected_columns = pad_columns(columns, width), pad_columns(expected_columns, width)
        values, expected = pad_values(values, width), pad_values(expected, width)
    return columns, expected_columns, values, expected
