"""State kinds that many model families share: full rows, windows, snapshots; and layer patterns."""

from collections.abc import Sequence

from shadowviz_engine.core.kinds import Shape, StateKind

STATE_CHUNK = 64
"""Tokens between snapshots of a recurrent state, where a model's chunk or a page asks for no more."""

BF16, FP32 = 2, 4


def layers_at(num_layers: int, period: int, offset: int) -> tuple[int, ...]:
    """Every `period`-th of `num_layers` layers, from layer `offset` on."""
    return tuple(range(offset, num_layers, period))


def layers_except(num_layers: int, chosen: Sequence[int]) -> tuple[int, ...]:
    """The layers that are not in `chosen`."""
    return tuple(layer for layer in range(num_layers) if layer not in chosen)


def kv_bytes(num_heads: int, head_dim: int, value_dim: int = 0) -> int:
    """Bytes of the key and value of one token in bf16; `value_dim` 0 is that of the key."""
    return num_heads * (head_dim + (value_dim or head_dim)) * BF16


def full_kind(layers: Sequence[int], row_bytes: int, label: str = "full_kv", readers: Sequence[int] = ()) -> StateKind:
    """One row a token, all of them needed."""
    return StateKind(label=label, shape=Shape.RANGE, row_bytes=row_bytes, owners=tuple(layers), readers=tuple(readers))


def window_kind(layers: Sequence[int], n_win: int, row_bytes: int, readers: Sequence[int] = ()) -> StateKind:
    """One row a token, the last `n_win - 1` of them needed: the query is in its own window."""
    return StateKind(
        label="swa_kv",
        shape=Shape.WINDOW,
        need=n_win - 1,
        row_bytes=row_bytes,
        owners=tuple(layers),
        readers=tuple(readers),
    )


def snapshot_kind(label: str, layers: Sequence[int], row_bytes: int, grid: int = STATE_CHUNK) -> StateKind:
    """A state that every token overwrites, kept at multiples of `grid` tokens."""
    return StateKind(label=label, shape=Shape.POINT, grid=grid, row_bytes=row_bytes, owners=tuple(layers))


def delta_kinds(
    layers: Sequence[int], key_heads: int, value_heads: int, key_dim: int, value_dim: int
) -> tuple[StateKind, ...]:
    """Gated DeltaNet: a matrix per value head in fp32, and three rows of a convolution over query, key and value."""
    channels = 2 * key_heads * key_dim + value_heads * value_dim
    return (
        snapshot_kind("delta_state", layers, value_heads * key_dim * value_dim * FP32),
        snapshot_kind("conv_state", layers, 3 * channels * BF16),
    )


def kda_kinds(layers: Sequence[int], heads: int, head_dim: int, grid: int = STATE_CHUNK) -> tuple[StateKind, ...]:
    """Kimi delta attention: a matrix per head in fp32, and three rows of a convolution over query, key and value."""
    return (
        snapshot_kind("delta_state", layers, heads * head_dim * head_dim * FP32, grid),
        snapshot_kind("conv_state", layers, 3 * 3 * heads * head_dim * BF16, grid),
    )


def mamba_kinds(layers: Sequence[int], width: int, state_dim: int, conv_width: int, grid: int) -> tuple[StateKind, ...]:
    """Mamba: `width` channels of `state_dim` numbers in fp32, and three rows of a convolution over `conv_width`."""
    return (
        snapshot_kind("ssm_state", layers, width * state_dim * FP32, grid),
        snapshot_kind("conv_state", layers, 3 * conv_width * BF16, grid),
    )
