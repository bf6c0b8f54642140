"""The naive proof, one forward pass of transformers a length, and what ours takes beside it in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from shadowviz.experiments.stress.numeric import work_of
from shadowviz.experiments.stress.numeric_modes import Mode
from shadowviz.experiments.stress.subject_runs import RANDOM, cached_subject
from shadowviz.experiments.stress.work import Plan
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.config_json import config_to_json
from shadowviz_engine.model.numerics import Numerics, threads
from shadowviz_engine.model.presets import MODEL_PRESETS
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import Ints

EVERY = 20
"""Lengths from one that the naive way is measured at to the next; between them its time is taken to be linear."""
BAR = 0.2
"""Share of the naive way that ours may take."""
PROOF = Mode("batch", ResumeRule.ANY, "all")

_NOT_OF_TRANSFORMERS = ("architectures", "model_type", "csa_overlap")


@dataclass(frozen=True)
class Comparison:
    """Seconds of the process that both ways take, on one thread each."""

    subject: str
    num_lengths: int
    num_same: int
    """Lengths at which our proof found nothing."""
    ours_s: float
    naive_s: float
    num_measured: int
    """Lengths that the naive way ran at; where they are fewer than all, its time is worked out from theirs."""

    @property
    def share(self) -> float:
        """Our time as a share of the naive one."""
        return self.ours_s / self.naive_s

    def __str__(self) -> str:
        """Both times in one line."""
        how = "" if self.num_measured == self.num_lengths else f", from {self.num_measured} of them"
        return (
            f"{self.subject}, {self.num_lengths} lengths: the exact proof takes {self.ours_s:.1f} s, one transformers "
            f"forward a length {self.naive_s:.1f} s{how}; share {self.share:.3f}, at most {BAR:g} is wanted"
        )


def compare_with_naive(plan: Plan, every: int = EVERY, say: Callable[[str], None] = lambda _: None) -> Comparison:
    """Times of the exact proof of a plan's lengths and of the naive way, taken in turn so that load hurts both alike.

    The naive way runs each prompt to its length alone, which is less than the tokens that our proof looks at.

    Args:
        plan: subject, lengths and seed; a preset with random weights or a random model.
        every: lengths between those that the naive way is measured at; 1 measures all.
        say: gets a line before each group.

    Raises:
        InputError: transformers is not there, or cannot run the subject.
    """
    if plan.subject not in MODEL_PRESETS and not plan.subject.startswith(RANDOM):
        raise InputError(f"the naive way runs seeded weights, not {plan.subject!r}: give a preset or random:7")
    proof = (str(PROOF),)
    work = work_of(Plan(level="numeric", subject=plan.subject, lengths=plan.lengths, seed=plan.seed, modes=proof))
    groups = work.groups()
    model = cached_subject(plan.subject).model(Numerics.EXACT)
    naive = _transformers(model.config, random_weights(model.config, _weights_seed(plan.subject)))
    tokens = cached_subject(plan.subject).tokens(max(work.lengths), plan.seed)
    measured = sorted({work.lengths[0], work.lengths[-1], *work.lengths[::every]})
    with threads(1):
        _seconds(partial(_forward, naive, tokens, measured[0]))
        points: list[tuple[int, float]] = []
        ours_s, num_same = 0.0, 0
        for number, group in enumerate(groups):
            say(f"group {number + 1} of {len(groups)}")
            begun = time.process_time()
            num_same += sum(result.outcome == "same" for result in work.check(group))
            ours_s += time.process_time() - begun
            due = [length for length in measured if length in group.lengths]
            points += [(length, _seconds(partial(_forward, naive, tokens, length))) for length in due]
    naive_s = _total(points, work.lengths)
    return Comparison(work.subject, len(work.lengths), num_same, ours_s, naive_s, len(points))


def _total(points: Sequence[tuple[int, float]], lengths: Sequence[int]) -> float:
    """Sum over `lengths` of seconds that are known at some of them, first and last included; linear in between."""
    total, place = 0.0, 0
    for length in lengths:
        while place + 1 < len(points) and points[place + 1][0] <= length:
            place += 1
        (at, seconds), (after, later) = points[place], points[min(place + 1, len(points) - 1)]
        part = (length - at) / (after - at) if after > at else 0.0
        total += seconds + part * (later - seconds)
    return total


def _seconds(call: Callable[[], None]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


@torch.no_grad()
def _forward(model: Any, tokens: Ints, length: int) -> None:
    model(torch.from_numpy(tokens[:length])[None], use_cache=False)


def _weights_seed(subject: str) -> int:
    return int(subject.partition(":")[2] or 0)


def _transformers(config: ModelConfig, weights: dict[str, torch.Tensor]) -> Any:
    """transformers' model with the same weights, as it comes."""
    try:
        from transformers import DeepseekV4Config, DeepseekV4ForCausalLM
    except ImportError as error:
        raise InputError(f"the naive way needs transformers with DeepseekV4ForCausalLM: {error}") from error
    _require_both(config.used_compressors)
    values = {name: value for name, value in config_to_json(config).items() if name not in _NOT_OF_TRANSFORMERS}
    model: Any = DeepseekV4ForCausalLM(DeepseekV4Config(**values))
    model.load_state_dict(weights, strict=True)
    return model.eval()


def _require_both(compressors: Sequence[Compressor]) -> None:
    if {compressor.name for compressor in compressors} != {"csa", "hca"}:
        names = ", ".join(compressor.name for compressor in compressors)
        raise InputError(f"transformers runs models with csa and hca layers: this one has {names or 'neither'}")
