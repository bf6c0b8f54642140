"""The tensors that hold paged state: one for each kind of row and layer that owns it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.model.config import ModelConfig


class StateBuffers:
    """Rows of all state kinds, zero at first. Row 0 of every kind is a dummy: masked reads land there.

    `swa_kv` and the tails have a row for each SWA slot, entries and index keys one for each `ratio` full slots.
    """

    def __init__(
        self,
        config: ModelConfig,
        num_full_slots: int,
        num_swa_slots: int,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.num_full_slots = num_full_slots
        self.num_swa_slots = num_swa_slots
        self.dtype = dtype
        self._tensors: dict[tuple[str, int], Tensor] = {}
        for label, layers, rows, width in _kinds(config, num_full_slots, num_swa_slots):
            for layer in layers:
                self._tensors[label, layer] = torch.zeros(rows, width, dtype=dtype, device=device)

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """(label, layer) of every tensor."""
        return tuple(self._tensors)

    def rows(self, label: str, layer: int) -> Tensor:
        """`[rows, width]`: the live tensor of one kind in one layer.

        Raises:
            ModelError: `layer` owns no such rows.
        """
        tensor = self._tensors.get((label, layer))
        if tensor is None:
            raise ModelError(f"layer {layer} has no rows of kind {label!r}")
        return tensor

    def row_bytes(self, label: str) -> int:
        """Bytes of one row of `label` in one layer.

        Raises:
            ModelError: no layer owns such rows.
        """
        for (name, _), tensor in self._tensors.items():
            if name == label:
                return tensor.shape[1] * tensor.element_size()
        raise ModelError(f"the model has no state kind {label!r}")

    @property
    def total_bytes(self) -> int:
        """Bytes of all rows of all kinds."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self._tensors.values())


def _kinds(config: ModelConfig, num_full: int, num_swa: int) -> Iterator[tuple[str, tuple[int, ...], int, int]]:
    """Label, owner layers, rows and width of every kind."""
    yield "swa_kv", config.schedule.layers, num_swa, config.head_dim
    for compressor in config.used_compressors:
        layers = config.schedule.layers_of(compressor.name)
        for entry_label, tail_label, dim in branch_labels(config, compressor):
            yield entry_label, layers, -(-num_full // compressor.ratio), dim
            yield tail_label, layers, num_swa, dim * series_of(compressor) * 2


def branch_labels(config: ModelConfig, compressor: Compressor) -> tuple[tuple[str, str, int], ...]:
    """Entry label, tail label and width of what `compressor` stores: its entries, and index keys if it is indexed."""
    own = (f"{compressor.name}_kv", f"{compressor.name}_tail", config.head_dim)
    return (own, ("index_k", "index_tail", config.index_head_dim)) if compressor.indexed else (own,)


def series_of(compressor: Compressor) -> int:
    """Pooled series a token: an indexed compressor has one for the next window and one for its own."""
    return 2 if compressor.indexed else 1
