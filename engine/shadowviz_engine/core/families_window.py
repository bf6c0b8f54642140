"""Families of full and sliding-window attention; every row in bf16."""

from shadowviz_engine.core.family_kinds import full_kind, kv_bytes, layers_at, layers_except, window_kind
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind

CLASS_DEFAULT = "layers and widths are defaults of the transformers 5.24 configuration class"


def _mixed(
    name: str, num_layers: int, full: tuple[int, ...], n_win: int, row_bytes: int, full_bytes: int = 0
) -> Geometry:
    kinds = (
        full_kind(full, full_bytes or row_bytes),
        window_kind(layers_except(num_layers, full), n_win, row_bytes),
    )
    return Geometry(name, 1, kinds, n_win, note=CLASS_DEFAULT)


_GEMMA3N_FULL = layers_at(35, 5, 4)
_GEMMA3N_OWNERS = 20
_LLAMA4_FULL = layers_at(48, 4, 3)

WINDOW_FAMILIES = (
    _mixed("gemma2", 26, layers_at(26, 2, 1), 4096, kv_bytes(4, 256)),
    _mixed("gemma3", 26, layers_at(26, 6, 5), 4096, kv_bytes(4, 256)),
    _mixed("gemma4", 30, layers_at(30, 6, 5), 512, kv_bytes(4, 256), kv_bytes(4, 512)),
    Geometry(
        "gemma3n",
        1,
        (
            full_kind(
                [layer for layer in _GEMMA3N_FULL if layer < _GEMMA3N_OWNERS],
                kv_bytes(2, 256),
                readers=_GEMMA3N_FULL,
            ),
            window_kind(
                [layer for layer in layers_except(35, _GEMMA3N_FULL) if layer < _GEMMA3N_OWNERS],
                512,
                kv_bytes(2, 256),
                readers=layers_except(35, _GEMMA3N_FULL),
            ),
        ),
        512,
        note=f"{CLASS_DEFAULT}; the last 15 layers read rows of earlier ones",
    ),
    _mixed("gpt-oss", 36, layers_at(36, 2, 1), 128, kv_bytes(8, 64)),
    _mixed("olmo3", 32, layers_at(32, 4, 3), 4096, kv_bytes(32, 128)),
    _mixed("cohere2", 40, layers_at(40, 4, 3), 4096, kv_bytes(64, 128)),
    _mixed("exaone4", 32, layers_at(32, 4, 3), 4096, kv_bytes(32, 128)),
    _mixed("mimo-v2-flash", 48, (0, *layers_at(48, 6, 5)), 129, kv_bytes(4, 192, 128)),
    Geometry(
        "llama4",
        1,
        (
            full_kind(_LLAMA4_FULL, kv_bytes(8, 128)),
            StateKind(
                label="chunk_kv",
                shape=Shape.WINDOW,
                chunk=8192,
                row_bytes=kv_bytes(8, 128),
                owners=layers_except(48, _LLAMA4_FULL),
            ),
        ),
        8192,
        note=CLASS_DEFAULT,
    ),
    Geometry("mistral-swa", 1, (window_kind(range(32), 4096, kv_bytes(8, 128)),), 4096, note=CLASS_DEFAULT),
)
