"""What a numeric run is about: a model, its master tokens, and its cold runs without any cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from shadowviz.experiments.stress.cold_runs import ColdRun, cold_run
from shadowviz.experiments.stress.random_models import random_config
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.numerics import Numerics, threads
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import Ints, SequenceStep
from shadowviz_engine.model.trace import STATE_AND_READS, Stage, Stages, Traced
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.assembly import EngineModel, load_engine_model
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.sampler import log_probabilities

RANDOM = "random:"
"""A subject of this beginning is a model drawn by the number behind it."""


@dataclass(frozen=True)
class Subject:
    """A model that is put under stress, in the numeric modes that are asked for."""

    name: str
    load: Callable[[Numerics], EngineModel]
    models: dict[Numerics, EngineModel] = field(default_factory=dict)

    def model(self, numerics: Numerics) -> EngineModel:
        """The model in a numeric mode, loaded once."""
        if numerics not in self.models:
            self.models[numerics] = self.load(numerics)
        return self.models[numerics]

    @property
    def geometry(self) -> Geometry:
        """What the arithmetic of the model's cache depends on."""
        return self.model(Numerics.EXACT).geometry

    @property
    def largest_ratio(self) -> int:
        """Tokens of the largest compression window; 1 without a compressor."""
        return max((compressor.ratio for compressor in self.geometry.compressors), default=1)

    def stop_of(self, length: int) -> int:
        """Where a run that goes on at `length` may stop: every window that is open there has closed and been read."""
        return (length // self.largest_ratio + 1) * self.largest_ratio + 1

    def tokens(self, count: int, seed: int) -> Ints:
        """Random token ids; fewer of them are the beginning of more."""
        return np.random.default_rng(seed).integers(0, self.model(Numerics.EXACT).config.vocab_size, count)


def subject_named(name: str) -> Subject:
    """The model called `name`: a preset, a directory, or `random:SEED`.

    Raises:
        ShadowvizError: there is no such model, or it cannot run.
    """
    if not name.startswith(RANDOM):
        return Subject(name, lambda numerics: load_engine_model(EngineOptions(model=name, numerics=numerics)))
    seed = name.removeprefix(RANDOM)
    if not (seed.isascii() and seed.isdigit() and len(seed) <= 18):
        raise InputError(f"subject {name!r} names no random model: expected {RANDOM} and a whole number, as {RANDOM}7")
    return Subject(name, lambda numerics: _random_model(name, int(seed), numerics))


def _random_model(name: str, seed: int, numerics: Numerics) -> EngineModel:
    config, page_size = random_config(seed)
    transformer = Transformer(config, random_weights(config, seed), numerics)
    return EngineModel(name, "", config.geometry(name, page_size), config, transformer)


_ROWS_AT_ONCE = 48
"""Rows of logits that are held at a time; another number than the engine's, which must not matter."""
ALL = Extent(0, 1 << 40)
"""The logits of every token."""
NONE = Extent(0, 0)


def run_cold(
    model: EngineModel,
    tokens: Ints,
    cuts: Sequence[int] = (),
    logits: Extent = ALL,
    stages: Stages = STATE_AND_READS,
) -> ColdRun:
    """A run of the model alone, without scheduler and cache, over slots in a row.

    Args:
        cuts: where a pass ends and the next begins; none = one pass.
        logits: tokens whose logits are wanted: those of a large vocabulary fill the memory.
        stages: what is kept of it; with rows for the vocabulary there are no logits.
    """
    if Stage.HEAD in stages:
        logits = NONE
    told: list[Traced] = []
    # A pass has the logits of its last tokens or of none, so one ends where they are not wanted any more.
    ends = sorted({0, *cuts, min(logits.stop, len(tokens)), len(tokens)})
    found = run_passes(model, tokens, ends, told.append, logits, stages)
    return cold_run(tokens, told, found, logits.start)


def run_passes(
    model: EngineModel,
    tokens: Ints,
    ends: Sequence[int],
    trace: Callable[[Traced], None],
    logits: Extent = ALL,
    stages: Stages = STATE_AND_READS,
) -> Tensor:
    """Logits of a traced run of the model alone, a pass from each of `ends` to the next."""
    transformer, page = model.transformer, model.geometry.page_size
    slots = np.arange(page, page + len(tokens))
    table = np.arange(-(-(page + len(tokens)) // page) * page)
    buffers = transformer.make_buffers(len(table), len(table))
    parts = []
    transformer.trace, transformer.stages = trace, stages
    try:
        with threads(1):
            for start, stop in pairwise(ends):
                step = SequenceStep(tokens[:stop], slots[:stop], start, stop)
                wanted = Extent(start, stop).intersect(logits)
                (part,), _ = transformer.forward_all([step], table, buffers, [wanted.start if wanted else stop - 1])
                if wanted:
                    parts.append(part)
    finally:
        transformer.trace, transformer.stages = None, STATE_AND_READS
    return torch.cat(parts) if parts else torch.empty(0, model.config.vocab_size)


def log_probabilities_of(model: EngineModel, heads: Tensor, tokens: Ints) -> tuple[float, ...]:
    """Logarithm of the probability of every token but the first, as the engine tells it."""
    found: list[float] = []
    for start in range(0, len(tokens) - 1, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(tokens) - 1)
        found += log_probabilities(model.transformer.logits(heads[start:stop]), tokens[start + 1 : stop + 1])
    return tuple(found)


@cache
def cached_subject(name: str) -> Subject:
    """As `subject_named`, made once a process."""
    return subject_named(name)
