"""Small models for the embedded engine: what the released architecture has, at sizes a CPU runs at once."""

from dataclasses import replace

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, LayerSchedule
from shadowviz_engine.model.config import ModelConfig, Rope, YarnScaling

_SCHEDULE = LayerSchedule((SWA_ONLY, SWA_ONLY, "csa", "hca", "csa", "hca"))

_TINY = ModelConfig(
    vocab_size=129_280,
    hidden_size=64,
    moe_intermediate_size=64,
    num_heads=4,
    head_dim=32,
    q_lora_rank=32,
    o_groups=2,
    o_lora_rank=32,
    num_experts=4,
    num_experts_per_tok=2,
    routed_scaling_factor=1.5,
    scoring_func="sqrtsoftplus",
    swiglu_limit=10.0,
    hash_layers=(True, False, False, False, False, False),
    compressors=(Compressor("csa", 4, overlap=True, indexed=True), Compressor("hca", 128)),
    schedule=_SCHEDULE,
    n_win=128,
    index_topk=16,
    # With fewer heads a score is often exactly 0 (no head's product is positive), and zeros tie.
    index_heads=16,
    index_head_dim=32,
    hc_mult=4,
    hc_iterations=20,
    hc_eps=1e-6,
    norm_eps=1e-6,
    rope_main=Rope(10_000.0, 16),
    rope_compress=Rope(160_000.0, 16, YarnScaling(16.0, 4096)),
    max_positions=65_536,
)

TRAINED = ("recall", "recall-hca")
"""Presets whose weights are trained, and come with the package."""

MODEL_PRESETS = {
    "tiny": _TINY,
    "tiny-512": replace(_TINY, vocab_size=512),
    "tiny-article": replace(
        _TINY,
        vocab_size=512,
        compressors=(Compressor("csa", 32, indexed=True), Compressor("hca", 128)),
        n_win=256,
    ),
}


def model_preset(name: str) -> ModelConfig:
    """The configuration called `name`; `random_weights` gives it seeded weights.

    Raises:
        ModelError: there is none.
    """
    if name not in MODEL_PRESETS:
        raise ModelError(f"no model preset is called {name!r}: expected one of {', '.join(MODEL_PRESETS)}")
    return MODEL_PRESETS[name]
