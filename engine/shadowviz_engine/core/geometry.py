"""Geometry of a hybrid-attention cache: page, window, compressors, and the state kinds they give."""

from collections.abc import Sequence
from math import lcm

import msgspec

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.kinds import Scope, Shape, StateKind

SWA_ONLY = ""


class Compressor(msgspec.Struct, frozen=True, omit_defaults=True):
    """Pools `ratio` tokens into one entry; with overlap an entry also reads the window before its own."""

    name: str
    ratio: int
    overlap: bool = False
    indexed: bool = False

    def __post_init__(self) -> None:
        if self.ratio < 1:
            raise GeometryError(f"ratio {self.ratio} of compressor {self.name} must be at least 1")


class LayerSchedule(msgspec.Struct, frozen=True):
    """Name of the compressor of each layer; the empty name is a layer with the sliding window alone."""

    compressors: tuple[str, ...]

    def layers_of(self, name: str) -> tuple[int, ...]:
        """Layers that use the compressor `name`."""
        return tuple(layer for layer, compressor in enumerate(self.compressors) if compressor == name)

    @property
    def layers(self) -> tuple[int, ...]:
        """Every layer."""
        return tuple(range(len(self.compressors)))


class Geometry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the arithmetic of a cache depends on.

    Raises:
        GeometryError: the page splits a compression window, or two kinds share a label.
    """

    name: str
    page_size: int
    kinds: tuple[StateKind, ...]
    n_win: int = 0
    index_topk: int = 0
    """Entries a query attends to per indexed layer; 0 = no indexer."""
    compressors: tuple[Compressor, ...] = ()
    schedule: LayerSchedule = LayerSchedule(())
    note: str = ""
    """Where the values come from, when they are not those of a released model."""

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise GeometryError(f"page_size {self.page_size} must be at least 1")
        labels = [kind.label for kind in self.kinds]
        if len(set(labels)) != len(labels):
            raise GeometryError(f"two state kinds of geometry {self.name} share a label: {', '.join(labels)}")
        for kind in self.kinds:
            if kind.follows and kind.follows not in labels:
                raise GeometryError(f"kind {kind.label} follows {kind.follows}, which geometry {self.name} lacks")
        if self.page_size % self.alignment:
            raise GeometryError(
                f"page_size {self.page_size} splits a window: it must be a multiple of every ratio "
                f"(lcm {self.alignment})"
            )

    @property
    def alignment(self) -> int:
        """Least common multiple of the units of all kinds, in tokens."""
        units = [kind.unit for kind in self.kinds if kind.shape is Shape.RANGE]
        return lcm(*units, *(kind.ratio for kind in self.kinds if kind.shape is Shape.OPEN))

    @property
    def reuse_unit(self) -> int:
        """Tokens that every length reused under the `page` rule is a multiple of."""
        return lcm(self.page_size, *(kind.grid for kind in self.kinds if kind.gates))

    def kind(self, label: str) -> StateKind:
        """The kind called `label`.

        Raises:
            GeometryError: there is none.
        """
        for kind in self.kinds:
            if kind.label == label:
                return kind
        known = ", ".join(kind.label for kind in self.kinds)
        raise GeometryError(f"geometry {self.name} has no state kind {label!r}: expected one of {known}")

    def warnings(self) -> tuple[str, ...]:
        """What is legal but costly: a unit of reuse far above the largest single window."""
        largest = max((kind.unit for kind in self.kinds if kind.shape is Shape.RANGE), default=1)
        alignment = self.alignment
        if alignment <= 4 * largest:
            return ()
        return (
            f"the ratios share little: a block of lcm {alignment} tokens is {alignment / largest:.1f} times the "
            f"largest ratio, so a prompt loses {(alignment - 1) / 2:.0f} tokens on average, {alignment - 1} at worst, "
            "to padding",
        )


def hybrid_kinds(n_win: int, compressors: Sequence[Compressor], schedule: LayerSchedule) -> tuple[StateKind, ...]:
    """State kinds of a DeepSeek-V4-like model: entries, indexer keys, window and tails."""
    kinds: list[StateKind] = []
    for compressor in compressors:
        layers = schedule.layers_of(compressor.name)
        overlap = compressor.ratio if compressor.overlap else 0
        labels = [f"{compressor.name}_kv"] + (["index_k"] if compressor.indexed else [])
        kinds += [
            StateKind(label=label, shape=Shape.RANGE, unit=compressor.ratio, overlap=overlap, owners=layers)
            for label in labels
        ]
    kinds.append(StateKind(label="swa_kv", shape=Shape.WINDOW, need=n_win - 1, page_need=n_win, owners=schedule.layers))
    for compressor in compressors:
        layers = schedule.layers_of(compressor.name)
        overlap = compressor.ratio if compressor.overlap else 0
        labels = [f"{compressor.name}_tail"] + (["index_tail"] if compressor.indexed else [])
        kinds += [
            StateKind(
                label=label,
                shape=Shape.OPEN,
                ratio=compressor.ratio,
                overlap=overlap,
                owners=layers,
                scope=Scope.FOLLOWS,
                follows="swa_kv",
            )
            for label in labels
        ]
    return tuple(kinds)


def hybrid_geometry(
    name: str,
    page_size: int,
    n_win: int,
    compressors: Sequence[Compressor],
    schedule: LayerSchedule,
    index_topk: int,
) -> Geometry:
    """Geometry of a DeepSeek-V4-like model.

    Raises:
        GeometryError: a window below 1, or a page that splits a compression window.
    """
    if n_win < 1:
        raise GeometryError(f"n_win {n_win} must be at least 1")
    if sum(compressor.indexed for compressor in compressors) > 1:
        raise GeometryError(f"geometry {name} has more than one indexed compressor: expected at most one")
    kinds = hybrid_kinds(n_win, compressors, schedule)
    return Geometry(name, page_size, kinds, n_win, index_topk, tuple(compressors), schedule)
