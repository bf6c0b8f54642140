"""The values of a model's config.json that the reference model computes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReferenceConfig:
    """Values under the names of transformers' config; `layer_types` and `mlp_layer_types` have one item a layer."""

    layer_types: tuple[str, ...]
    mlp_layer_types: tuple[str, ...]
    rope_parameters: Mapping[str, Mapping[str, Any]]
    head_dim: int
    sliding_window: int
    index_topk: int
    o_groups: int
    hc_mult: int
    hc_sinkhorn_iters: int
    hc_eps: float
    num_experts_per_tok: int
    scoring_func: str
    routed_scaling_factor: float
    swiglu_limit: float
    rms_norm_eps: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "ReferenceConfig":
        """Pick the values out of a whole config, as transformers writes it to config.json."""
        picked = {name: config[name] for name in cls.__dataclass_fields__}
        picked |= {name: tuple(picked[name]) for name in ("layer_types", "mlp_layer_types")}
        return cls(**picked)
