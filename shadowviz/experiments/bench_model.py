"""The engine beside transformers' generate, on the same weights."""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from shadowviz.experiments.bench_report import AtLeast, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import (
    MODEL,
    Models,
    Say,
    first_token_s,
    load_models,
    median_ratio,
    new_engine,
    pass_s,
    random_prompt,
)
from shadowviz_engine.model.config_json import config_to_json
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.model.random_weights import random_weights

BATCH = 16

_NOT_OF_TRANSFORMERS = ("architectures", "model_type", "csa_overlap")


@dataclass(frozen=True)
class ModelSizes:
    """Tokens of the prompts before decoding, decoded tokens, tokens of the prompt for prefill, and rounds."""

    context: int
    decoded: int
    prefill: int
    rounds: int


@dataclass(frozen=True)
class Times:
    """What `generate` took: seconds to the first token, and seconds of each one after it."""

    first_s: float
    next_s: float


class _Stopwatch:
    """Takes the time at every token that `generate` hands on; the prompt comes first."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def put(self, value: object) -> None:
        """Note the time."""
        del value
        self.times.append(time.perf_counter())

    def end(self) -> None:
        """Do nothing."""


class Transformers:
    """transformers' DeepseekV4ForCausalLM with the engine's weights, as it comes; batch 1.

    Raises:
        ImportError: transformers is not installed, or too old to have the class.
    """

    def __init__(self) -> None:
        from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

        config = model_preset(MODEL)
        values = {name: value for name, value in config_to_json(config).items() if name not in _NOT_OF_TRANSFORMERS}
        model: Any = DeepseekV4ForCausalLM(DeepseekV4Config(**values))
        model.load_state_dict(random_weights(config, 0), strict=True)
        self._model = model.eval()

    def generate(self, prompt: array[int], num_tokens: int) -> Times:
        """Times of `num_tokens` greedy tokens after `prompt`."""
        watch = _Stopwatch()
        ids = torch.tensor(prompt, dtype=torch.int64).unsqueeze(0)
        begun = time.perf_counter()
        self._model.generate(ids, max_new_tokens=num_tokens, min_new_tokens=num_tokens, do_sample=False, streamer=watch)
        first, last = watch.times[1], watch.times[-1]
        return Times(first - begun, (last - first) / max(1, num_tokens - 1))


def model_part(sizes: ModelSizes, say: Say) -> Part:
    """Decoding and prefill of both; ours alone where transformers is not there."""
    missing: tuple[str, ...] = ()
    peer: Transformers | None = None
    try:
        peer = Transformers()
    except ImportError as error:
        missing = (f"transformers with DeepseekV4ForCausalLM: {error}",)
    measures = _measures(sizes, load_models(), peer)
    seconds: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(-1, sizes.rounds):
        say(f"model: round {number + 1} of {sizes.rounds}" if number >= 0 else "model: warming up")
        for name, measure in measures.items():
            value = measure(random.Random(number))
            if number >= 0:
                seconds[name].append(value)
    return Part(
        "model",
        f"`{MODEL}`, decoding {sizes.decoded} tokens after prompts of {sizes.context:,}, prefill of {sizes.prefill:,}; "
        f"medians of {sizes.rounds} rounds, in each of which everything is measured once",
        _ratios(seconds),
        tuple(_figure(name, median(values)) for name, values in seconds.items()),
        missing,
    )


_Measure = Callable[[random.Random], float]


def _measures(sizes: ModelSizes, models: Models, peer: Transformers | None) -> dict[str, _Measure]:
    """Seconds of a prefill, or of one token at a time for every prompt of a batch, by name."""
    vocab_size = models[Numerics.FAST].config.vocab_size

    def decode(numerics: Numerics, batch: int) -> _Measure:
        def measure(chance: random.Random) -> float:
            prompts = [random_prompt(sizes.context, vocab_size, chance) for _ in range(batch)]
            return pass_s(models, numerics, prompts, sizes.decoded)

        return measure

    def prefill(numerics: Numerics) -> _Measure:
        def measure(chance: random.Random) -> float:
            with new_engine(models, numerics) as engine:
                return first_token_s(engine, "prefill", random_prompt(sizes.prefill, vocab_size, chance))

        return measure

    found: dict[str, _Measure] = {}
    if peer is not None:
        generate = peer.generate
        found["decode, transformers, batch 1"] = lambda chance: (
            generate(random_prompt(sizes.context, vocab_size, chance), sizes.decoded + 1).next_s
        )
    for numerics in Numerics:
        for batch in (1, BATCH):
            found[f"decode, {numerics}, batch {batch}"] = decode(numerics, batch)
    if peer is not None:
        found["prefill, transformers"] = lambda chance: (
            generate(random_prompt(sizes.prefill, vocab_size, chance), 1).first_s
        )
    for numerics in Numerics:
        found[f"prefill, {numerics}"] = prefill(numerics)
    return found


def _ratios(seconds: Mapping[str, list[float]]) -> tuple[Ratio, ...]:
    exact_1, exact_many = (seconds[f"decode, exact, batch {batch}"] for batch in (1, BATCH))
    batching = median_ratio(exact_1, exact_many) * BATCH
    own = (Ratio(f"decoded tokens/s, exact at batch {BATCH} in sum / exact at batch 1", batching, AtLeast(4)),)
    if "prefill, transformers" not in seconds:
        return own
    peer_decode, peer_prefill = seconds["decode, transformers, batch 1"], seconds["prefill, transformers"]
    bars = {(Numerics.FAST, 1): AtLeast(3), (Numerics.FAST, BATCH): AtLeast(15)}
    beside = []
    for numerics in (Numerics.FAST, Numerics.EXACT):
        for batch in (1, BATCH):
            value = median_ratio(peer_decode, seconds[f"decode, {numerics}, batch {batch}"]) * batch
            name = f"decoded tokens/s, {numerics} at batch {batch} in sum / transformers at batch 1"
            beside.append(Ratio(name, value, bars.get((numerics, batch))))
    for numerics in (Numerics.FAST, Numerics.EXACT):
        value = median_ratio(peer_prefill, seconds[f"prefill, {numerics}"])
        beside.append(
            Ratio(f"speed of prefill, {numerics} / transformers", value, AtLeast(1.5) if numerics == "fast" else None)
        )
    return (*beside, *own)


def _figure(name: str, seconds: float) -> Figure:
    return Figure(f"{name}, one prompt" if name.startswith("prefill") else f"{name}, one pass", seconds * 1e3, "ms")
