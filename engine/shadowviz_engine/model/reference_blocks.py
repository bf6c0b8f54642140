"""Hyper-connections and mixture of experts of the reference model."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import silu, softplus

from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.reference_ops import State, linear, rms, split_channels

_SCORES: dict[str, Callable[[Tensor], Tensor]] = {
    "sqrtsoftplus": lambda logits: softplus(logits).sqrt(),
    "softmax": lambda logits: logits.softmax(-1),
    "sigmoid": torch.sigmoid,
}


class Connection(NamedTuple):
    """How one block takes its input from the residual streams and gives its output back."""

    collapsed: Tensor
    """`[batch, tokens, hidden]`, the block's input."""
    post: Tensor
    """`[batch, tokens, streams]`, weight of the block's output in each stream."""
    mixing: Tensor
    """`[batch, tokens, streams, streams]`, doubly stochastic: weight of each old stream (row) in each new one."""


def connect(config: ModelConfig, state: State, streams: Tensor) -> Connection:
    """Weights of a hyper-connection (mHC) for `streams [batch, tokens, streams, hidden]`.

    Args:
        config: of the model.
        state: `fn`, `base` and `scale` of the connection.
        streams: the residual streams before the block.

    Source: DeepSeek-V4 technical report, section 2.2; Sinkhorn and Knopp, 1967.
    """
    num, eps = config.hc_mult, config.hc_eps
    sizes = [num, num, num * num]
    raw = torch.split(rms(streams.flatten(2), config.norm_eps) @ state["fn"].T, sizes, dim=-1)
    bases = torch.split(state["base"], sizes)
    pre, post, mixing = (part * scale + base for part, scale, base in zip(raw, state["scale"], bases, strict=True))
    mixing = split_channels(mixing, num).softmax(-1) + eps
    mixing = mixing / (mixing.sum(-2, keepdim=True) + eps)
    for _ in range(config.hc_iterations - 1):
        mixing = mixing / (mixing.sum(-1, keepdim=True) + eps)
        mixing = mixing / (mixing.sum(-2, keepdim=True) + eps)
    collapsed = torch.einsum("bts,btsh->bth", pre.sigmoid() + eps, streams)
    return Connection(collapsed, 2 * post.sigmoid(), mixing)


def give_back(connection: Connection, output: Tensor, streams: Tensor) -> Tensor:
    """The streams after a block: the old ones mixed, plus its `output [batch, tokens, hidden]`."""
    return connection.post.unsqueeze(-1) * output.unsqueeze(-2) + connection.mixing.transpose(-1, -2) @ streams


def collapse_head(config: ModelConfig, state: State, streams: Tensor) -> Tensor:
    """`[batch, tokens, hidden]`: the streams after the last block, weighted into one."""
    raw = rms(streams.flatten(2), config.norm_eps) @ state["hc_fn"].T
    pre = (raw * state["hc_scale"] + state["hc_base"]).sigmoid() + config.hc_eps
    return torch.einsum("bts,btsh->bth", pre, streams)


def mixture(config: ModelConfig, state: State, layer: int, hidden: Tensor, tokens: Tensor) -> Tensor:
    """Routed experts plus the shared one, `[batch, tokens, hidden]`.

    Every expert sees every token and is weighted with 0 where it was not chosen.

    Args:
        config: of the model.
        state: of the layer's `mlp`.
        layer: its number; in a hash layer the token id chooses the experts, and the gate only weights them.
        hidden: `[batch, tokens, hidden]`, normed.
        tokens: `[batch, tokens]`, ids.
    """
    scores = _SCORES[config.scoring_func](linear(state, "gate", hidden))
    if config.hash_layers[layer]:
        chosen = state["gate.tid2eid"][tokens]
    else:
        ranked = (scores + state["gate.e_score_correction_bias"]).sort(dim=-1, descending=True, stable=True).indices
        chosen = ranked[..., : config.num_experts_per_tok]
    weights = scores.gather(-1, chosen)
    weights = weights / (weights.sum(-1, keepdim=True) + 1e-20) * config.routed_scaling_factor
    # scatter_add, for a hash table may name an expert twice.
    share = torch.zeros_like(scores).scatter_add(-1, chosen, weights)

    gate, up = (linear(state, f"shared_experts.{name}", hidden) for name in ("gate_proj", "up_proj"))
    output = linear(state, "shared_experts.down_proj", _swiglu(gate, up, config.swiglu_limit))
    for expert, (inwards, outwards) in enumerate(
        zip(state["experts.gate_up_proj"], state["experts.down_proj"], strict=True)
    ):
        gate, up = (hidden @ inwards.T).chunk(2, dim=-1)
        output = output + share[..., expert, None] * (_swiglu(gate, up, config.swiglu_limit) @ outwards.T)
    return output


def _swiglu(gate: Tensor, up: Tensor, limit: float) -> Tensor:
    return silu(gate.clamp(max=limit)) * up.clamp(-limit, limit)
