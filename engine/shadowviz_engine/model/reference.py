"""The DeepSeek-V4 architecture over whole sequences: no cache, differentiable, written to be read."""

from typing import NamedTuple

from torch import Tensor

from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.reference_attention import Attended, attend
from shadowviz_engine.model.reference_blocks import collapse_head, connect, give_back, mixture
from shadowviz_engine.model.reference_ops import State, linear, rms_norm, under


class Trace(NamedTuple):
    """Logits `[batch, tokens, vocab]` and what each layer attended to."""

    logits: Tensor
    attended: tuple[Attended, ...]


def forward(config: ModelConfig, state: State, tokens: Tensor) -> Tensor:
    """Logits `[batch, tokens, vocab]` for ids `tokens [batch, tokens]` at positions from 0.

    Args:
        config: of the model. With an `index_topk` of at least `tokens // ratio`, attention is dense over the closed
            entries, which is how the model is trained before its indexer.
        state: the state dict of transformers' `DeepseekV4ForCausalLM`. Its number format is the one computed in.
        tokens: sequences of equal length, without padding.
    """
    return trace(config, state, tokens).logits


def trace(config: ModelConfig, state: State, tokens: Tensor) -> Trace:
    """As `forward`, with the index scores and the attention on compressed entries of every layer."""
    hidden = state["model.embed_tokens.weight"][tokens]
    streams = hidden.unsqueeze(2).expand(-1, -1, config.hc_mult, -1)
    attended = []
    for layer in range(config.num_layers):
        part = under(state, f"model.layers.{layer}.")

        connection = connect(config, under(part, "attn_hc."), streams)
        normed = rms_norm(part, "input_layernorm", connection.collapsed, config.norm_eps)
        attended.append(attend(config, under(part, "self_attn."), layer, normed))
        streams = give_back(connection, attended[-1].output, streams)

        connection = connect(config, under(part, "ffn_hc."), streams)
        normed = rms_norm(part, "post_attention_layernorm", connection.collapsed, config.norm_eps)
        streams = give_back(connection, mixture(config, under(part, "mlp."), layer, normed, tokens), streams)

    hidden = collapse_head(config, under(state, "model.hc_head."), streams)
    hidden = rms_norm(state, "model.norm", hidden, config.norm_eps)
    head = "model.embed_tokens" if config.tie_embeddings else "lm_head"
    return Trace(linear(state, head, hidden), tuple(attended))
