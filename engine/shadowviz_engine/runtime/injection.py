"""Faults of the model in the passes of a running engine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import msgspec
import numpy as np
import numpy.typing as npt
import torch

from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.fault_forms import SWA, PlanFault, RowFault
from shadowviz_engine.model.fault_plans import ResumedSteps, spoil_plan
from shadowviz_engine.model.fault_rows import ChangedRows, HeldRows, RowEditor
from shadowviz_engine.model.faults import PlacedFault
from shadowviz_engine.model.plan import StepPlan
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer

Ints = npt.NDArray[np.int64]

LONE_SHIFTED = "lone_token_shifted"
PASS_FAULTS: dict[str, str] = {
    LONE_SHIFTED: "a prompt token that is computed alone behind reused ones is rotated one position too far",
}
"""Faults of how passes are put together, by name, with what each does."""

_REMEMBERED = 16
"""Requests whose rows may still be found stale."""


class Resumed(msgspec.Struct, frozen=True):
    """A sequence of a pass."""

    request: str
    length: int
    """Tokens that were reused; 0 = none."""


class Injection(msgspec.Struct, frozen=True):
    """A fault that acts on a request from here on."""

    fault: str
    request: str
    length: int
    """Tokens that the request goes on from."""
    kind: str
    layer: int
    """First layer in which it acts; -1 = in none, the rows have the bits that they should have."""
    row: int
    """First row there that is wrong, or wrongly read; -1 = none."""


class _Known(msgspec.Struct, frozen=True):
    token_ids: Ints
    held: HeldRows


class EngineFaults(msgspec.Struct, frozen=True):
    """Faults by what makes them."""

    cache: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()
    model: tuple[PlacedFault, ...] = ()


class ModelFaults:
    """Lets faults act on every request that went on from reused state.

    Rows are wrong during the passes of the request alone and put right behind each, for the tree shares them. Requests
    that share rows in one pass share the fault.
    """

    def __init__(
        self,
        faults: EngineFaults,
        transformer: Transformer,
        geometry: Geometry,
        buffers: StateBuffers,
    ) -> None:
        self._placed = faults.model
        self._shifts_lone_tokens = LONE_SHIFTED in faults.passes
        self._transformer = transformer
        self._geometry = geometry
        self._buffers = buffers
        self._editor = RowEditor(transformer.config, geometry, buffers)
        self._known: dict[str, _Known] = {}
        self._injections: list[Injection] = []

    def take(self) -> tuple[Injection, ...]:
        """What began to act since it was asked last."""
        found = tuple(self._injections)
        self._injections.clear()
        return found

    @contextmanager
    def acting(self, sequences: Sequence[Resumed], steps: Sequence[SequenceStep], full_to_swa: Ints) -> Iterator[None]:
        """The faults act in here, on one pass."""
        lengths = np.array([item.length for item in sequences], np.int64)
        resumed = ResumedSteps(self._transformer.config, steps, lengths, full_to_swa)
        held = [HeldRows(step.slots.copy(), full_to_swa[step.slots]) for step in steps]
        changed: list[ChangedRows] = []
        lone = self._lone_tokens(sequences, steps)
        self._transformer.tamper = lambda plan: _shift(self._spoil(plan, resumed), lone)
        try:
            for item, step, own in zip(sequences, steps, held, strict=True):
                if item.length:
                    changed += self._begin(item, step, own)
            yield
        finally:
            # Engines may share the model.
            self._transformer.tamper = None
            for rows in reversed(changed):
                rows.restore(self._buffers)
            for item, step, own in zip(sequences, steps, held, strict=True):
                self._remember(item.request, _Known(step.token_ids.copy(), own))

    def _begin(self, item: Resumed, step: SequenceStep, own: HeldRows) -> list[ChangedRows]:
        changed: list[ChangedRows] = []
        for placed in self._placed:
            exists = not placed.fault.reason_absent(self._geometry, item.length)
            layer, row = (placed.layers[0], placed.fault.first_row(self._geometry, item.length)) if exists else (-1, -1)
            if isinstance(placed.fault, RowFault):
                other = self._other(step.token_ids[: item.length]) if placed.fault.needs_other else None
                found = self._editor.apply(placed, item.length, own, other)
                changed += found
                layer, row = (found[0].layer, found[0].first_row) if found else (-1, -1)
            if exists and step.start == item.length:
                self._injections.append(
                    Injection(placed.name, item.request, item.length, placed.fault.kind, layer, row)
                )
        return changed

    def _lone_tokens(self, sequences: Sequence[Resumed], steps: Sequence[SequenceStep]) -> list[int]:
        """Sequences whose only token in this pass is the first one behind what they reused, where that is a fault."""
        if not self._shifts_lone_tokens:
            return []
        found = []
        for number, (item, step) in enumerate(zip(sequences, steps, strict=True)):
            if item.length and step.start == item.length and step.stop == step.start + 1:
                found.append(number)
                self._injections.append(Injection(LONE_SHIFTED, item.request, item.length, SWA, 0, item.length))
        return found

    def _spoil(self, plan: StepPlan, resumed: ResumedSteps) -> StepPlan:
        for placed in self._placed:
            if isinstance(placed.fault, PlanFault):
                plan = spoil_plan(plan, placed.fault, self._where_it_exists(placed.fault, resumed))
        return plan

    def _where_it_exists(self, fault: PlanFault, resumed: ResumedSteps) -> ResumedSteps:
        """`resumed`, leaving alone the sequences in which there is no such fault."""
        lengths = [0 if fault.reason_absent(self._geometry, length) else length for length in resumed.lengths.tolist()]
        return replace(resumed, lengths=np.array(lengths, np.int64))

    def _other(self, prefix: Ints) -> HeldRows | None:
        """Rows of the request that ran last with other tokens than `prefix`."""
        for known in reversed(self._known.values()):
            shared = min(len(prefix), len(known.token_ids))
            if not np.array_equal(known.token_ids[:shared], prefix[:shared]):
                return known.held
        return None

    def _remember(self, request: str, known: _Known) -> None:
        for name, older in list(self._known.items()):
            shared = min(len(older.token_ids), len(known.token_ids))
            if name == request or np.array_equal(older.token_ids[:shared], known.token_ids[:shared]):
                # The same tokens: one of the two will do, and what is other is not crowded out.
                del self._known[name]
        self._known[request] = known
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


def _shift(plan: StepPlan, sequences: Sequence[int]) -> StepPlan:
    """`plan` with the tokens of some sequences rotated one position too far."""
    if not sequences:
        return plan
    rows = np.flatnonzero(plan.row_is_real & np.isin(plan.row_sequences, sequences))
    positions = plan.positions.clone()
    positions[torch.from_numpy(rows)] += 1
    return replace(plan, positions=positions, furthest=plan.furthest + 1)
