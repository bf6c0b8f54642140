"""Families with a recurrent state beside attention: DeltaNet, linear attention, Mamba, short convolutions."""

from shadowviz_engine.core.families_window import CLASS_DEFAULT
from shadowviz_engine.core.family_kinds import (
    BF16,
    FP32,
    delta_kinds,
    full_kind,
    kda_kinds,
    kv_bytes,
    layers_at,
    layers_except,
    mamba_kinds,
    snapshot_kind,
)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import StateKind

LATENT_BYTES = (512 + 64) * BF16
"""Latent key-value row and its rotary part."""


def _hybrid(
    name: str, full: tuple[int, ...], row_bytes: int, states: tuple[StateKind, ...], note: str = CLASS_DEFAULT
) -> Geometry:
    return Geometry(name, 1, (full_kind(full, row_bytes), *states), note=note)


def _delta(name: str, num_layers: int, kv_heads: int) -> Geometry:
    full = layers_at(num_layers, 4, 3)
    return _hybrid(name, full, kv_bytes(kv_heads, 256), delta_kinds(layers_except(num_layers, full), 16, 32, 128, 128))


def _latent(name: str, num_layers: int, full: tuple[int, ...]) -> Geometry:
    kinds = (full_kind(full, LATENT_BYTES, "latent_kv"), *kda_kinds(layers_except(num_layers, full), 32, 128))
    return Geometry(name, 1, kinds, note=CLASS_DEFAULT)


_OLMO_FULL = layers_at(32, 4, 3)
_JAMBA_FULL = layers_at(32, 8, 4)
_NEMOTRON = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
_GRANITE_FULL = layers_at(40, 10, 5)
_LFM2_FULL = (2, 5, 8, 10, 12, 14)

RECURRENT_FAMILIES = (
    _delta("qwen3.5", 32, 4),
    _delta("qwen3.5-moe", 40, 2),
    _delta("qwen3-next", 48, 2),
    _hybrid("olmo-hybrid", _OLMO_FULL, kv_bytes(30, 128), delta_kinds(layers_except(32, _OLMO_FULL), 30, 30, 96, 192)),
    _latent("kimi-linear", 27, layers_at(27, 4, 4)),
    _latent("bailing-hybrid", 42, layers_at(42, 6, 5)),
    _hybrid(
        "minimax-text-01",
        layers_at(32, 2, 0),
        kv_bytes(8, 128),
        (snapshot_kind("linear_state", layers_at(32, 2, 1), 32 * 128 * 128 * FP32),),
    ),
    _hybrid(
        "nemotron-h",
        tuple(layer for layer, block in enumerate(_NEMOTRON) if block == "*"),
        kv_bytes(2, 128),
        mamba_kinds(
            tuple(layer for layer, block in enumerate(_NEMOTRON) if block == "M"),
            64 * 64,
            128,
            64 * 64 + 2 * 8 * 128,
            128,
        ),
        "layers and widths of a published 30B configuration: the class default has one layer of each sort",
    ),
    _hybrid("jamba", _JAMBA_FULL, kv_bytes(8, 128), mamba_kinds(layers_except(32, _JAMBA_FULL), 8192, 16, 8192, 64)),
    _hybrid(
        "granite-hybrid",
        _GRANITE_FULL,
        kv_bytes(32, 128),
        mamba_kinds(layers_except(40, _GRANITE_FULL), 128 * 64, 256, 128 * 64 + 2 * 256, 256),
        "widths are class defaults; that one layer in ten attends is assumed, by default none does",
    ),
    _hybrid(
        "falcon-h1",
        tuple(range(32)),
        kv_bytes(8, 128),
        mamba_kinds(range(32), 128 * 8, 256, 128 * 8 + 2 * 256, 256),
        f"{CLASS_DEFAULT}; every layer has attention and a state",
    ),
    _hybrid(
        "lfm2",
        _LFM2_FULL,
        kv_bytes(8, 64),
        (snapshot_kind("conv_state", layers_except(16, _LFM2_FULL), 2 * 1024 * BF16),),
        "layers and widths of the published 350M configuration: by default every layer attends",
    ),
)
