"""Configuration of a DeepSeek-V4 model: sizes, layer schedule, rotary embeddings."""

from dataclasses import dataclass
from math import isfinite

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, Geometry, LayerSchedule, hybrid_geometry

SCORING_FUNCTIONS = ("sqrtsoftplus", "sigmoid")


@dataclass(frozen=True)
class YarnScaling:
    """Stretch of the rotary frequencies beyond the context length they were trained on (YaRN, arXiv 2309.00071)."""

    factor: float
    original_positions: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float = 1.0


@dataclass(frozen=True)
class Rope:
    """Rotary embedding of the trailing `rotary_dim` channels, neighbouring channels paired."""

    theta: float
    rotary_dim: int
    yarn: YarnScaling | None = None


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What the shape and the arithmetic of a model depend on.

    Raises:
        ModelError: sizes that do not fit together.
    """

    vocab_size: int
    hidden_size: int
    moe_intermediate_size: int
    num_heads: int
    head_dim: int
    q_lora_rank: int
    o_groups: int
    o_lora_rank: int
    num_experts: int
    num_experts_per_tok: int
    routed_scaling_factor: float
    scoring_func: str
    swiglu_limit: float
    hash_layers: tuple[bool, ...]
    """Whether a layer's experts are chosen by token id."""
    compressors: tuple[Compressor, ...]
    schedule: LayerSchedule
    n_win: int
    index_topk: int
    index_heads: int
    index_head_dim: int
    hc_mult: int
    hc_iterations: int
    hc_eps: float
    norm_eps: float
    rope_main: Rope
    """Of the layers without a compressor."""
    rope_compress: Rope
    """Of the layers with one, and of their entries."""
    max_positions: int
    tie_embeddings: bool = False
    bos_token_id: int | None = 0
    eos_token_ids: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        _check_ranges(self)
        _check_sizes(self)

    @property
    def num_layers(self) -> int:
        """Layers of the model, without the one for multi-token prediction."""
        return len(self.schedule.compressors)

    @property
    def rotary_dim(self) -> int:
        """Rotated channels of a head; the indexer rotates as many."""
        return self.rope_main.rotary_dim

    def compressor_of(self, layer: int) -> Compressor | None:
        """The compressor of `layer`, None where it has the sliding window alone."""
        name = self.schedule.compressors[layer]
        return next((compressor for compressor in self.compressors if compressor.name == name), None)

    @property
    def used_compressors(self) -> tuple[Compressor, ...]:
        """The compressors that at least one layer has."""
        return tuple(item for item in self.compressors if self.schedule.layers_of(item.name))

    def geometry(self, name: str, page_size: int) -> Geometry:
        """What the arithmetic of a cache for this model depends on.

        Raises:
            GeometryError: `page_size` splits a compression window.
        """
        return hybrid_geometry(name, page_size, self.n_win, self.used_compressors, self.schedule, self.index_topk)


_COUNTS = (
    "vocab_size",
    "hidden_size",
    "moe_intermediate_size",
    "num_heads",
    "head_dim",
    "q_lora_rank",
    "o_groups",
    "o_lora_rank",
    "num_experts",
    "num_experts_per_tok",
    "n_win",
    "hc_mult",
    "hc_iterations",
    "max_positions",
)
_FACTORS = ("routed_scaling_factor", "swiglu_limit", "hc_eps", "norm_eps")
_MOST = {"hc_iterations": 1000}
_WRITTEN = {
    "num_heads": "num_attention_heads",
    "num_experts": "n_routed_experts",
    "n_win": "sliding_window",
    "hc_iterations": "hc_sinkhorn_iters",
    "max_positions": "max_position_embeddings",
    "norm_eps": "rms_norm_eps",
}
"""Names of the fields in config.json where they differ."""
MAX_COUNT = 2**31 - 1


def _check_ranges(config: ModelConfig) -> None:
    """Raise a ModelError for a size that is no whole number from 1 on, or a factor that is no positive number."""
    for name in _COUNTS:
        value = getattr(config, name)
        most = _MOST.get(name, MAX_COUNT)
        if type(value) is not int or not 1 <= value <= most:
            raise ModelError(
                f"{_WRITTEN.get(name, name)} is {str(value)[:40]}: expected a whole number from 1 to {most}"
            )
    for name in _FACTORS:
        value = getattr(config, name)
        if not (isfinite(value) and value > 0):
            raise ModelError(f"{_WRITTEN.get(name, name)} is {value}: expected a finite number above 0")


def _check_sizes(config: ModelConfig) -> None:
    """Raise a ModelError for sizes that do not fit together."""
    rotary = config.rotary_dim
    if config.rope_compress.rotary_dim != rotary:
        raise ModelError(f"the two rotary embeddings rotate {rotary} and {config.rope_compress.rotary_dim} channels")
    if rotary % 2 or not 0 < rotary <= config.head_dim:
        raise ModelError(f"rotary dimension {rotary} must be even and within head_dim {config.head_dim}")
    indexed = any(compressor.indexed for compressor in config.used_compressors)
    if indexed and config.index_head_dim < rotary:
        raise ModelError(f"index_head_dim {config.index_head_dim} is below the {rotary} rotary channels")
    if indexed and config.index_topk < 1:
        raise ModelError(f"index_topk {config.index_topk} must be at least 1")
    if config.num_heads * config.head_dim % config.o_groups:
        raise ModelError(f"o_groups {config.o_groups} does not divide {config.num_heads} heads x {config.head_dim}")
    if config.num_experts_per_tok > config.num_experts:
        raise ModelError(f"{config.num_experts_per_tok} experts a token, but there are {config.num_experts}")
    if config.scoring_func not in SCORING_FUNCTIONS:
        raise ModelError(f"scoring_func {config.scoring_func!r}: expected one of {', '.join(SCORING_FUNCTIONS)}")
    if len(config.hash_layers) != config.num_layers:
        raise ModelError(f"{config.num_layers} layers, but mlp_layer_types names {len(config.hash_layers)}")
    known = {SWA_ONLY, *(compressor.name for compressor in config.compressors)}
    unknown = sorted(set(config.schedule.compressors) - known)
    if unknown:
        raise ModelError(f"the layer schedule names compressors that are not configured: {', '.join(unknown)}")
