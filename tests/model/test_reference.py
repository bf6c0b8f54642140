"""The reference model against transformers' DeepseekV4ForCausalLM, and its gradients."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.config_json import config_from_json
from shadowviz_engine.model.reference import forward, trace
from shadowviz_engine.model.reference_compress import select_entries

SWA, CSA, HCA = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 64, "beta_fast": 4, "beta_slow": 1}
SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "moe_intermediate_size": 32,
    "num_attention_heads": 4,
    "head_dim": 32,
    "q_lora_rank": 16,
    "partial_rotary_factor": 0.5,
    "num_experts_per_tok": 2,
    "n_routed_experts": 4,
    "layer_types": [SWA, CSA, HCA],
    "mlp_layer_types": ["hash_moe", "moe", "moe"],
    "compress_rates": {CSA: 4, HCA: 16},
    "sliding_window": 16,
    "index_topk": 3,
    "index_n_heads": 16,
    "index_head_dim": 16,
    "hc_mult": 4,
    "hc_sinkhorn_iters": 20,
    "o_groups": 2,
    "o_lora_rank": 16,
    "max_position_embeddings": 4096,
    "rope_parameters": YARN,
}
CASES = {
    "ratios 4 and 16": {},
    "odd ratios that divide nothing": {"compress_rates": {CSA: 3, HCA: 10}, "sliding_window": 7, "index_topk": 5},
    "window shorter than both ratios": {"compress_rates": {CSA: 6, HCA: 16}, "sliding_window": 2, "index_topk": 1},
    "ratio of one token": {"compress_rates": {CSA: 1, HCA: 2}, "index_topk": 4},
    "compressors first, plain rotary": {"layer_types": [HCA, CSA, SWA], "rope_parameters": None},
    "two streams, few Sinkhorn rounds, one expert": {"hc_mult": 2, "hc_sinkhorn_iters": 3, "num_experts_per_tok": 1},
    "rotary that also scales": {"rope_parameters": YARN | {"attention_factor": 1.3}},
    "embedding as head": {"tie_word_embeddings": True},
    "sigmoid gate, clamped experts": {"scoring_func": "sigmoid", "swiglu_limit": 0.5, "index_n_heads": 32},
}


def oracle_of(changes: dict[str, object]) -> DeepseekV4ForCausalLM:
    """A seeded random model whose attention is far from uniform, so that every part of it shows in the logits."""
    config = DeepseekV4Config(**{**SMALL, "num_hidden_layers": 3, **changes})
    config._attn_implementation = config._experts_implementation = "eager"
    model = DeepseekV4ForCausalLM(config).eval()
    torch.manual_seed(7)
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            if name.endswith("tid2eid"):
                weight.random_(config.n_routed_experts)
            elif name.endswith(("norm.weight", "scale")):
                weight.uniform_(0.5, 1.5)
            elif weight.dim() == 1 or name.endswith("position_bias"):
                weight.normal_()
            else:
                weight.normal_(std=weight.shape[-1] ** -0.5)
            if "compressor" in name and "gate_proj" in name:
                weight.mul_(2)
    return model


def config_of(oracle: DeepseekV4ForCausalLM) -> ModelConfig:
    return config_from_json(oracle.config.to_dict())


def logits_of_both(changes: dict[str, object], num_tokens: int) -> tuple[Tensor, Tensor]:
    oracle = oracle_of(changes)
    tokens = torch.randint(64, (2, num_tokens), generator=torch.Generator().manual_seed(num_tokens))
    state = oracle.state_dict()
    if oracle.config.tie_word_embeddings:
        del state["lm_head.weight"]
    with torch.no_grad():
        ours = forward(config_of(oracle), state, tokens)
        return ours, oracle(tokens, use_cache=False).logits


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("num_tokens", [1, 2, 15, 16, 17, 90])
def test_the_reference_agrees_with_transformers(changes: dict[str, object], num_tokens: int) -> None:
    ours, theirs = logits_of_both(changes, num_tokens)
    assert theirs.std() > 0.1
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)


def test_without_overlap_the_reference_agrees_with_transformers_whose_overlap_gates_are_closed() -> None:
    oracle = oracle_of({})
    state = oracle.state_dict()
    config = config_from_json(oracle.config.to_dict() | {"csa_overlap": False})
    tokens = torch.randint(64, (2, 90), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert not torch.allclose(forward(config, state, tokens), forward(config_of(oracle), state, tokens), atol=1e-2)
        for name, weight in state.items():
            if name.startswith("model.layers.1.") and name.endswith("position_bias"):
                weight[:, : weight.shape[1] // 2] = -1e30
        ours, overlapping = forward(config, state, tokens), forward(config_of(oracle), state, tokens)
        torch.testing.assert_close(ours, oracle(tokens, use_cache=False).logits, rtol=0, atol=1e-4)
        torch.testing.assert_close(ours, overlapping, rtol=0, atol=1e-5)


def test_every_part_of_the_state_changes_the_logits() -> None:
    oracle = oracle_of({})
    config, state = config_of(oracle), oracle.state_dict()
    tokens = torch.randint(64, (1, 90), generator=torch.Generator().manual_seed(0))
    untouched = forward(config, state, tokens)
    for name, weight in state.items():
        slope = torch.linspace(-1, 1, weight.shape[-1])
        changed = (weight + 1) % 4 if name.endswith("tid2eid") else weight * 1.5 + slope
        difference = (forward(config, {**state, name: changed}, tokens) - untouched).abs().max()
        assert difference > 1e-3, name


def test_gradient_reaches_every_weight_but_those_behind_a_choice() -> None:
    oracle = oracle_of({})
    config = config_of(oracle)
    state = {
        name: weight.clone().requires_grad_(weight.is_floating_point()) for name, weight in oracle.state_dict().items()
    }
    tokens = torch.randint(64, (2, 40), generator=torch.Generator().manual_seed(0))
    forward(config, state, tokens).logsumexp(-1).sum().backward()
    without = {name for name, weight in state.items() if weight.grad is None or not weight.grad.any()}
    assert all("indexer" in name or name.endswith(("tid2eid", "e_score_correction_bias")) for name in without)
    assert len([name for name in without if "indexer" in name]) == 6
    assert all(weight.grad.isfinite().all() for weight in state.values() if weight.grad is not None)


def test_an_indexer_learns_from_its_scores_and_the_attention_on_entries() -> None:
    oracle = oracle_of({})
    config = replace(config_of(oracle), index_topk=10)
    state = {name: weight.clone().requires_grad_("indexer" in name) for name, weight in oracle.state_dict().items()}
    tokens = torch.randint(64, (2, 40), generator=torch.Generator().manual_seed(0))
    attended = trace(config, state, tokens).attended[1]
    assert attended.scores is not None
    assert attended.scores.shape == attended.mass.shape == (2, 40, 10)
    (attended.scores * attended.mass.detach()).sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for name, weight in state.items() if "indexer" in name)


def test_no_attention_falls_on_an_entry_before_its_last_token() -> None:
    oracle = oracle_of({})
    config, state = config_of(oracle), oracle.state_dict()
    attended = trace(config, state, torch.arange(40).unsqueeze(0)).attended
    for layer, ratio in ((1, 4), (2, 16)):
        closes_at = (torch.arange(40 // ratio) + 1) * ratio - 1
        before = torch.arange(40).unsqueeze(-1) < closes_at
        assert not attended[layer].mass[0][before].any()
        assert (attended[layer].mass[0][closes_at[0] :].sum(-1) > 0).all()
    assert attended[0].mass.shape[-1] == 0


def test_equal_index_scores_are_taken_from_the_lowest_index() -> None:
    scores = torch.tensor([[[1.0, 0.0, 1.0, 1.0, 9.0]]])
    closed = torch.tensor([[[True, True, True, True, False]]])
    chosen = select_entries(scores, closed, index_topk=2)
    assert chosen.flatten().tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("index_topk", [2, 3, 5])
def test_all_closed_entries_are_read_when_there_are_no_more_than_topk(index_topk: int) -> None:
    closed = torch.tensor([[[True, True, False]]])
    assert select_entries(torch.zeros(1, 1, 3), closed, index_topk).flatten().tolist() == [True, True, False]
