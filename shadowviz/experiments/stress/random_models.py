"""Small models whose ratios, window, page and layers are drawn by a seed: what no preset has."""

from __future__ import annotations

import random
from dataclasses import replace
from math import lcm

from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, LayerSchedule
from shadowviz_engine.model.config import ModelConfig, Rope
from shadowviz_engine.model.presets import model_preset

_MOST_TOKENS_A_PAGE = 256
_ROTARY = 8


def random_config(seed: int) -> tuple[ModelConfig, int]:
    """A model configuration and a page size, the same for the same seed.

    Ratios may divide nothing, be 1, or have a large least common multiple; the window may be shorter than either.
    """
    chance = random.Random(f"stress model {seed}")
    compressors = _compressors(chance)
    layers = [SWA_ONLY, *(item.name for item in compressors)]
    layers += chance.choices(layers, k=chance.randint(0, 2))
    chance.shuffle(layers)
    config = replace(
        model_preset("tiny-512"),
        vocab_size=256,
        hidden_size=32,
        moe_intermediate_size=16,
        num_heads=2,
        head_dim=16,
        q_lora_rank=16,
        o_lora_rank=16,
        num_experts=3,
        num_experts_per_tok=1,
        hash_layers=tuple(number == 0 for number in range(len(layers))),
        compressors=compressors,
        schedule=LayerSchedule(tuple(layers)),
        n_win=chance.choice((1, 2, 3, 5, 7, 8, 11, 16, 17, 20)),
        index_topk=chance.randint(1, 6),
        index_heads=16,
        index_head_dim=16,
        hc_mult=2,
        hc_iterations=4,
        rope_main=Rope(10_000.0, _ROTARY),
        rope_compress=Rope(160_000.0, _ROTARY),
    )
    alignment = lcm(*(item.ratio for item in compressors))
    return config, alignment * chance.randint(1, max(1, min(4, _MOST_TOKENS_A_PAGE // alignment)))


def _compressors(chance: random.Random) -> tuple[Compressor, ...]:
    indexed = Compressor("csa", chance.choice((1, 2, 3, 4, 5, 7, 8, 9)), overlap=chance.random() < 0.7, indexed=True)
    dense = Compressor("hca", chance.choice((1, 2, 5, 6, 8, 10, 13, 16, 23)), overlap=False)
    return chance.choice(((indexed, dense), (indexed, dense), (indexed, dense), (indexed,), (dense,)))
