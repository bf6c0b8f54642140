"""Requests on an engine as a user gets it, timed for the benchmark."""

from __future__ import annotations

import gc
import random
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from statistics import median

from shadowviz_engine.core.events import Event, StepDone
from shadowviz_engine.core.sinks import NullSink, Sink
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.assembly import EngineModel, load_engine_model
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

Say = Callable[[str], None]
"""Gets a line before each step that takes long."""

Models = Mapping[Numerics, EngineModel]

MODEL = "tiny"


@cache
def load_models() -> Models:
    """The model in both numeric modes, with the same weights; made once a process."""
    return {numerics: load_engine_model(_options(numerics)) for numerics in Numerics}


def new_engine(models: Models, numerics: Numerics, sink: Sink | None = None) -> Engine:
    """An engine with an empty cache; without a sink it records nothing."""
    return Engine(_options(numerics), sink or NullSink(), model=models[numerics])


def _options(numerics: Numerics) -> EngineOptions:
    """What a user gets who chooses nothing but the numeric mode."""
    return EngineOptions(model=MODEL, numerics=numerics)


def random_prompt(num_tokens: int, vocab_size: int, chance: random.Random) -> array[int]:
    """Token ids that have no prefix in common with what was drawn before."""
    return array("q", chance.choices(range(vocab_size), k=num_tokens))


def first_token_s(engine: Engine, name: str, prompt: Sequence[int]) -> float:
    """Seconds from submission to the first token of a request that has the engine to itself."""
    gc.collect()
    engine.submit(Request(id=name, token_ids=prompt, max_tokens=1))
    engine.run()
    return engine.outputs[name].ttft_ns / 1e9


class _WholePasses:
    """A sink that keeps the times of passes in which all of a batch decodes and nobody prefills."""

    def __init__(self, batch: int) -> None:
        self.times_ns: list[int] = []
        self._batch = batch

    def emit(self, event: Event, /) -> None:
        """Note the time of such a pass."""
        if isinstance(event, StepDone) and len(event.decode) == self._batch and not event.prefill:
            self.times_ns.append(event.t_ns)

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def pass_s(models: Models, numerics: Numerics, prompts: Sequence[Sequence[int]], num_passes: int) -> float:
    """Seconds of a pass that gives every prompt its next token, scheduler, cache and events included.

    The mean over `num_passes` passes, counted from the first one in which all prompts decode.
    """
    passes = _WholePasses(len(prompts))
    with new_engine(models, numerics, passes) as engine:
        # Nobody may end before the last prompt to begin has been through the counted passes and the one before them.
        num_prefills = sum(len(prompt) // engine.options.chunk_tokens + 2 for prompt in prompts)
        max_tokens = num_prefills + num_passes + 2
        for number, prompt in enumerate(prompts):
            engine.submit(Request(id=str(number), token_ids=prompt, max_tokens=max_tokens))
        gc.collect()
        while len(passes.times_ns) <= num_passes:
            going_on = engine.step()
            assert going_on, "the requests ended before all passes were counted"
    return (passes.times_ns[num_passes] - passes.times_ns[0]) / num_passes / 1e9


def median_ratio(over: Iterable[float], under: Iterable[float]) -> float:
    """Median over rounds of the ratio within a round."""
    return median(above / below for above, below in zip(over, under, strict=True))
