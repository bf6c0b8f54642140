"""Bytes of a row by state kind and record layout: how a pool stores what a geometry counts."""

import msgspec

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.geometry import Geometry


class RowSize(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes of one row of a kind in one layer."""

    kind: str
    row_bytes: int
    overlap_bytes: int = 0
    """Bytes of a row kept for the overlap alone (OPEN): half of its numbers suffice."""
    folded: bool = False
    """The open window is one row of running sums, whatever its length."""


class RowFormat(msgspec.Struct, frozen=True):
    """One record layout for every kind of a geometry."""

    name: str
    sizes: tuple[RowSize, ...]

    def size(self, kind: str) -> RowSize:
        """The row size of `kind`.

        Raises:
            GeometryError: the layout has none.
        """
        for size in self.sizes:
            if size.kind == kind:
                return size
        known = ", ".join(size.kind for size in self.sizes)
        raise GeometryError(f"row format {self.name} has no size for state kind {kind!r}: expected one of {known}")


HEAD_DIM, INDEX_DIM, FP32 = 512, 128, 4

# A raw row holds a key-value and a gate, for the window and for the overlap of the next one; HCA has no overlap.
_TAILS = (
    RowSize("csa_tail", 4 * HEAD_DIM * FP32, 2 * HEAD_DIM * FP32),
    RowSize("index_tail", 4 * INDEX_DIM * FP32, 2 * INDEX_DIM * FP32),
    RowSize("hca_tail", 2 * HEAD_DIM * FP32),
)


def _v4(name: str, entry_bytes: int, index_bytes: int) -> RowFormat:
    entries = tuple(RowSize(kind, entry_bytes) for kind in ("csa_kv", "hca_kv", "swa_kv"))
    return RowFormat(name, (*entries, RowSize("index_k", index_bytes), *_TAILS))


# 448 fp8 values, 64 rotary ones in bf16, 8 bytes of scales; index keys of 128 values with a scale of 4 bytes.
_FP8_ENTRY, _FP8_INDEX, _FP4_INDEX = 448 + 64 * 2 + 8, 128 + 4, 64 + 4

V4_FORMATS = (
    _v4("bf16", HEAD_DIM * 2, INDEX_DIM * 2),
    _v4("fp8", _FP8_ENTRY, _FP8_INDEX),
    _v4("fp8-fp4", _FP8_ENTRY, _FP4_INDEX),
)
"""Layouts of DeepSeek-V4: all bf16; fp8 entries; fp8 entries with fp4 index keys. Raw rows are fp32 in each."""


def _v41(name: str, entry_bytes: int, window_bytes: int, index_bytes: int) -> RowFormat:
    sizes = (
        *(RowSize(kind, entry_bytes) for kind in ("pair_kv", "latent_kv")),
        *(RowSize(kind, index_bytes) for kind in ("pair_index", "latent_index")),
        RowSize("swa_kv", window_bytes),
        RowSize("pair_tail", 4096),
        RowSize("engram_ids", 0),
    )
    return RowFormat(name, sizes)


V41_FORMATS = (
    _v41("fp4", 256 + 32, 512 + 16, _FP4_INDEX),
    _v41("fp8", 512 + 16, 512 + 16, _FP4_INDEX),
    _v41("v4-record", _FP8_ENTRY, _FP8_ENTRY, _FP8_INDEX),
)
"""Layouts of DeepSeek-V4.1: fp4 entries; fp8 entries; the record of V4 with fp8 index keys."""


def folded(row_format: RowFormat) -> RowFormat:
    """`row_format` with the open HCA window as a running maximum, sum and value: 3 fp32 vectors, not bit-equal."""
    sizes = tuple(
        RowSize(size.kind, 3 * HEAD_DIM * FP32, folded=True) if size.kind == "hca_tail" else size
        for size in row_format.sizes
    )
    return RowFormat(f"{row_format.name}-folded", sizes)


def own_format(geometry: Geometry) -> RowFormat:
    """The layout that the kinds of `geometry` state themselves."""
    return RowFormat("own", tuple(RowSize(kind.label, kind.row_bytes) for kind in geometry.kinds))


def formats_of(geometry: Geometry) -> tuple[RowFormat, ...]:
    """Layouts that give every kind of `geometry` a size: what it states itself, else those of DeepSeek-V4 and V4.1.

    Raises:
        GeometryError: a kind that no layout sizes.
    """
    if any(kind.row_bytes for kind in geometry.kinds):
        return (own_format(geometry),)
    labels = {kind.label for kind in geometry.kinds}
    fitting = tuple(
        row_format for row_format in (*V4_FORMATS, *V41_FORMATS) if labels <= {size.kind for size in row_format.sizes}
    )
    if not fitting:
        raise GeometryError(
            f"no row format sizes every state kind of geometry {geometry.name}: {', '.join(sorted(labels))}"
        )
    return fitting
