"""Families that choose the rows a query attends to: indexers over full, pooled or shared rows."""

from shadowviz_engine.core.families_recurrent import LATENT_BYTES
from shadowviz_engine.core.families_window import CLASS_DEFAULT
from shadowviz_engine.core.family_kinds import (
    BF16,
    delta_kinds,
    full_kind,
    kda_kinds,
    kv_bytes,
    layers_at,
    layers_except,
    snapshot_kind,
)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Scope, Shape, StateKind

INDEX_BYTES = 128 * BF16

_PAIR_OWNERS, _LATENT_OWNERS = (2, 8, 14), (20,)
_PUBLISHED = "layers as in published V4.1-Flash configurations, the draft layers left out"


def _latent_indexed(name: str, num_layers: int) -> Geometry:
    kinds = (
        full_kind(range(num_layers), LATENT_BYTES, "latent_kv"),
        full_kind(range(num_layers), INDEX_BYTES, "index_k"),
    )
    return Geometry(name, 64, kinds, index_topk=2048, note=CLASS_DEFAULT)


def _v41(name: str, window: StateKind, note: str) -> Geometry:
    # Four layers own what forty read. Selection is a no-op up to 512 rows and the candidate filter up to 16,384 tokens.
    kinds = (
        StateKind(label="pair_kv", shape=Shape.RANGE, unit=2, owners=_PAIR_OWNERS, readers=tuple(range(2, 20))),
        StateKind(label="pair_index", shape=Shape.RANGE, unit=2, owners=_PAIR_OWNERS),
        full_kind(_LATENT_OWNERS, 0, "latent_kv", range(20, 40)),
        full_kind(_LATENT_OWNERS, 0, "latent_index", layers_at(40, 4, 20)),
        window,
        StateKind(
            label="pair_tail",
            shape=Shape.OPEN,
            ratio=2,
            grid=2,
            owners=_PAIR_OWNERS,
            scope=Scope.REQUEST,
            cacheable=False,
        ),
        StateKind(label="engram_ids", shape=Shape.KEY, need=3, owners=(1, 14), gates=False),
    )
    return Geometry(name, 256, kinds, 128, 512, note=f"{_PUBLISHED}; {note}")


_V41_WINDOW = StateKind(
    label="swa_kv", shape=Shape.WINDOW, need=127, page_need=128, recompute=128, owners=tuple(range(40))
)
_V41_REPLAYED = StateKind(
    label="swa_kv",
    shape=Shape.WINDOW,
    need=127,
    owners=tuple(range(40)),
    scope=Scope.REQUEST,
    gates=False,
    cacheable=False,
    replay=128,
    exact=False,
)
_GLM5_FULL = layers_at(45, 4, 3)
_GLM5_PAGE = 64 * 16
_QWEN4_FULL = layers_at(40, 4, 3)

SPARSE_FAMILIES = (
    _v41("deepseek-v4.1", _V41_WINDOW, "the window gates a hit, and a prompt's last 128 tokens are computed"),
    _v41("deepseek-v4.1-replay", _V41_REPLAYED, "the window is replayed over 128 tokens, which is not exact"),
    _latent_indexed("deepseek-v3.2", 61),
    _latent_indexed("glm-dsa", 78),
    Geometry("minimax-m2", 1, (full_kind(range(62), kv_bytes(8, 128)),), note=CLASS_DEFAULT),
    Geometry(
        "minimax-m3",
        128,
        (full_kind(range(60), kv_bytes(4, 128)), full_kind(range(60), INDEX_BYTES, "index_k")),
        index_topk=(16 + 1) * 128,
        note=f"{CLASS_DEFAULT}; a query attends to 16 chosen blocks of 128 tokens and the one before it",
    ),
    Geometry(
        "glm5-next",
        _GLM5_PAGE,
        (
            full_kind(_GLM5_FULL, 512 * BF16, "latent_kv"),
            StateKind(label="index_k", shape=Shape.RANGE, unit=16, row_bytes=INDEX_BYTES, owners=_GLM5_FULL),
            *kda_kinds(layers_except(45, _GLM5_FULL), 64, 128, _GLM5_PAGE),
            StateKind(label="index_tail", shape=Shape.OPEN, ratio=16, owners=_GLM5_FULL, scope=Scope.REQUEST),
        ),
        index_topk=2048 // 16,
        note=CLASS_DEFAULT,
    ),
    Geometry(
        "qwen4-exp",
        64,
        (
            full_kind(_QWEN4_FULL, kv_bytes(2, 256)),
            StateKind(label="index_k", shape=Shape.RANGE, unit=4, row_bytes=INDEX_BYTES, owners=_QWEN4_FULL),
            *delta_kinds(layers_except(40, _QWEN4_FULL), 16, 32, 128, 128),
            snapshot_kind("ple_state", (), 3 * 3 * 4 * 2048 * BF16),
            StateKind(label="index_tail", shape=Shape.OPEN, ratio=4, owners=_QWEN4_FULL, scope=Scope.REQUEST),
            StateKind(label="ngram_ids", shape=Shape.KEY, need=2, gates=False),
        ),
        index_topk=2048 // 4,
        note=f"{CLASS_DEFAULT}; the index ratio is a published one, and by default no layer has per-layer embeddings",
    ),
)
