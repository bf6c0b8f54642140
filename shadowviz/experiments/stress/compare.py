"""Where a run parts first from a cold run of the same tokens: state rows, what was read of them, logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from shadowviz.experiments.stress.cold_runs import (
    EXACT,
    ColdRun,
    Noise,
    Reads,
    columns_of,
    key_of,
    side_by_side,
)
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import ROUTER, Stage, Traced

Product = Callable[[Tensor], Tensor]
"""Logits of rows that go into the product with the vocabulary."""
_ROWS_AT_ONCE = 64
"""Rows of a large vocabulary's logits that are held at a time."""
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Difference:
    """The first thing, in the order in which data flows, that is not as in the cold run."""

    layer: int
    turn: int
    """Place among all that the run's trace told."""
    stage: str
    kind: str
    row: int
    """Row of the kind: an entry, or a position; of a router an expert."""
    reader: int
    """The position, or the entry that closes, which read the row or was routed; for STATE -1."""
    amount: float
    """Largest difference of a number in it; infinite where a row was read that the cold run did not read there."""
    near_tie: bool = False
    """The indexer chose another entry, or a router another expert, between scores that lie no further apart than noise
    moves them."""

    @property
    def order(self) -> tuple[int, int]:
        """Nothing depends on what comes later in this order."""
        return self.layer, self.turn


def differing(traced: Traced, cold: ColdRun, noise: Noise) -> Ints:
    """Which of the traced rows are not as in the cold run, as indices, ascending."""
    allowed = noise.allowed(traced)
    if traced.stage is Stage.STATE:
        return np.flatnonzero(_state_differs(traced, cold, allowed))
    return np.flatnonzero(_reads_differ(traced, cold, allowed))


def _state_differs(traced: Traced, cold: ColdRun, allowed: float) -> Mask:
    rows = cold.state.get((traced.kind, traced.layer))
    if rows is None or traced.rows.max() >= rows.shape[0]:
        known = 0 if rows is None else rows.shape[0]
        return traced.rows >= known if rows is None else _state_differs_within(traced, rows, allowed, known)
    return _unequal(traced.values, rows.index_select(0, torch.from_numpy(traced.rows)), allowed)


def _state_differs_within(traced: Traced, rows: Tensor, allowed: float, known: int) -> Mask:
    beyond = traced.rows >= known
    expected = rows.index_select(0, torch.from_numpy(np.where(beyond, 0, traced.rows)))
    return _unequal(traced.values, expected, allowed) | beyond


def _unequal(found: Tensor, expected: Tensor, allowed: float) -> Mask:
    """`[n]`: whether anything in a row differs by more than `allowed`; NaN always does."""
    if torch.equal(found, expected):
        return np.zeros(len(found), np.bool_)
    same = (found == expected) if not allowed else (found - expected).abs() <= allowed
    return ~same.flatten(1).all(dim=1).numpy()


def _reads_differ(traced: Traced, cold: ColdRun, allowed: float) -> Mask:
    reads = cold.reads.get((traced.kind, traced.layer))
    if reads is None:
        return np.ones(len(traced.rows), np.bool_)
    where, known = _places(reads, traced.rows)
    columns, expected_columns, values, expected = side_by_side(traced, reads, where)
    apart: Mask = ~known | (columns != expected_columns).any(axis=1) | _unequal(values, expected, allowed)
    return apart


def _places(reads: Reads, readers: Ints) -> tuple[Ints, Mask]:
    """Index of each reader in `reads`, and whether it is there."""
    where = np.minimum(np.searchsorted(reads.readers, readers), len(reads.readers) - 1)
    return where, reads.readers[where] == readers


def describe(traced: Traced, index: int, cold: ColdRun, noise: Noise, turn: int) -> Difference:
    """Row `index` of what was traced, which differs, in names and numbers."""
    stage, kind, layer = key_of(traced)
    number = int(traced.rows[index])
    if traced.stage is Stage.STATE:
        rows = cold.state.get((kind, layer))
        known = rows is not None and number < rows.shape[0]
        amount = _largest(traced.values[index], rows[number]) if rows is not None and known else float("inf")
        return Difference(layer, turn, stage, kind, number, -1, amount)
    reads = cold.reads.get((kind, layer))
    where, known_readers = _places(reads, traced.rows[index : index + 1]) if reads is not None else (None, [False])
    if reads is None or where is None or not known_readers[0]:
        seen = columns_of(traced)[index]
        return Difference(layer, turn, stage, kind, int(seen[seen >= 0][0]), number, float("inf"))
    one = Traced(
        traced.stage,
        kind,
        layer,
        traced.sequences[index : index + 1],
        traced.rows[index : index + 1],
        columns_of(traced)[index : index + 1],
        traced.values[index : index + 1],
    )
    columns, expected_columns, values, expected = side_by_side(one, reads, where)
    if (columns != expected_columns).any():
        mine, other = (set(row[row >= 0].tolist()) for row in (columns[0], expected_columns[0]))
        tie = bool(mine) and len(mine) == len(other) and _is_tie(traced, cold, noise, number, len(mine))
        return Difference(layer, turn, stage, kind, min(mine ^ other), number, float("inf"), tie)
    apart = ~((values - expected).abs() <= noise.allowed(traced)).all(dim=2)[0]
    column = int(torch.nonzero(apart)[0])
    row = column if kind == ROUTER else int(columns[0, column])
    return Difference(layer, turn, stage, kind, row, number, _largest(values, expected))


