"""Weights as the forward pass uses them: projections of the same input are one matrix."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.buffers import branch_labels
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.hyper import HeadParams, HyperParams
from shadowviz_engine.model.layers import Norm, norm_of, unit_norm_of
from shadowviz_engine.model.moe import MoeParams


@dataclass(frozen=True)
class PoolParams:
    """Weights of one compressor branch: entries, or index keys."""

    entry_label: str
    tail_label: str
    bias: Tensor
    """`[window, dim]`: added to the gates of a window's tokens, the overlapping ones first."""
    norm: Norm


@dataclass(frozen=True)
class AttentionParams:
    """Weights of one attention block."""

    project: Tensor
    """From the block's input: query latent, key, then for each branch its tail row, then the head weights of the
    indexer; `[hidden, sum(sizes)]`."""
    sizes: tuple[int, ...]
    latent_norm: Norm
    query: Tensor
    """From the query latent: heads, then index heads."""
    query_norm: Norm
    """To length 1: the square root of head_dim that is missing is the scale of the scores."""
    key_norm: Norm
    sinks: Tensor
    """`[heads]`: a logit that takes part in the softmax and carries no value."""
    group_out: tuple[Tensor, ...]
    """One `[heads * head_dim / groups, o_lora_rank]` for each group."""
    out: Tensor
    compressor: Compressor | None
    pools: tuple[PoolParams, ...]
    """The compressor's entries, then its index keys."""


@dataclass(frozen=True)
class LayerParams:
    """Weights of one layer."""

    attention_site: HyperParams
    attention_norm: Norm
    attention: AttentionParams
    moe_site: HyperParams
    moe_norm: Norm
    moe: MoeParams


@dataclass(frozen=True)
class ModelParams:
    """All weights but the product with the vocabulary."""

    embedding: Tensor
    layers: tuple[LayerParams, ...]
    head_site: HeadParams
    norm: Norm


class _Source:
    """Tensors of a state dict below a prefix, moved to the device; matrices in the type of the model."""

    def __init__(self, tensors: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype, prefix: str) -> None:
        self._tensors = tensors
        self.device = device
        self._dtype = dtype
        self._prefix = prefix

    def below(self, prefix: str) -> "_Source":
        return _Source(self._tensors, self.device, self._dtype, f"{self._prefix}{prefix}")

    def matrix(self, *names: str) -> Tensor:
        """`[in, out]`: the named matrices `[out, in]` side by side, in the type of the model."""
        parts = [self._tensors[f"{self._prefix}{name}"] for name in names]
        return torch.cat(parts).to(self.device, self._dtype).t().contiguous()

    def stored(self, name: str) -> Tensor:
        """The named tensor as it is stored, in the type of the model."""
        return self._tensors[f"{self._prefix}{name}"].to(self.device, self._dtype)

    def single(self, name: str) -> Tensor:
        """A tensor that stays in float32: norms, biases, sinks, hyper-connections."""
        return self._tensors[f"{self._prefix}{name}"].to(self.device, torch.float32)

    def table(self, name: str) -> Tensor:
        return self._tensors[f"{self._prefix}{name}"].to(self.device, torch.int64)


def model_params(
    config: ModelConfig, tensors: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
) -> ModelParams:
    """Weights from a complete state dict of DeepseekV4ForCausalLM."""
    source = _Source(tensors, device, dtype, "")
    layers = tuple(_layer(config, source.below(f"model.layers.{layer}."), layer) for layer in range(config.num_layers))
    width = config.hc_mult * config.hidden_size
    head_site = HeadParams(
        torch.tensor(width * config.norm_eps, device=device),
        (source.single("model.hc_head.hc_fn") * source.single("model.hc_head.hc_scale")).t() * math.sqrt(width),
        source.single("model.hc_head.hc_base"),
        config.hc_eps,
    )
    embedding = source.stored("model.embed_tokens.weight")
    return ModelParams(embedding, layers, head_site, norm_of(source.single("model.norm.weight"), config.norm_eps))


def vocabulary_params(
    config: ModelConfig, tensors: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
) -> Tensor:
    """`[hidden, vocabulary]`, from the same state dict."""
    source = _Source(tensors, device, dtype, "")
    return source.matrix("model.embed_tokens.weight" if config.tie_embeddings else "lm_head.weight")


