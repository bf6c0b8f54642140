"""Names and shapes of the tensors of a DeepseekV4ForCausalLM, as a state dict has them and as files have them."""

import re
from typing import NamedTuple

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.config import ModelConfig


def expected_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor of the state dict, by name."""
    hidden = config.hidden_size
    streams = config.hc_mult * hidden
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, hidden),
        "model.norm.weight": (hidden,),
        "model.hc_head.hc_fn": (config.hc_mult, streams),
        "model.hc_head.hc_base": (config.hc_mult,),
        "model.hc_head.hc_scale": (1,),
    }
    if not config.tie_embeddings:
        shapes["lm_head.weight"] = (config.vocab_size, hidden)
    for layer in range(config.num_layers):
        named = _attention_shapes(config, config.compressor_of(layer)) | _block_shapes(config, layer)
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in named.items()}
    return shapes


def _attention_shapes(config: ModelConfig, compressor: Compressor | None) -> dict[str, tuple[int, ...]]:
    hidden, head_dim = config.hidden_size, config.head_dim
    width = config.num_heads * head_dim
    shapes: dict[str, tuple[int, ...]] = {
        "sinks": (config.num_heads,),
        "q_a_proj.weight": (config.q_lora_rank, hidden),
        "q_a_norm.weight": (config.q_lora_rank,),
        "q_b_proj.weight": (width, config.q_lora_rank),
        "kv_proj.weight": (head_dim, hidden),
        "kv_norm.weight": (head_dim,),
        "o_a_proj.weight": (config.o_groups * config.o_lora_rank, width // config.o_groups),
        "o_b_proj.weight": (hidden, config.o_groups * config.o_lora_rank),
    }
    if compressor is not None:
        shapes |= _compressor_shapes("compressor.", compressor, hidden, head_dim)
    if compressor is not None and compressor.indexed:
        shapes |= _compressor_shapes("compressor.indexer.", compressor, hidden, config.index_head_dim)
        shapes["compressor.indexer.q_b_proj.weight"] = (config.index_heads * config.index_head_dim, config.q_lora_rank)
        shapes["compressor.indexer.scorer.weights_proj.weight"] = (config.index_heads, hidden)
    return {f"self_attn.{name}": shape for name, shape in shapes.items()}


def _compressor_shapes(prefix: str, compressor: Compressor, hidden: int, dim: int) -> dict[str, tuple[int, ...]]:
    # An indexed compressor has two series a token, one for its own window and one for the next.
    width = dim * (2 if compressor.indexed else 1)
    return {
        f"{prefix}kv_proj.weight": (width, hidden),
        f"{prefix}gate_proj.weight": (width, hidden),
        f"{prefix}position_bias": (compressor.ratio, width),
        f"{prefix}kv_norm.weight": (dim,),
    }


def _block_shapes(config: ModelConfig, layer: int) -> dict[str, tuple[int, ...]]:
    hidden, inner, experts = config.hidden_size, config.moe_intermediate_size, config.num_experts
    mixes = (2 + config.hc_mult) * config.hc_mult
    shapes: dict[str, tuple[int, ...]] = {
        "input_layernorm.weight": (hidden,),
        "post_attention_layernorm.weight": (hidden,),
        "mlp.gate.weight": (experts, hidden),
        "mlp.experts.gate_up_proj": (experts, 2 * inner, hidden),
        "mlp.experts.down_proj": (experts, hidden, inner),
        "mlp.shared_experts.gate_proj.weight": (inner, hidden),
        "mlp.shared_experts.up_proj.weight": (inner, hidden),
        "mlp.shared_experts.down_proj.weight": (hidden, inner),
    }
    if config.hash_layers[layer]:
        shapes["mlp.gate.tid2eid"] = (config.vocab_size, config.num_experts_per_tok)
    else:
        shapes["mlp.gate.e_score_correction_bias"] = (experts,)
    for site in ("attn_hc", "ffn_hc"):
        shapes[f"{site}.fn"] = (mixes, config.hc_mult * hidden)
        shapes[f"{site}.base"] = (mixes,)
        shapes[f"{site}.scale"] = (3,)
    return shapes


class ExpertPart(NamedTuple):
    """Where one expert's matrix of a file goes in the stacked tensor of the state dict."""

    name: str
    expert: int
    part: str
    """`gate`, `up` or `down`."""


# Files hold the names of the original release, the state dict those of the class. Order matters: a later rule may
# read what an earlier one wrote.
_RENAMES = tuple(
    (re.compile(pattern), target)
    for pattern, target in (
        (r"^(layers|norm|hc_head|embed)\b", r"model.\1"),
        (r"^hc_head_", "model.hc_head_"),
        (r"^head\.weight$", "lm_head.weight"),
        (r"^model\.embed\.weight$", "model.embed_tokens.weight"),
        (r"^model\.hc_head_(fn|base|scale)$", r"model.hc_head.hc_\1"),
        (r"\.attn\.", ".self_attn."),
        (r"\.ffn\.", ".mlp."),
        (r"\.attn_norm\.", ".input_layernorm."),
        (r"\.ffn_norm\.", ".post_attention_layernorm."),
        (r"\.hc_(attn|ffn)_(fn|base|scale)$", r".\1_hc.\2"),
        (r"\.self_attn\.indexer\.compressor\.", ".self_attn.compressor.indexer."),
        (r"\.self_attn\.indexer\.weights_proj\.", ".self_attn.compressor.indexer.scorer.weights_proj."),
        (r"\.self_attn\.indexer\.wq_b\.", ".self_attn.compressor.indexer.q_b_proj."),
        (r"\.attn_sink$", ".sinks"),
        (r"(\.self_attn\.(?:compressor\.(?:indexer\.)?)?)norm\.", r"\1kv_norm."),
        (r"\.ape$", ".position_bias"),
        (r"\.wq_a\.", ".q_a_proj."),
        (r"\.wq_b\.", ".q_b_proj."),
        (r"\.q_norm\.", ".q_a_norm."),
        (r"\.wkv\.", ".kv_proj."),
        (r"\.wgate\.", ".gate_proj."),
        (r"\.wo_([ab])\.", r".o_\1_proj."),
        (r"\.gate\.bias$", ".gate.e_score_correction_bias"),
        (r"\.shared_experts\.w1\.", ".shared_experts.gate_proj."),
        (r"\.shared_experts\.w2\.", ".shared_experts.down_proj."),
        (r"\.shared_experts\.w3\.", ".shared_experts.up_proj."),
    )
)
_EXPERT = re.compile(r"^(.*\.experts)\.(\d+)\.w([123])\.weight$")
_EXPERT_PARTS = {"1": ("gate_up_proj", "gate"), "2": ("down_proj", "down"), "3": ("gate_up_proj", "up")}
_PREDICTION_LAYER = re.compile(r"(^|\.)mtp\.")


def state_name(file_name: str) -> str | ExpertPart | None:
    """Name in the state dict of the tensor that a file calls `file_name`.

    An expert's own matrix gives the stacked tensor it is a part of; the layer for multi-token prediction, which the
    class does not have, gives None.
    """
    if _PREDICTION_LAYER.search(file_name):
        return None
    name = file_name
    for pattern, target in _RENAMES:
        name = pattern.sub(target, name)
    expert = _EXPERT.match(name)
    if expert is None:
        return name
    stacked, part = _EXPERT_PARTS[expert[3]]
    return ExpertPart(f"{expert[1]}.{stacked}", int(expert[2]), part)
