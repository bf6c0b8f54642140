"""Layers and row bytes of every family, against the table of families and the configuration classes."""

import importlib
from typing import Any

import pytest

from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.presets import preset

LAYERS = {
    "deepseek-v4.1": {"pair_kv": 3, "pair_index": 3, "latent_kv": 1, "latent_index": 1, "swa_kv": 40, "pair_tail": 3},
    "deepseek-v3.2": {"latent_kv": 61, "index_k": 61},
    "glm-dsa": {"latent_kv": 78, "index_k": 78},
    "qwen3.5": {"full_kv": 8, "delta_state": 24},
    "qwen3.5-moe": {"full_kv": 10, "delta_state": 30},
    "qwen3-next": {"full_kv": 12, "delta_state": 36},
    "olmo-hybrid": {"full_kv": 8, "delta_state": 24},
    "kimi-linear": {"latent_kv": 6, "delta_state": 21},
    "bailing-hybrid": {"latent_kv": 7, "delta_state": 35},
    "minimax-text-01": {"full_kv": 16, "linear_state": 16},
    "minimax-m2": {"full_kv": 62},
    "minimax-m3": {"full_kv": 60, "index_k": 60},
    "gemma2": {"full_kv": 13, "swa_kv": 13},
    "gemma3": {"full_kv": 4, "swa_kv": 22},
    "gemma4": {"full_kv": 5, "swa_kv": 25},
    "gpt-oss": {"full_kv": 18, "swa_kv": 18},
    "olmo3": {"full_kv": 8, "swa_kv": 24},
    "cohere2": {"full_kv": 10, "swa_kv": 30},
    "exaone4": {"full_kv": 8, "swa_kv": 24},
    "mimo-v2-flash": {"full_kv": 9, "swa_kv": 39},
    "llama4": {"full_kv": 12, "chunk_kv": 36},
    "mistral-swa": {"swa_kv": 32},
    "nemotron-h": {"full_kv": 6, "ssm_state": 23},
    "jamba": {"full_kv": 4, "ssm_state": 28},
    "granite-hybrid": {"full_kv": 4, "ssm_state": 36},
    "falcon-h1": {"full_kv": 32, "ssm_state": 32},
    "lfm2": {"full_kv": 6, "conv_state": 10},
    "glm5-next": {"latent_kv": 11, "index_k": 11, "delta_state": 34, "index_tail": 11},
    "qwen4-exp": {"full_kv": 10, "index_k": 10, "delta_state": 30, "index_tail": 10},
}

CLASSES = {
    "qwen3.5": "qwen3_5.Qwen3_5TextConfig",
    "qwen3.5-moe": "qwen3_5_moe.Qwen3_5MoeTextConfig",
    "qwen3-next": "qwen3_next.Qwen3NextConfig",
    "olmo-hybrid": "olmo_hybrid.OlmoHybridConfig",
    "kimi-linear": "kimi_linear.KimiLinearConfig",
    "bailing-hybrid": "bailing_hybrid.BailingHybridConfig",
    "minimax-text-01": "minimax.MiniMaxConfig",
    "gemma2": "gemma2.Gemma2Config",
    "gemma3": "gemma3.Gemma3TextConfig",
    "gemma3n": "gemma3n.Gemma3nTextConfig",
    "gemma4": "gemma4.Gemma4TextConfig",
    "gpt-oss": "gpt_oss.GptOssConfig",
    "olmo3": "olmo3.Olmo3Config",
    "cohere2": "cohere2.Cohere2Config",
    "exaone4": "exaone4.Exaone4Config",
    "mimo-v2-flash": "mimo_v2_flash.MiMoV2FlashConfig",
    "llama4": "llama4.Llama4TextConfig",
    "jamba": "jamba.JambaConfig",
    "glm5-next": "glm5_next.Glm5NextTextConfig",
    "qwen4-exp": "qwen4_exp.Qwen4ExpTextConfig",
    "deepseek-v3.2": "deepseek_v32.DeepseekV32Config",
    "glm-dsa": "glm_moe_dsa.GlmMoeDsaConfig",
}
LAYER_TYPES = {
    "full_kv": {"full_attention", "indexed_attention"},
    "latent_kv": {"full_attention", "indexed_attention"},
    "index_k": {"indexed_attention"},
    "swa_kv": {"sliding_attention"},
    "chunk_kv": {"chunked_attention"},
    "delta_state": {"linear_attention"},
    "linear_state": {"linear_attention"},
    "ssm_state": {"linear_attention"},
}


def configuration(name: str) -> Any:
    """Defaults of the configuration class of a family."""
    module, cls = CLASSES[name].split(".")
    return getattr(importlib.import_module(f"transformers.models.{module}.configuration_{module}"), cls)()


@pytest.mark.parametrize("name", LAYERS)
def test_a_family_has_the_layers_of_its_kinds(name: str) -> None:
    owners = {kind.label: len(kind.owners) for kind in preset(name).kinds}
    assert {label: owners[label] for label in LAYERS[name]} == LAYERS[name]


@pytest.mark.parametrize("name", CLASSES)
def test_layers_are_those_of_the_configuration_class(name: str) -> None:
    config = configuration(name)
    for kind in preset(name).kinds:
        if kind.label in LAYER_TYPES:
            layers = [i for i, layer in enumerate(config.layer_types) if layer in LAYER_TYPES[kind.label]]
            assert list(kind.readers or kind.owners) == layers, kind.label
    window = getattr(config, "sliding_window", None)
    if any(kind.label == "swa_kv" for kind in preset(name).kinds):
        assert (preset(name).n_win, preset(name).kind("swa_kv").need) == (window, window - 1)


BYTES = {
    "full_kv": lambda c, d: 2 * c.num_key_value_heads * (d + (getattr(c, "v_head_dim", 0) or d)),
    "latent_kv": lambda c, d: 2 * (c.kv_lora_rank + c.qk_rope_head_dim),
    "index_k": lambda c, d: 2 * 128,
    "delta_state": lambda c, d: 4 * delta_heads(c)[1] * delta_heads(c)[2] * delta_heads(c)[3],
    "conv_state": lambda c, d: 2 * 3 * sum(conv_channels(c)),
    "linear_state": lambda c, d: 4 * c.num_attention_heads * d * d,
}


def delta_heads(config: Any) -> tuple[int, int, int, int]:
    """Key heads, value heads, key and value width of a linear-attention layer."""
    if hasattr(config, "linear_num_value_heads"):
        heads = (config.linear_num_key_heads, config.linear_num_value_heads)
        return (*heads, config.linear_key_head_dim, config.linear_value_head_dim)
    return (config.linear_num_heads,) * 2 + (config.linear_head_dim,) * 2


def conv_channels(config: Any) -> tuple[int, int, int]:
    """Channels of query, key and value under the convolution of three earlier rows."""
    if hasattr(config, "mamba_d_conv"):
        return 0, 0, config.mamba_expand * config.hidden_size
    key_heads, value_heads, key_dim, value_dim = delta_heads(config)
    return key_heads * key_dim, key_heads * key_dim, value_heads * value_dim


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"gemma4"}))
def test_row_bytes_are_those_of_the_configuration_class(name: str) -> None:
    config = configuration(name)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    for kind in preset(name).kinds:
        if kind.row_bytes and kind.label in BYTES:
            assert kind.row_bytes == BYTES[kind.label](config, head_dim), kind.label


def test_the_table_of_layers_leaves_no_family_out() -> None:
    assert set(LAYERS) | {"gemma3n", "deepseek-v4.1-replay"} == set(FAMILIES)