def _layer(config: ModelConfig, source: _Source, layer: int) -> LayerParams:
    return LayerParams(
        _site(config, source.below("attn_hc.")),
        norm_of(source.single("input_layernorm.weight"), config.norm_eps),
        _attention(config, source.below("self_attn."), config.compressor_of(layer)),
        _site(config, source.below("ffn_hc.")),
        norm_of(source.single("post_attention_layernorm.weight"), config.norm_eps),
        _moe(config, source.below("mlp."), hashed=config.hash_layers[layer]),
    )


def _site(config: ModelConfig, source: _Source) -> HyperParams:
    count, width = config.hc_mult, config.hc_mult * config.hidden_size
    base, scale = source.single("base"), source.single("scale")
    per_output = scale.repeat_interleave(torch.tensor([count, count, count * count], device=scale.device))
    return HyperParams(
        floor=torch.tensor(width * config.norm_eps, device=scale.device),
        project=(source.single("fn").t() * (per_output * math.sqrt(width))).contiguous(),
        base=base,
        factor=torch.tensor([1.0] * count + [2.0] * count, device=scale.device),
        least=torch.tensor([config.hc_eps] * count + [0.0] * count, device=scale.device),
        iterations=config.hc_iterations,
        eps=config.hc_eps,
    )


def _attention(config: ModelConfig, source: _Source, compressor: Compressor | None) -> AttentionParams:
    inputs, queries = ["q_a_proj.weight", "kv_proj.weight"], ["q_b_proj.weight"]
    sizes = [config.q_lora_rank, config.head_dim]
    pools = []
    if compressor is not None:
        prefixes = ("compressor.", "compressor.indexer.")
        for prefix, labels in zip(prefixes, branch_labels(config, compressor), strict=False):
            inputs += [f"{prefix}kv_proj.weight", f"{prefix}gate_proj.weight"]
            bias = source.single(f"{prefix}position_bias")
            sizes.append(2 * bias.shape[1])
            norm = norm_of(source.single(f"{prefix}kv_norm.weight"), config.norm_eps)
            pools.append(PoolParams(labels[0], labels[1], _window_bias(compressor, bias), norm))
        if compressor.indexed:
            inputs.append("compressor.indexer.scorer.weights_proj.weight")
            queries.append("compressor.indexer.q_b_proj.weight")
            sizes.append(config.index_heads)
    return AttentionParams(
        project=source.matrix(*inputs),
        sizes=tuple(sizes),
        latent_norm=norm_of(source.single("q_a_norm.weight"), config.norm_eps),
        query=source.matrix(*queries),
        query_norm=unit_norm_of(config.head_dim, config.norm_eps, source.device),
        key_norm=norm_of(source.single("kv_norm.weight"), config.norm_eps),
        sinks=source.single("sinks"),
        group_out=tuple(part.t().contiguous() for part in source.stored("o_a_proj.weight").chunk(config.o_groups)),
        out=source.matrix("o_b_proj.weight"),
        compressor=compressor,
        pools=tuple(pools),
    )


def _window_bias(compressor: Compressor, bias: Tensor) -> Tensor:
    """`[window, dim]` from `[ratio, series * dim]`: the next window's series stands first in the weights."""
    if not compressor.indexed:
        return bias
    for_next, for_own = bias.chunk(2, dim=1)
    return torch.cat([for_next, for_own]) if compressor.overlap else for_own.contiguous()


def _moe(config: ModelConfig, source: _Source, *, hashed: bool) -> MoeParams:
    inner = config.moe_intermediate_size
    stacked = source.stored("experts.gate_up_proj")
    shared_gate = source.stored("shared_experts.gate_proj.weight")
    shared_up = source.stored("shared_experts.up_proj.weight")
    downs = source.stored("experts.down_proj").transpose(1, 2) * config.routed_scaling_factor
    shares = torch.zeros(1, config.num_experts + 1, device=source.device)
    shares[0, -1] = 1
    return MoeParams(
        router=source.matrix("gate.weight"),
        bias=None if hashed else source.single("gate.e_score_correction_bias"),
        expert_of_token=source.table("gate.tid2eid") if hashed else None,
        gate_up=torch.cat([stacked[:, :inner].flatten(0, 1), shared_gate, stacked[:, inner:].flatten(0, 1), shared_up])
        .t()
        .contiguous(),
        down=torch.cat([downs.flatten(0, 1), source.matrix("shared_experts.down_proj.weight")]).contiguous(),
        shares=shares.to(shared_gate.dtype),
        floor=torch.tensor(1e-20, device=source.device),
        top_k=config.num_experts_per_tok,
        scoring=config.scoring_func,
        limit=config.swiglu_limit,
    )
