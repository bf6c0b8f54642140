"""Index arrays of one step: worked out once, used by every layer."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from shadowviz_engine.model.step import Ints

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class EntryTable:
    """Entries that the blocks of a group may attend to."""

    rows: Tensor
    """`[blocks, entries]`: the row of every entry, in absolute order; 0 = there is none."""
    visible: Tensor
    """`[blocks * width, 1]`: entries closed at each query."""
    unseen: Tensor | None
    """`[blocks * width, entries]`: whether an entry is not closed at a query; None where no query must choose."""
    bias: Tensor | None
    """`[blocks, width * heads, entries]`: 0 or -inf; None for an indexed compressor."""
    tile: int
    """Entries of one attention tile, or index keys of one product."""


@dataclass(frozen=True)
class BlockGroup:
    """Blocks of `width` consecutive positions; their queries are rows `first_row` onwards of the step."""

    first_row: int
    num_blocks: int
    width: int
    window_rows: Tensor
    """`[blocks, keys]`: SWA slots in order of position; 0 = not needed."""
    window_bias: Tensor
    """`[blocks, width * heads, keys]`: 0 or -inf."""
    tables: Mapping[str, EntryTable]
    """By name of the compressor; none where no entry is closed."""

    @property
    def num_queries(self) -> int:
        """Queries of all blocks."""
        return self.num_blocks * self.width

    @property
    def rows(self) -> slice:
        """The group's queries among the rows of the step."""
        return slice(self.first_row, self.first_row + self.num_queries)


@dataclass(frozen=True)
class ClosingEntries:
    """Entries whose last token the step computes."""

    parts: Tensor
    """`[entries, 2, window]`: kv and gate of every token of the window, as rows of the tail cut into series."""
    absent: Tensor
    """`[entries, window, 1]`: -inf for a token before position 0, else 0."""
    positions: Tensor
    """`[entries]`: first position of the window itself, the overlap left out."""
    furthest: int
    targets: Tensor
    """`[real entries]`: rows to store to; the entries behind them are padding."""
    owners: Ints
    """`[real entries]`: sequence of each entry."""
    entries: Ints
    """`[real entries]`: number of each entry in its sequence."""


@dataclass(frozen=True)
class StepPlan:
    """Everything that a step's layers index with. A row is one query; rows that are not real are padding."""

    token_ids: Tensor
    positions: Tensor
    furthest: int
    real: Tensor | None
    """Rows that are no padding; None when all are real."""
    targets: Tensor
    """SWA slot of each real row."""
    groups: tuple[BlockGroup, ...]
    closing: Mapping[str, ClosingEntries]
    last_rows: Ints
    """Row of each step's last token."""
    row_sequences: Ints
    row_positions: Ints
    row_is_real: Mask
