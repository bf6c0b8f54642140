"""config.json of transformers' DeepseekV4ForCausalLM: what is read, and what is refused in a line."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DeepseekV4Config
from transformers.models.deepseek_v4.modeling_deepseek_v4 import DeepseekV4RotaryEmbedding

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.model.config_json import CSA_LAYER, HCA_LAYER, config_from_json, config_to_json, read_config
from shadowviz_engine.model.layers import inverse_frequencies
from shadowviz_engine.model.presets import MODEL_PRESETS, model_preset


@pytest.fixture
def values() -> dict[str, Any]:
    return config_to_json(model_preset("tiny-512"))


def refusal(values: dict[str, Any]) -> str:
    with pytest.raises(ModelError) as caught:
        config_from_json(values)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_a_preset_survives_its_own_json(name: str) -> None:
    config = model_preset(name)
    assert config_from_json(json.loads(json.dumps(config_to_json(config)))) == config


@pytest.mark.parametrize(("name", "page_size"), [("tiny", 256), ("tiny-512", 256), ("tiny-article", 128)])
def test_a_model_preset_has_the_geometry_of_the_same_name(name: str, page_size: int) -> None:
    assert model_preset(name).geometry(name, page_size) == preset(name)


def test_presets_have_the_ids_of_the_tokenizer_or_512() -> None:
    assert model_preset("tiny").vocab_size == 129_280
    assert model_preset("tiny-512").vocab_size == 512
    with pytest.raises(ModelError, match="'huge': expected one of tiny, tiny-512, tiny-article"):
        model_preset("huge")


def test_what_transformers_writes_is_read_as_it_means_it(values: dict[str, Any], tmp_path: Path) -> None:
    own = {key: item for key, item in values.items() if key not in ("architectures", "model_type")}
    written = DeepseekV4Config(**own, architectures=["DeepseekV4ForCausalLM"])
    written.save_pretrained(tmp_path)
    assert read_config(tmp_path) == model_preset("tiny-512")


def test_defaults_of_the_class_that_a_file_leaves_out_are_filled_in() -> None:
    short = {
        "model_type": "deepseek_v4",
        "vocab_size": 64,
        "hidden_size": 32,
        "moe_intermediate_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "head_dim": 64,
        "qk_rope_head_dim": 16,
        "q_lora_rank": 16,
        "o_groups": 2,
        "o_lora_rank": 16,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "compress_ratios": [0, 4, 128],
        "num_hash_layers": 1,
        "sliding_window": 8,
        "index_topk": 2,
        "index_n_heads": 4,
        "index_head_dim": 32,
        "rope_scaling": {"type": "yarn", "factor": 16, "original_max_position_embeddings": 4096},
    }
    config = config_from_json(short)
    assert config.schedule.compressors == ("", "csa", "hca")
    assert config.hash_layers == (True, False, False)
    assert (config.rope_main.theta, config.rope_compress.theta) == (10_000.0, 160_000.0)
    assert config.rotary_dim == 16
    assert config.rope_main.yarn is None
    assert config.rope_compress.yarn is not None
    assert config.rope_compress.yarn.attention_factor == 1.0
    assert (config.hc_mult, config.hc_iterations, config.norm_eps, config.scoring_func) == (4, 20, 1e-6, "sqrtsoftplus")


def test_rotary_frequencies_are_those_of_transformers(values: dict[str, Any]) -> None:
    own = {key: item for key, item in values.items() if key not in ("architectures", "model_type")}
    theirs = DeepseekV4RotaryEmbedding(DeepseekV4Config(**own))
    config = model_preset("tiny-512")
    torch.testing.assert_close(inverse_frequencies(config.rope_main), theirs.main_inv_freq, rtol=1e-6, atol=0)
    torch.testing.assert_close(inverse_frequencies(config.rope_compress), theirs.compress_inv_freq, rtol=1e-6, atol=0)
    assert not torch.allclose(theirs.compress_inv_freq, theirs.main_inv_freq)


def test_ratios_of_the_layers_are_read_with_other_rates(values: dict[str, Any]) -> None:
    del values["layer_types"]
    values |= {"compress_rates": {CSA_LAYER: 32, HCA_LAYER: 96}, "compress_ratios": [0, 0, 32, 96, 32, 96]}
    config = config_from_json(values)
    assert [compressor.ratio for compressor in config.compressors] == [32, 96]
    assert config.schedule.compressors == ("", "", "csa", "hca", "csa", "hca")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, "the model is a LlamaForCausalLM: expected a"),
        ({"architectures": ["DeepseekV4ForRanking"]}, "the model is a DeepseekV4ForRanking"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantised (fp8)"),
        ({"num_key_value_heads": 2}, "num_key_value_heads is 2: expected 1"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"scoring_func": "softmax"}, "scoring_func 'softmax': expected one of sqrtsoftplus, sigmoid"),
        ({"layer_types": ["sliding_attention"] * 2}, "names 2 layers: expected 6"),
        ({"layer_types": ["full_attention"] * 6}, "['full_attention']: expected only"),
        ({"layer_types": None, "compress_ratios": [0, 0, 1, 2, 1, 2]}, "compress_ratios holds [1, 2]"),
        ({"layer_types": None}, "no layer schedule"),
        ({"mlp_layer_types": ["dense"] * 6}, "['dense']: expected only"),
        ({"mlp_layer_types": ["moe"] * 5}, "6 layers, but mlp_layer_types names 5"),
        ({"index_head_dim": 8}, "index_head_dim 8 is below the 16 rotary channels"),
        ({"index_topk": 0}, "index_topk 0 must be at least 1"),
        ({"o_groups": 3}, "o_groups 3 does not divide"),
        ({"num_experts_per_tok": 5}, "5 experts a token, but there are 4"),
        ({"sliding_window": 0}, "sliding_window is 0: expected a whole number from 1 to"),
        ({"hc_sinkhorn_iters": 10**9}, "hc_sinkhorn_iters is 1000000000: expected a whole number from 1 to 1000"),
        ({"max_position_embeddings": "many"}, "max_position_embeddings is many"),
        ({"hidden_size": 64.0}, "hidden_size is 64.0"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps is nan: expected a finite number above 0"),
        ({"hc_eps": float("inf")}, "hc_eps is inf"),
        ({"partial_rotary_factor": 2.0, "rope_parameters": {}}, "rotary dimension 64 must be even and within"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "rope_type is 'longrope'"),
        ({"compress_rates": {CSA_LAYER: "four"}}, "wrong type"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(
    values: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    assert message in refusal(values | change)


def test_a_missing_field_is_named(values: dict[str, Any]) -> None:
    del values["q_lora_rank"]
    assert refusal(values) == "the model configuration lacks 'q_lora_rank'"


@pytest.mark.parametrize(
    ("text", "message"), [("{", "cannot be read"), ("[1]", "holds a list"), (None, "holds no config.json")]
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError, match=message):
        read_config(tmp_path)
