"""What a stress run consists of: plans that another process can take up, groups of cells, and their results."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from shadowviz_engine.core.geometry import Geometry


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One level of stress on one subject, as plain values: the same plan gives the same cells and results anywhere."""

    level: str
    """arithmetic, numeric, oracle or faults."""
    subject: str
    """A geometry, a model preset or directory, `random:SEED`, or a foreign derivation."""
    lengths: tuple[tuple[int, int], ...]
    """Half-open ranges of prefix lengths in tokens, ascending."""
    modes: tuple[str, ...] = ()
    """Empty = those that the level runs by default."""
    seed: int = 0
    options: dict[str, str] = {}
    """What only one level knows, such as `retention` or `fault`."""

    def positive_lengths(self) -> tuple[int, ...]:
        """Every length from 1 on that is asked for, once, ascending."""
        return tuple(sorted({length for start, stop in self.lengths for length in range(max(1, start), stop)}))


class Group(msgspec.Struct, frozen=True):
    """Cells that are checked together: one mode at some lengths, ascending."""

    mode: str
    lengths: tuple[int, ...]


class CellResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `BoundaryChecked` says of one cell; see there."""

    mode: str
    length: int
    outcome: str = "same"
    stage: str = ""
    kind: str = ""
    layer: int = -1
    row: int = -1
    offset: int = -1
    difference: float = 0.0
    noise: float = 0.0
    fault: str = ""
    fault_kind: str = ""
    fault_layer: int = -1
    fault_row: int = -1
    predicted: int = -1
    answers: tuple[tuple[int, float, float], ...] = ()
    detail: str = ""


class Work(Protocol):
    """A plan made ready in this process."""

    plan: Plan
    geometry: Geometry

    @property
    def subject(self) -> str:
        """Name of what is under test, as results call it."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was asked for and has no cell, each with the reason, in words."""

    def groups(self) -> Sequence[Group]:
        """All cells, in groups of a few seconds at most; the same in every process."""

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group, one a cell, in the order of its lengths; depends on plan and group alone."""
