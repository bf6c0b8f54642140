"""Reused rows made wrong, and put right again."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.buffers import StateBuffers, series_of
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.fault_edits import Edit, Place
from shadowviz_engine.model.fault_forms import RowFault, compressor_of
from shadowviz_engine.model.faults import PlacedFault
from shadowviz_engine.model.layers import RopeTable, rotate
from shadowviz_engine.model.step import Ints


@dataclass(frozen=True)
class HeldRows:
    """Where the state of one request lies, or lay: what another finds there is stale."""

    slots: Ints
    """Full slot of every position."""
    swa: Ints
    """SWA slot of every position; 0 = none."""


@dataclass(frozen=True)
class ChangedRows:
    """Rows of one tensor as they were."""

    label: str
    layer: int
    index: Tensor
    values: Tensor
    first_row: int
    """The first of them whose bits are other ones: a position, or an entry."""

    def restore(self, buffers: StateBuffers) -> None:
        """Put them back."""
        buffers.rows(self.label, self.layer).index_copy_(0, self.index, self.values)


class RowEditor:
    """Edits rows in the buffers of one model."""

    def __init__(self, config: ModelConfig, geometry: Geometry, buffers: StateBuffers) -> None:
        self._config = config
        self._geometry = geometry
        self._buffers = buffers
        self._rope = RopeTable(config.rope_compress, torch.device("cpu"))

    def apply(self, placed: PlacedFault, length: int, own: HeldRows, other: HeldRows | None) -> list[ChangedRows]:
        """Make rows of a request that goes on at `length` wrong; what they were, for those whose bits changed."""
        fault = placed.fault
        assert isinstance(fault, RowFault)
        rows = fault.rows(self._geometry, length)
        changed = []
        for layer in placed.layers if rows else ():
            tensor = self._buffers.rows(fault.kind, layer)
            index = torch.from_numpy(self._places(fault.kind, own, rows)).to(tensor.device)
            before = tensor.index_select(0, index)
            after = self._edited(fault, layer, before, rows, other)
            differs = torch.nonzero((before != after).any(dim=1)).flatten()
            if len(differs):
                tensor.index_copy_(0, index, after)
                changed.append(ChangedRows(fault.kind, layer, index, before, rows.start + int(differs[0])))
        return changed

    def _places(self, label: str, held: HeldRows, rows: Extent) -> Ints:
        """Where rows of a kind lie in its tensors."""
        numbers = np.arange(rows.start, rows.stop)
        kind = self._geometry.kind(label)
        if kind.shape is Shape.RANGE:
            return held.slots[(numbers + 1) * kind.unit - 1] // kind.unit
        return held.swa[numbers]

    def _edited(self, fault: RowFault, layer: int, before: Tensor, rows: Extent, other: HeldRows | None) -> Tensor:
        match fault.edit:
            case Edit.ROLLED:
                return before.roll(1, 0)
            case Edit.TURNED:
                return self._turned(fault.kind, before)
            case Edit.OTHER:
                return before if other is None else self._of_other(fault.kind, layer, before, rows, other)
        after = before.clone()
        for columns, value in self._blanks(fault):
            after[:, columns] = value
        return after

    def _blanks(self, fault: RowFault) -> list[tuple[slice, float]]:
        """Columns that are overwritten, with what."""
        compressor = compressor_of(self._geometry, fault.kind)
        if compressor is None or not fault.kind.endswith("_tail"):
            return [(slice(None), 0.0)]
        dim = self._config.index_head_dim if fault.kind == "index_tail" else self._config.head_dim
        series = series_of(compressor)
        # The overlap half of a row, which stands first, is what the next window reads of it.
        width = dim if fault.place is Place.OVERLAP else dim * series
        gate = -torch.inf if fault.edit is Edit.LOST else 0.0
        return [(slice(0, width), 0.0), (slice(dim * series, dim * series + width), gate)]

    def _turned(self, label: str, rows: Tensor) -> Tensor:
        extra = self._geometry.kind(label).unit - 1
        turns = self._rope.turns(torch.tensor([extra]), extra)
        return rotate(rows.clone(), (turns / turns.abs()).to(rows.device))

    def _of_other(self, label: str, layer: int, before: Tensor, rows: Extent, other: HeldRows) -> Tensor:
        """Rows of `other` at the same places, or at its last one where it is shorter."""
        count = len(other.slots) // self._geometry.kind(label).unit
        if not count:
            return before
        found = []
        for number in range(rows.start, rows.stop):
            row = min(number, count - 1)
            found += self._places(label, other, Extent(row, row + 1)).tolist()
        if not all(found):
            return before
        tensor = self._buffers.rows(label, layer)
        return tensor.index_select(0, torch.tensor(found, device=tensor.device))