def _is_tie(traced: Traced, cold: ColdRun, noise: Noise, reader: int, chosen: int) -> bool:
    """Whether the last chosen and the first unchosen score of the cold run lie as close as noise moves both."""
    routes = traced.stage is Stage.ROUTE
    scored = (str(Stage.ROUTE), ROUTER, traced.layer) if routes else (str(Stage.READ), "index_k", traced.layer)
    reads = cold.reads.get(scored[1:])
    if reads is None:
        return False
    where, known = _places(reads, np.array([reader]))
    # A router scores every expert, and its columns are the ones that it chose.
    count = reads.columns.shape[1] if routes else int((reads.columns[where[0]] >= 0).sum())
    scores = reads.values[where[0], :count, 0]
    if not known[0] or len(scores) <= chosen:
        return False
    best = scores.sort(descending=True).values
    return float(best[chosen - 1] - best[chosen]) <= 2 * noise.rows.get(scored, 0.0)


def _largest(found: Tensor, expected: Tensor) -> float:
    """Largest difference; infinite when one of the two is no number."""
    amount = float((found.double() - expected.double()).abs().max())
    return amount if amount == amount else float("inf")  # noqa: PLR0124


def first_differences(
    trace: Sequence[Traced], cold: Mapping[int, ColdRun], noise: Noise = EXACT, first_turn: int = 0
) -> dict[int, Difference]:
    """The first difference of each sequence of a pass that has one.

    Args:
        trace: of one pass.
        cold: by number of the sequence in the pass; sequences that are left out are not looked at.
        first_turn: turns told by earlier passes of the same run.
    """
    found: dict[int, Difference] = {}
    groups: dict[int, list[int]] = {}
    for sequence, run in cold.items():
        groups.setdefault(id(run), []).append(sequence)
    for turn, traced in enumerate(trace, first_turn):
        for members in groups.values():
            part = part_of(traced, members)
            if not len(part.rows):
                continue
            run = cold[members[0]]
            for index in differing(part, run, noise).tolist():
                sequence = int(part.sequences[index])
                best = found.get(sequence)
                if best is None or (traced.layer, turn) < best.order:
                    found[sequence] = describe(part, index, run, noise, turn)
    return found


def part_of(traced: Traced, sequences: Sequence[int]) -> Traced:
    """What was traced of some of the sequences of a pass."""
    inside = np.isin(traced.sequences, sequences)
    if inside.all():
        return traced
    index = torch.from_numpy(np.flatnonzero(inside))
    columns = None if traced.columns is None else traced.columns[inside]
    return Traced(
        traced.stage,
        traced.kind,
        traced.layer,
        traced.sequences[inside],
        traced.rows[inside],
        columns,
        traced.values.index_select(0, index),
    )


@dataclass(frozen=True)
class LogitsDifference:
    """How far logits are from those of the cold run."""

    position: int
    """First token whose logits differ by more than noise; -1 = none."""
    largest: float


NO_LOGITS = LogitsDifference(-1, 0.0)
"""Nothing differs."""


def compare_logits(logits: Tensor, start: int, cold: ColdRun, noise: Noise = EXACT) -> LogitsDifference:
    """Compare the logits of tokens from position `start` on."""
    expected = cold.logits[start - cold.first_logit : start - cold.first_logit + len(logits)]
    if torch.equal(logits, expected):
        return NO_LOGITS
    apart = np.flatnonzero(_unequal(logits, expected, noise.logits))
    return LogitsDifference(start + int(apart[0]) if len(apart) else -1, _largest(logits, expected))


def compare_heads(
    traced: Traced, cold: Mapping[int, ColdRun], product: Product, noise: Noise = EXACT
) -> dict[int, LogitsDifference]:
    """What the logits of a pass differ by, from the rows that they are products of.

    Each row is used for its own logits alone, so equal rows have equal logits; the others are multiplied.

    Args:
        cold: by number of the sequence in the pass; sequences that are left out are not looked at.
    """
    found: dict[int, LogitsDifference] = {}
    for sequence, run in cold.items():
        part = part_of(traced, [sequence])
        if not len(part.rows):
            continue
        assert run.heads is not None, "a cold run without logits has the rows for them"
        expected = run.heads.index_select(0, torch.from_numpy(part.rows))
        unequal = np.flatnonzero(_unequal(part.values, expected, 0.0))
        if not len(unequal):
            continue
        at = torch.from_numpy(unequal)
        amounts = _apart(part.values.index_select(0, at), expected.index_select(0, at), product)
        # In exact numerics nothing may differ, whatever the product makes of it.
        beyond = unequal[~(amounts <= noise.logits) | (not noise.logits)]
        first = int(part.rows[beyond].min()) if len(beyond) else -1
        found[sequence] = LogitsDifference(first, float(np.nan_to_num(amounts, nan=np.inf).max()))
    return found


def _apart(found: Tensor, expected: Tensor, product: Product) -> npt.NDArray[np.float32]:
    """`[rows]`: largest difference of a logit."""
    pairs = zip(torch.split(found, _ROWS_AT_ONCE), torch.split(expected, _ROWS_AT_ONCE), strict=True)
    amounts: npt.NDArray[np.float32] = torch.cat([(product(a) - product(b)).abs().amax(1) for a, b in pairs]).numpy()
    return amounts


def compare_logprobs(found: Sequence[float], start: int, cold: ColdRun) -> LogitsDifference:
    """Compare the probabilities of the tokens behind position `start`; every logit of a row goes into its one."""
    expected = np.array(cold.logprobs[start : start + len(found)])
    unequal = np.flatnonzero(np.array(found) != expected)
    if not len(unequal):
        return NO_LOGITS
    amounts = np.abs(np.array(found) - expected)[unequal]
    return LogitsDifference(start + int(unequal[0]), float(np.nan_to_num(amounts, nan=np.inf).max()))
