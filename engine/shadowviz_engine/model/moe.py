"""Mixture of experts: routing by score or by token id, and a shared expert."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from shadowviz_engine.model.numerics import Kernels


@dataclass(frozen=True)
class MoeParams:
    """Weights of one layer's experts, the shared one as the last."""

    router: Tensor
    """`[hidden, experts]`"""
    bias: Tensor | None
    """Added to the scores for the choice alone, `[experts]`; None in a hash layer."""
    expert_of_token: Tensor | None
    """`[vocabulary, experts a token]`; None but in a hash layer."""
    gate_up: Tensor
    """`[hidden, 2 * (experts + 1) * inner]`: all gates, then all ups."""
    down: Tensor
    """`[(experts + 1) * inner, hidden]`; the factor of the routed experts is in theirs."""
    shares: Tensor
    """`[1, experts + 1]`: 1 for the shared expert, 0 for the others."""
    floor: Tensor
    """Least sum of the weights of a row's experts, a tensor of no dimensions."""
    top_k: int
    scoring: str
    limit: float
    """Bound of the activations before the gate."""


def route(params: MoeParams, rows: Tensor, token_ids: Tensor, kernels: Kernels) -> tuple[Tensor, Tensor]:
    """Chosen experts and their weights, which sum to 1, both `[rows, top_k]`."""
    scores = _score(params.scoring, kernels.linear(rows, params.router))
    if params.expert_of_token is not None:
        chosen = params.expert_of_token.index_select(0, token_ids)
    else:
        assert params.bias is not None
        chosen = torch.topk(scores + params.bias, params.top_k, dim=-1, sorted=False).indices
    weights = scores.gather(1, chosen)
    return chosen, weights.div_(weights.sum(dim=-1, keepdim=True).add_(params.floor))


def rank_experts(params: MoeParams, rows: Tensor, kernels: Kernels) -> Tensor:
    """`[rows, experts]`: what a router chooses the largest of; a hash layer has none."""
    assert params.bias is not None, "a hash layer ranks nothing"
    return _score(params.scoring, kernels.linear(rows, params.router)) + params.bias


def _score(scoring: str, logits: Tensor) -> Tensor:
    if scoring == "sqrtsoftplus":
        return F.softplus(logits).sqrt()
    return logits.sigmoid()


def dense_experts(params: MoeParams, rows: Tensor, chosen: Tensor, weights: Tensor, kernels: Kernels) -> Tensor:
    """`[rows, hidden]`: every expert sees every row, and one that was not chosen counts 0.

    Right for few experts, and the only way in which a row's bits do not depend on where the other rows went.
    """
    num_rows = rows.shape[0]
    shares = params.shares.expand(num_rows, -1).scatter_add(1, chosen, weights.to(rows.dtype))
    inner = _activate(params, kernels.linear(rows, params.gate_up)).view(num_rows, shares.shape[1], -1)
    return kernels.linear(inner.mul_(shares.unsqueeze(-1)).flatten(1), params.down)


def routed_experts(params: MoeParams, rows: Tensor, chosen: Tensor, weights: Tensor, kernels: Kernels) -> Tensor:
    """The same, each expert for its own rows: right for many experts."""
    num_experts = params.router.shape[1]
    output = _one_expert(params, rows, num_experts, kernels)
    for expert in torch.unique(chosen).tolist():
        picked, column = torch.where(chosen == expert)
        share = weights[picked, column].to(rows.dtype).unsqueeze(-1)
        output.index_add_(0, picked, _one_expert(params, rows.index_select(0, picked), expert, kernels) * share)
    return output


def _one_expert(params: MoeParams, rows: Tensor, expert: int, kernels: Kernels) -> Tensor:
    count = params.router.shape[1] + 1
    gate, up = params.gate_up.view(rows.shape[1], 2, count, -1)[:, :, expert].unbind(1)
    inner = _activate(params, torch.cat([kernels.linear(rows, gate), kernels.linear(rows, up)], dim=1))
    return kernels.linear(inner, params.down.view(count, -1, rows.shape[1])[expert])


def _activate(params: MoeParams, gate_up: Tensor) -> Tensor:
    """`[rows, 2 * inner]` to `[rows, inner]`: SiLU of the bounded gate, times the bounded up."""
    gate, up = gate_up.chunk(2, dim=1)
    activated = F.silu(gate.clamp(max=params.limit), inplace=True)
    return activated.mul_(up.clamp(min=-params.limit, max=params.limit))
