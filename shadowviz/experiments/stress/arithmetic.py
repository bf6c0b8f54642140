"""Level `arithmetic`: every length and split, derived by formula and compared with a brute-force definition."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from shadowviz.experiments.stress.arithmetic_lengths import WHOLE_RANGE, WHOLE_SPLITS, cuts_of, lengths_of
from shadowviz.experiments.stress.arithmetic_slots import check_slots, why_not_laid_out
from shadowviz.experiments.stress.arithmetic_spans import Formulas, Mismatch, check_needed, check_owned
from shadowviz.experiments.stress.definition import Definition, listed_definition, run_definition
from shadowviz.experiments.stress.foreign import ForeignWork, claims_from
from shadowviz.experiments.stress.geometries import geometry_of
from shadowviz.experiments.stress.work import CellResult, Group, Plan, Work
from shadowviz_engine.core.errors import InputError, ShadowvizError
from shadowviz_engine.core.geometry import Geometry

MODES = ("derive", "resume", "slots")
"""What is checked at a length: what spans that end there own, what going on there needs, and where it all lies."""

RUN_TOKENS = 16 * WHOLE_RANGE
"""Lengths up to which the definition is run token by token; beyond, its positions are listed."""

SPLITS_A_GROUP = 40_000
"""Spans of one group: about a second."""

_COSTS: dict[str, Callable[[int], int]] = {
    "derive": lambda length: min(length, WHOLE_SPLITS) + 1,
    "resume": lambda length: 2,  # noqa: ARG005
    "slots": lambda length: length // 4 + 50,
}
"""Work of a cell, in spans."""


def work_of(plan: Plan) -> Work:
    """The plan made ready.

    Raises:
        InputError: its subject, a mode or an option is unknown.
    """
    geometry = geometry_of(plan.subject)
    if source := plan.options.get("claims", ""):
        return ForeignWork(plan, geometry, claims_from(source))
    return ArithmeticWork(plan, geometry)


class ArithmeticWork:
    """The formulas of one geometry against its definition."""

    def __init__(self, plan: Plan, geometry: Geometry, formulas: Formulas | None = None) -> None:
        self.plan = plan
        self.geometry = geometry
        self._formulas = formulas or Formulas()
        self._modes = plan.modes or MODES
        for mode in self._modes:
            if mode not in MODES:
                raise InputError(f"mode {mode[:40]!r} is unknown: expected one of {', '.join(MODES)}")

    @property
    def subject(self) -> str:
        """Name of the geometry."""
        return self.geometry.name

    @property
    def left_out(self) -> tuple[str, ...]:
        """Lengths whose slots are not laid out."""
        if "slots" not in self._modes:
            return ()
        lengths = [length for length in self._lengths if length]
        reasons = Counter(why_not_laid_out(self.geometry, length) for length in lengths)
        return tuple(
            f"slots of {self.geometry.name} at {times:,} of {len(lengths):,} lengths: {why}"
            for why, times in sorted(reasons.items())
            if why
        )

    def groups(self) -> Sequence[Group]:
        """All cells, by mode, in groups of about a second."""
        return [
            Group(mode, tuple(part)) for mode in self._modes for part in _parts(self._lengths_of(mode), _COSTS[mode])
        ]

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group, in the order of its lengths."""
        for length in group.lengths:
            try:
                yield _result(group.mode, length, self._mismatch(group.mode, length))
            except ShadowvizError as error:
                yield CellResult(mode=group.mode, length=length, outcome="refused", detail=str(error))

    def _lengths_of(self, mode: str) -> list[int]:
        if mode != "slots":
            return self._lengths
        return [length for length in self._lengths if length and not why_not_laid_out(self.geometry, length)]

    @cached_property
    def _lengths(self) -> list[int]:
        return lengths_of(self.plan, self.geometry)

    @cached_property
    def _run(self) -> Definition:
        near = [length for length in self._lengths if length <= RUN_TOKENS]
        return run_definition(self.geometry, max(near, default=0))

    @cached_property
    def _listed(self) -> Definition:
        return listed_definition(self.geometry)

    def _mismatch(self, mode: str, length: int) -> Mismatch | None:
        if mode == "slots":
            return check_slots(self.plan, self.geometry, length)
        definition = self._run if length <= RUN_TOKENS else self._listed
        if mode == "resume":
            return check_needed(self._formulas, definition, self.geometry, length)
        cuts = cuts_of(self.plan, self.geometry, length)
        return check_owned(self._formulas, definition, self.geometry, length, cuts)


def _result(mode: str, length: int, mismatch: Mismatch | None) -> CellResult:
    if mismatch is None:
        return CellResult(mode=mode, length=length)
    return CellResult(
        mode=mode,
        length=length,
        outcome="differs",
        stage="state",
        kind=mismatch.kind,
        layer=mismatch.layer,
        row=mismatch.row,
        detail=mismatch.detail,
    )


def _parts(lengths: Sequence[int], cost: Callable[[int], int]) -> Iterator[list[int]]:
    """Lengths in groups of about equal work."""
    part: list[int] = []
    work = 0
    for length in lengths:
        part.append(length)
        work += cost(length)
        if work >= SPLITS_A_GROUP:
            yield part
            part, work = [], 0
    if part:
        yield part
