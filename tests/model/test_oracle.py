"""The paged model against transformers' DeepseekV4ForCausalLM, in float32 and within its sound range.

Sound: one unpadded sequence from position 0, at least 16 index heads, so that scores do not tie at zero.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from oracle_model import oracle_of
from paged_runs import Subject, World, run_steps, subject
from transformers import DynamicCache

from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer

TOLERANCE = 1e-4
LENGTHS = {"tiny-512": 400, "tiny-article": 400, "near": 150, "odd": 150}


@torch.no_grad()
def oracle_logits(model: Subject, tokens: np.ndarray) -> torch.Tensor:
    """Logits of one cold forward pass, `[tokens, vocabulary]`."""
    return oracle_of(model)(torch.from_numpy(tokens)[None], use_cache=False).logits[0]


def paged_logits(model: Subject, tokens: np.ndarray, numerics: Numerics, cuts: list[int]) -> torch.Tensor:
    """Logits of the paged model, chunk by chunk."""
    world = World(model, len(tokens) // model.geometry.page_size + 2, len(tokens))
    sequence = world.place(tokens, len(tokens))
    world.map_tokens(sequence, Extent(0, len(tokens)))
    (logits,) = run_steps(model.transformer(numerics), world, [sequence], [cuts])
    return logits


@pytest.mark.parametrize("name", LENGTHS)
def test_logits_equal_those_of_transformers_cold_in_chunks_and_token_by_token(name: str) -> None:
    model, length = subject(name), LENGTHS[name]
    tokens = model.tokens(length)
    expected = oracle_logits(model, tokens)
    assert expected.std() > 0.5
    ways = {
        "cold": [0, length],
        "chunks": [0, 1, 2, 3, 5, 50, 101, 127, 128, 130, length],
        "token by token": list(range(length + 1)),
    }
    for numerics in Numerics:
        for way, cuts in ways.items():
            difference = (paged_logits(model, tokens, numerics, cuts) - expected).abs().max().item()
            assert difference < TOLERANCE, f"{numerics}, {way}: {difference}"


@pytest.mark.parametrize(("name", "length"), [("tiny-512", 1025), ("tiny-article", 385)])
def test_the_runs_that_every_resume_is_compared_with_give_the_logits_of_transformers(name: str, length: int) -> None:
    """To the last token of `test_exactness`, whose resumed runs have these very bits."""
    model = subject(name)
    tokens = model.tokens(length)
    expected = oracle_logits(model, tokens)
    for numerics in Numerics:
        assert (paged_logits(model, tokens, numerics, [0, length]) - expected).abs().max() < TOLERANCE


def test_a_run_resumed_by_transformers_own_cache_gives_the_same_logits() -> None:
    model = subject("odd")
    tokens = model.tokens(90)
    oracle = oracle_of(model)
    for length in (6, 29, 30, 31, 44):
        cache = DynamicCache(config=oracle.config)
        with torch.no_grad():
            oracle(torch.from_numpy(tokens[:length])[None], cache=cache)
            resumed = oracle(torch.from_numpy(tokens[length:])[None], cache=cache).logits[0]
        ours = paged_logits(model, tokens, Numerics.EXACT, [0, length, len(tokens)])[length:]
        assert (ours - resumed).abs().max() < TOLERANCE


def test_the_whole_vocabulary_gives_the_logits_of_transformers() -> None:
    small = subject("tiny-512")
    config = replace(small.config, vocab_size=129_280)
    model = replace(small, config=config, weights=random_weights(config))
    tokens = model.tokens(40)
    expected = oracle_logits(model, tokens)
    for numerics in Numerics:
        ours = paged_logits(model, tokens, numerics, [0, 17, 39, 40])
        assert (ours - expected).abs().max() < TOLERANCE


def test_sigmoid_router_scores_give_the_logits_of_transformers() -> None:
    near = subject("near")
    model = replace(near, config=replace(near.config, scoring_func="sigmoid"))
    tokens = model.tokens(60)
    ours = paged_logits(model, tokens, Numerics.EXACT, [0, 60])
    assert (ours - oracle_logits(model, tokens)).abs().max() < TOLERANCE


def test_many_experts_routed_one_by_one_give_the_logits_of_transformers() -> None:
    near = subject("near")
    config = replace(near.config, num_experts=24, num_experts_per_tok=3)
    model = replace(near, config=config, weights=random_weights(config))
    tokens = model.tokens(60)
    expected = oracle_logits(model, tokens)
    for numerics in Numerics:
        assert (paged_logits(model, tokens, numerics, [0, 40, 41, 60]) - expected).abs().max() < TOLERANCE


def test_a_wrong_weight_is_seen_by_the_comparison() -> None:
    model = subject("near")
    tokens = model.tokens(60)
    expected = oracle_logits(model, tokens)
    name = "model.layers.2.self_attn.compressor.position_bias"
    wrong = replace(model, weights={**model.weights, name: model.weights[name].roll(1, 0)})
    assert (paged_logits(wrong, tokens, Numerics.EXACT, [0, 60]) - expected).abs().max() > 100 * TOLERANCE


def test_bfloat16_stays_near_float32() -> None:
    model = subject("near")
    tokens = model.tokens(60)
    transformer = Transformer(model.config, model.weights, Numerics.FAST, dtype=torch.bfloat16)
    buffers = transformer.make_buffers(128, 128)
    table = np.arange(128)
    (ours,), _ = transformer.forward_all([SequenceStep(tokens, np.arange(16, 76), 0, 60)], table, buffers)
    expected = oracle_logits(model, tokens)
    agreement = torch.nn.functional.cosine_similarity(ours, expected, dim=1)
    assert agreement.median() > 0.98
