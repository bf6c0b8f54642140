"""Reading and writing the config.json of transformers' DeepseekV4ForCausalLM."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, LayerSchedule
from shadowviz_engine.model.config import ModelConfig, Rope, YarnScaling

ARCHITECTURE = "DeepseekV4ForCausalLM"
MODEL_TYPE = "deepseek_v4"
CSA_LAYER = "compressed_sparse_attention"
HCA_LAYER = "heavily_compressed_attention"
SWA_LAYER = "sliding_attention"
_COMPRESSOR_OF_LAYER_TYPE = {SWA_LAYER: SWA_ONLY, CSA_LAYER: "csa", HCA_LAYER: "hca"}
_LAYER_TYPE_OF_COMPRESSOR = {name: layer_type for layer_type, name in _COMPRESSOR_OF_LAYER_TYPE.items()}
_DEFAULT_RATES = {CSA_LAYER: 4, HCA_LAYER: 128}
_DEFAULT_HASH_LAYERS = 3


def read_config(directory: Path) -> ModelConfig:
    """Configuration from `directory`/config.json.

    Raises:
        ModelError: the file is missing or torn, or holds another class's, a quantised or an unfit configuration.
    """
    path = directory / "config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{directory} holds no config.json: expected a {ARCHITECTURE} model directory") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise ModelError(f"{path} holds a {type(values).__name__}: expected a JSON object")
    return config_from_json(values)


def config_from_json(values: Mapping[str, Any]) -> ModelConfig:
    """Configuration from the object that a config.json holds.

    Raises:
        ModelError: another class, a quantised form, a missing field, or sizes that do not fit together.
    """
    _refuse_other_models(values)
    try:
        return _config(values)
    except KeyError as error:
        raise ModelError(f"the model configuration lacks {error.args[0]!r}") from error
    except (TypeError, AttributeError) as error:
        raise ModelError(f"the model configuration holds a value of the wrong type: {error}") from error


def _refuse_other_models(values: Mapping[str, Any]) -> None:
    architectures = values.get("architectures") or [ARCHITECTURE]
    if values.get("model_type") != MODEL_TYPE or ARCHITECTURE not in architectures:
        found = ", ".join(map(str, architectures)) if values.get("architectures") else values.get("model_type")
        raise ModelError(f"the model is a {found}: expected a {ARCHITECTURE} (model_type {MODEL_TYPE})")
    quantisation = values.get("quantization_config")
    if quantisation:
        method = quantisation.get("quant_method", "unnamed") if isinstance(quantisation, Mapping) else quantisation
        raise ModelError(f"the model is quantised ({method}): expected plain float weights, convert it first")
    plain = {"hidden_act": "silu", "num_key_value_heads": 1, "mlp_bias": False, "attention_bias": False}
    for name, expected in plain.items():
        if values.get(name, expected) != expected:
            raise ModelError(f"{name} is {values[name]!r}: expected {expected!r}")


def _config(values: Mapping[str, Any]) -> ModelConfig:
    num_layers = values["num_hidden_layers"]
    rates = _rates(values)
    overlap = bool(values.get("csa_overlap", True))
    eos = values.get("eos_token_id", 1)
    main, compress = _ropes(values)
    return ModelConfig(
        vocab_size=values["vocab_size"],
        hidden_size=values["hidden_size"],
        moe_intermediate_size=values["moe_intermediate_size"],
        num_heads=values["num_attention_heads"],
        head_dim=values["head_dim"],
        q_lora_rank=values["q_lora_rank"],
        o_groups=values["o_groups"],
        o_lora_rank=values["o_lora_rank"],
        num_experts=values["n_routed_experts"],
        num_experts_per_tok=values["num_experts_per_tok"],
        routed_scaling_factor=float(values.get("routed_scaling_factor", 1.5)),
        scoring_func=values.get("scoring_func", "sqrtsoftplus"),
        swiglu_limit=float(values.get("swiglu_limit", 10.0)),
        hash_layers=_hash_layers(values, num_layers),
        compressors=(
            Compressor("csa", rates[CSA_LAYER], overlap=overlap, indexed=True),
            Compressor("hca", rates[HCA_LAYER]),
        ),
        schedule=_schedule(values, num_layers),
        n_win=values["sliding_window"],
        index_topk=values["index_topk"],
        index_heads=values["index_n_heads"],
        index_head_dim=values["index_head_dim"],
        hc_mult=values.get("hc_mult", 4),
        hc_iterations=values.get("hc_sinkhorn_iters", 20),
        hc_eps=float(values.get("hc_eps", 1e-6)),
        norm_eps=float(values.get("rms_norm_eps", 1e-6)),
        rope_main=main,
        rope_compress=compress,
        max_positions=values.get("max_position_embeddings", 1048576),
        tie_embeddings=bool(values.get("tie_word_embeddings", False)),
        bos_token_id=values.get("bos_token_id", 0),
        eos_token_ids=() if eos is None else tuple(eos) if isinstance(eos, list) else (eos,),
    )


def _rates(values: Mapping[str, Any]) -> dict[str, int]:
    rates = _DEFAULT_RATES | dict(values.get("compress_rates") or {})
    for legacy, layer_type in (("compress_rate_csa", CSA_LAYER), ("compress_rate_hca", HCA_LAYER)):
        rates[layer_type] = values.get(legacy, rates[layer_type])
    return rates


def _schedule(values: Mapping[str, Any], num_layers: int) -> LayerSchedule:
    """Compressor of each layer, from `layer_types`, or from `compress_ratios` (0, the CSA rate, the HCA rate)."""
    layer_types = values.get("layer_types")
    if layer_types is None:
        ratios = values.get("compress_ratios")
        if ratios is None:
            raise ModelError("the model configuration names no layer schedule: expected layer_types or compress_ratios")
        by_ratio = {0: SWA_LAYER} | {rate: layer_type for layer_type, rate in _rates(values).items()}
        unknown = sorted({ratio for ratio in ratios if ratio not in by_ratio})
        if unknown:
            raise ModelError(f"compress_ratios holds {unknown}: expected only {sorted(by_ratio)}")
        layer_types = [by_ratio[ratio] for ratio in ratios]
    if len(layer_types) < num_layers:
        raise ModelError(f"the layer schedule names {len(layer_types)} layers: expected {num_layers}")
    unknown_types = sorted(set(layer_types) - set(_COMPRESSOR_OF_LAYER_TYPE))
    if unknown_types:
        raise ModelError(f"layer_types holds {unknown_types}: expected only {sorted(_COMPRESSOR_OF_LAYER_TYPE)}")
    return LayerSchedule(tuple(_COMPRESSOR_OF_LAYER_TYPE[item] for item in layer_types[:num_layers]))


def _hash_layers(values: Mapping[str, Any], num_layers: int) -> tuple[bool, ...]:
    types: Sequence[str] | None = values.get("mlp_layer_types")
    if types is None:
        num_hash = values.get("num_hash_layers", _DEFAULT_HASH_LAYERS)
        return tuple(layer < num_hash for layer in range(num_layers))
    unknown = sorted(set(types) - {"hash_moe", "moe"})
    if unknown:
        raise ModelError(f"mlp_layer_types holds {unknown}: expected only ['hash_moe', 'moe']")
    return tuple(item == "hash_moe" for item in types[:num_layers])


def _ropes(values: Mapping[str, Any]) -> tuple[Rope, Rope]:
    """Rotary embeddings of layers without and with a compressor, from the flat or the nested form."""
    head_dim = values["head_dim"]
    fraction = values.get("partial_rotary_factor")
    rotary = values.get("qk_rope_head_dim", 64) if fraction is None else int(head_dim * fraction)
    given = dict(values.get("rope_parameters") or values.get("rope_scaling") or {})
    nested = {key: given.get(key) for key in ("main", "compress")}
    if all(isinstance(item, dict) for item in nested.values()):
        main, compress = nested["main"] or {}, nested["compress"] or {}
    else:
        main, compress = {}, {key: value for key, value in given.items() if key not in nested and key != "rope_theta"}
    theta, compress_theta = values.get("rope_theta", 1e4), values.get("compress_rope_theta", 1.6e5)
    return _rope(main, theta, head_dim, rotary), _rope(compress, compress_theta, head_dim, rotary)


def _rope(values: Mapping[str, Any], theta: float, head_dim: int, rotary: int) -> Rope:
    kind = values.get("rope_type", values.get("type", "default"))
    theta = float(values.get("rope_theta", theta))
    rotary = int(head_dim * values["partial_rotary_factor"]) if "partial_rotary_factor" in values else rotary
    if kind == "default":
        return Rope(theta, rotary)
    if kind != "yarn":
        raise ModelError(f"rope_type is {kind!r}: expected 'default' or 'yarn'")
    return Rope(
        theta,
        rotary,
        YarnScaling(
            float(values["factor"]),
            int(values["original_max_position_embeddings"]),
            float(values.get("beta_fast") or 32),
            float(values.get("beta_slow") or 1),
            float(values.get("attention_factor") or 1.0),
        ),
    )


def config_to_json(config: ModelConfig) -> dict[str, Any]:
    """The object a config.json holds; transformers reads it too, but for `csa_overlap`, which it ignores."""
    rates = {_LAYER_TYPE_OF_COMPRESSOR[item.name]: item.ratio for item in config.compressors}
    fraction = config.rotary_dim / config.head_dim
    return {
        "architectures": [ARCHITECTURE],
        "model_type": MODEL_TYPE,
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "moe_intermediate_size": config.moe_intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": 1,
        "head_dim": config.head_dim,
        "q_lora_rank": config.q_lora_rank,
        "o_groups": config.o_groups,
        "o_lora_rank": config.o_lora_rank,
        "n_routed_experts": config.num_experts,
        "n_shared_experts": 1,
        "num_experts_per_tok": config.num_experts_per_tok,
        "routed_scaling_factor": config.routed_scaling_factor,
        "scoring_func": config.scoring_func,
        "swiglu_limit": config.swiglu_limit,
        "mlp_layer_types": ["hash_moe" if hashed else "moe" for hashed in config.hash_layers],
        "layer_types": [_LAYER_TYPE_OF_COMPRESSOR[name] for name in config.schedule.compressors],
        "compress_rates": rates,
        "csa_overlap": all(item.overlap for item in config.compressors if item.indexed),
        "sliding_window": config.n_win,
        "index_topk": config.index_topk,
        "index_n_heads": config.index_heads,
        "index_head_dim": config.index_head_dim,
        "hc_mult": config.hc_mult,
        "hc_sinkhorn_iters": config.hc_iterations,
        "hc_eps": config.hc_eps,
        "rms_norm_eps": config.norm_eps,
        "hidden_act": "silu",
        "max_position_embeddings": config.max_positions,
        "tie_word_embeddings": config.tie_embeddings,
        "bos_token_id": config.bos_token_id,
        "eos_token_id": list(config.eos_token_ids) or None,
        "partial_rotary_factor": fraction,
        "rope_theta": config.rope_main.theta,
        "compress_rope_theta": config.rope_compress.theta,
        "rope_parameters": {
            "main": _rope_to_json(config.rope_main, fraction),
            "compress": _rope_to_json(config.rope_compress, fraction),
        },
    }


def _rope_to_json(rope: Rope, fraction: float) -> dict[str, Any]:
    values: dict[str, Any] = {"rope_type": "default", "rope_theta": rope.theta, "partial_rotary_factor": fraction}
    if rope.yarn is not None:
        values |= {
            "rope_type": "yarn",
            "factor": rope.yarn.factor,
            "original_max_position_embeddings": rope.yarn.original_positions,
            "beta_fast": rope.yarn.beta_fast,
            "beta_slow": rope.yarn.beta_slow,
            "attention_factor": rope.yarn.attention_factor,
        }
    return values
