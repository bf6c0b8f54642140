"""How far cold runs of the same tokens are apart when they are cut otherwise: what a difference must exceed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from shadowviz.experiments.stress.cold_runs import ColdRun, Noise, Reads, RowsKey, side_by_side
from shadowviz.experiments.stress.compare import compare_heads, compare_logits
from shadowviz.experiments.stress.subject_runs import run_cold
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import HEAD, ROUTER, Stage, Stages, Traced
from shadowviz_engine.runtime.assembly import EngineModel

MARGIN = 8
"""Times the largest difference of cold and cold: a run can be cut in more ways than are measured."""
_AFTER_ALL = 1 << 40
"""Behind every layer."""


def measured_noise(model: EngineModel, cold: ColdRun, stages: Stages) -> Noise:
    """Noise of `model` on the tokens of `cold`, from cold runs in other passes.

    What depends on a choice that an indexer or a router made otherwise is left out: that is no noise of numbers. Where
    that leaves little of a layer, the same kind of a layer before it counts as well.

    Args:
        stages: what `cold` holds.
    """
    rows: dict[RowsKey, float] = {}
    logits = 0.0
    for cuts in _cuts(len(cold)):
        other = run_cold(model, cold.tokens, cuts, _logits_of(cold), stages)
        choices = _other_choices(cold, other)
        for key, amount in _row_differences(model, cold, other, choices).items():
            rows[key] = max(rows.get(key, 0.0), amount)
        logits = max(logits, _logits_apart(model, cold, other, _stop(choices, _AFTER_ALL, len(cold))))
    for key in sorted(rows, key=lambda key: key[2]):
        rows[key] = max(amount for one, amount in rows.items() if one[:2] == key[:2] and one[2] <= key[2])
    return Noise({key: amount * MARGIN for key, amount in rows.items()}, logits * MARGIN)


def _logits_of(cold: ColdRun) -> Extent:
    return Extent(cold.first_logit, cold.first_logit + len(cold.logits))


def _logits_apart(model: EngineModel, cold: ColdRun, other: ColdRun, stop: int) -> float:
    """Largest difference of a logit before position `stop`."""
    if other.heads is not None and stop:
        rows = np.arange(stop)
        told = Traced(Stage.HEAD, HEAD, 0, np.zeros_like(rows), rows, None, other.heads[:stop])
        found = compare_heads(told, {0: cold}, model.transformer.logits)
        return found[0].largest if found else 0.0
    compared = other.logits[: max(0, stop - cold.first_logit)]
    return compare_logits(compared, cold.first_logit, cold).largest if len(compared) else 0.0


def _cuts(length: int) -> list[list[int]]:
    """Three other ways to cut a run: halves, odd chunks, and single tokens at its end."""
    chunk = max(3, length // 7)
    singles = range(max(1, length - 24), length)
    return [[length // 2], list(range(chunk, length, chunk)), list(singles)] if length > 2 else []


def _other_choices(cold: ColdRun, other: ColdRun) -> list[tuple[int, int]]:
    """Time and first position of every indexer and router that chose otherwise."""
    found = []
    for (kind, layer), reads in cold.reads.items():
        if kind.endswith("_tail"):
            continue
        columns, theirs, _, _ = _aligned(kind, layer, reads, other)
        apart = (columns != theirs).any(axis=1)
        if apart.any():
            found.append((_time(kind, layer), int(reads.readers[apart][0])))
    return found


def _time(kind: str, layer: int) -> int:
    """When a layer stores and reads a kind: what comes later depends on it, and its router on its attention."""
    return 2 * layer + (kind == ROUTER)


def _stop(choices: Sequence[tuple[int, int]], time: int, count: int) -> int:
    """First position at which something depends on another choice; `count` where nothing does."""
    return min((position for chosen, position in choices if chosen < time), default=count)


def _row_differences(
    model: EngineModel, cold: ColdRun, other: ColdRun, choices: Sequence[tuple[int, int]]
) -> Mapping[RowsKey, float]:
    """Largest difference by stage, kind and layer, over what depends on no other choice."""
    units = {kind.label: kind.unit for kind in model.geometry.kinds}
    ratios = {kind.label: kind.ratio for kind in model.geometry.kinds}
    found: dict[RowsKey, float] = {}
    for (kind, layer), rows in cold.state.items():
        count = _stop(choices, _time(kind, layer), len(cold)) // units[kind]
        found[str(Stage.STATE), kind, layer] = _apart(rows[:count], other.state[kind, layer][:count])
    for (kind, layer), reads in cold.reads.items():
        stop = _stop(choices, _time(kind, layer), len(cold))
        if kind == ROUTER:
            found[str(Stage.ROUTE), kind, layer] = _apart(reads.values[:stop], other.reads[kind, layer].values[:stop])
            continue
        ratio = ratios.get(kind, 0)
        closes = (reads.readers + 1) * ratio - 1 if ratio else reads.readers
        columns, their_columns, values, theirs = _aligned(kind, layer, reads, other)
        at = torch.from_numpy(np.flatnonzero((closes < stop) & (columns == their_columns).all(axis=1)))
        found[str(Stage.READ), kind, layer] = _apart(values[at], theirs[at])
    return found


def _aligned(kind: str, layer: int, reads: Reads, other: ColdRun) -> tuple[Ints, Ints, torch.Tensor, torch.Tensor]:
    """What both runs read, laid out alike; their readers are the same."""
    theirs = other.reads[kind, layer]
    mine = Traced(Stage.READ, kind, layer, np.zeros_like(reads.readers), reads.readers, reads.columns, reads.values)
    return side_by_side(mine, theirs, np.arange(len(theirs.readers)))


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).abs().max()) if one.numel() else 0.0
