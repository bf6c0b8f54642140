"""Time to the first token with nine tenths of the prompt in the cache, and with nothing."""

import random
from dataclasses import dataclass
from statistics import median

from shadowviz.experiments.bench_report import AtLeast, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import MODEL, Models, Say, first_token_s, load_models, new_engine, random_prompt
from shadowviz_engine.model.numerics import Numerics

TENTHS_REUSED = 9


@dataclass(frozen=True)
class ReuseSizes:
    """Tokens of the prompts, each a multiple of ten pages, and rounds."""

    lengths: tuple[int, ...]
    rounds: int


def reuse_part(sizes: ReuseSizes, say: Say) -> Part:
    """How far time to the first token falls, in both numeric modes."""
    models = load_models()
    ratios: list[Ratio] = []
    figures: list[Figure] = []
    for numerics in (Numerics.FAST, Numerics.EXACT):
        for length in sizes.lengths:
            say(f"reuse: {length:,} tokens, {numerics}")
            rounds = [cold_and_warm_s(models, numerics, length, number) for number in range(-1, sizes.rounds)][1:]
            falls = [1 - warm / cold for cold, warm in rounds]
            ratios.append(Ratio(f"fall of TTFT at {length:,} tokens, {numerics}", median(falls), AtLeast(0.8)))
            for index, name in enumerate(("nothing", f"{TENTHS_REUSED * 10} %")):
                value = median(times[index] for times in rounds)
                figures.append(Figure(f"TTFT at {length:,} tokens with {name} reused, {numerics}", value * 1e3, "ms"))
    return Part(
        "reuse",
        f"`{MODEL}`, a prompt that is new, then one that shares {TENTHS_REUSED * 10} % with it; "
        f"medians of {sizes.rounds} rounds",
        tuple(ratios),
        tuple(figures),
    )


def cold_and_warm_s(models: Models, numerics: Numerics, length: int, seed: int) -> tuple[float, float]:
    """TTFT in seconds of a prompt of `length` tokens, then of one whose first nine tenths are the same."""
    chance = random.Random(seed)
    with new_engine(models, numerics) as engine:
        first = random_prompt(length, engine.model.config.vocab_size, chance)
        shared = first[: length // 10 * TENTHS_REUSED]
        second = shared + random_prompt(length - len(shared), engine.model.config.vocab_size, chance)
        cold, warm = first_token_s(engine, "cold", first), first_token_s(engine, "warm", second)
        lookup = engine.outputs["warm"].lookup
    reused = 0 if lookup is None else lookup.reused
    assert reused == len(shared), f"{reused} tokens reused of {len(shared)} that are shared: give whole pages"
    return cold, warm
