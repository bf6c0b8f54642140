"""Level `numeric`: the running engine against cold runs of its model, bit for bit or within measured noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from shadowviz.experiments.stress.cold_runs import EXACT, ColdRun
from shadowviz.experiments.stress.noise import measured_noise
from shadowviz.experiments.stress.numeric_cells import Setting
from shadowviz.experiments.stress.numeric_modes import (
    WAYS,
    Mode,
    all_modes,
    choose_lengths,
    chosen_modes,
    chunk_of,
    parse_mode,
)
from shadowviz.experiments.stress.numeric_ways import RUNS
from shadowviz.experiments.stress.subject_runs import cached_subject, log_probabilities_of, run_cold
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.errors import InputError, ShadowvizError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.trace import STATE_AND_READS, Stage, Stages

MATRICES = ("ci", "full")
_FEW = 64
"""Lengths up to which every mode takes all that are asked for."""
_GROUP_BYTES = 128 * 2**20
"""Logits of a group that are held at a time."""
_WIDE = 16_384
"""Vocabulary from which on the rows that go into the product with it are compared, and not logits."""
_GROUP_SIZES = {"batch": 48, "chunked": 16, "cold": 8, "tokens": 16, "forked": 16, "twice": 12, "healed": 12}
STATE: Stages = frozenset((Stage.STATE,))
EVERYTHING: Stages = STATE_AND_READS | {Stage.ROUTE}
_OPTIONS = ("matrix", "retention", "resume", "numerics")


def work_of(plan: Plan) -> NumericWork:
    """A numeric plan made ready: its model is loaded.

    Raises:
        ShadowvizError: a subject, mode or option that there is none of.
    """
    return NumericWork(plan)


class NumericWork:
    """Lengths of one model in the modes of a plan; every cell is requests on an engine of its own group."""

    left_out: tuple[str, ...] = ()

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        unknown = sorted(set(plan.options) - set(_OPTIONS))
        if unknown:
            raise InputError(f"level numeric has no option {unknown[0]!r}: expected one of {', '.join(_OPTIONS)}")
        matrix = plan.options.get("matrix", "ci")
        if matrix not in MATRICES:
            raise InputError(f"matrix {matrix!r} is unknown: expected {' or '.join(MATRICES)}")
        self._subject = cached_subject(plan.subject)
        self.modes = _modes(plan, self.geometry, matrix)
        self._cold: dict[tuple[Numerics, Stages], ColdRun] = {}
        self._noise = {Numerics.EXACT: EXACT}

    @property
    def geometry(self) -> Geometry:
        """Geometry of the model."""
        return self._subject.geometry

    @property
    def subject(self) -> str:
        """Name of the model."""
        return self._subject.name

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """All lengths that are asked for, ascending; a run has none before its first token."""
        return self.plan.positive_lengths()

    def groups(self) -> Sequence[Group]:
        """Cells of every mode, in groups that share an engine."""
        found: list[Group] = []
        for mode, count in self.modes.items():
            lengths = choose_lengths(self.geometry, self.lengths, count if len(self.lengths) > _FEW else 0)
            found += [Group(str(mode), part) for part in _parts(mode, lengths, self._group_size(mode))]
        return found

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group; where the engine refuses the group, each length is tried alone.

        State and logits are compared first. Only where they differ, all is done again with everything that is read, to
        name the place: that costs half as much again.
        """
        mode = parse_mode(group.mode)
        try:
            results = list(RUNS[mode.way](self.setting(mode), group.lengths))
            if any(result.outcome != "same" for result in results):
                named = RUNS[mode.way](self.setting(mode, EVERYTHING), group.lengths)
                results = [one if one.outcome != "same" else first for first, one in zip(results, named, strict=True)]
        except ShadowvizError as error:
            results = list(self._one_by_one(group, error))
        yield from results

    def _one_by_one(self, group: Group, error: ShadowvizError) -> Iterator[CellResult]:
        if len(group.lengths) == 1:
            detail = f"{type(error).__name__}: {error}"
            yield CellResult(mode=group.mode, length=group.lengths[0], outcome="refused", detail=detail)
            return
        for length in group.lengths:
            yield from self.check(Group(group.mode, (length,)))

    def _group_size(self, mode: Mode) -> int:
        """Lengths of a group: few where each of their logits is long."""
        subject = self._subject
        rows = subject.largest_ratio + (subject.geometry.page_size if mode.resume is ResumeRule.PAGE else 0)
        most = _GROUP_SIZES.get(mode.way, 32)
        return most if self._wide else max(1, min(most, _GROUP_BYTES // (rows * self._vocabulary * 4)))

    @property
    def _vocabulary(self) -> int:
        return self._subject.model(Numerics.EXACT).config.vocab_size

    @property
    def _wide(self) -> bool:
        return self._vocabulary >= _WIDE

    def setting(self, mode: Mode, stages: Stages = STATE) -> Setting:
        """Master tokens, their cold run and the noise; kept for the next group.

        Args:
            stages: what is compared beside logits.
        """
        stages |= {Stage.HEAD} if self._wide else set()
        # Noise is measured from everything.
        held = stages if mode.numerics is Numerics.EXACT else stages | EVERYTHING
        if (mode.numerics, held) not in self._cold:
            self._cold[mode.numerics, held] = self._run_cold(mode.numerics, held)
        cold = self._cold[mode.numerics, held]
        if mode.numerics not in self._noise:
            self._noise[mode.numerics] = measured_noise(self._subject.model(mode.numerics), cold, held)
        return Setting(self._subject, mode, self.plan.seed, cold.tokens, cold, self._noise[mode.numerics], stages)

    def _run_cold(self, numerics: Numerics, stages: Stages) -> ColdRun:
        subject, model = self._subject, self._subject.model(numerics)
        margin = self.geometry.n_win + 2 * subject.largest_ratio
        tokens = subject.tokens(subject.stop_of(self.lengths[-1]) + margin, self.plan.seed)
        cold = run_cold(model, tokens, stages=stages)
        if numerics is Numerics.EXACT and cold.heads is not None:
            return replace(cold, logprobs=log_probabilities_of(model, cold.heads, tokens))
        return cold


def _modes(plan: Plan, geometry: Geometry, matrix: str) -> dict[Mode, int]:
    """Modes of a plan and how many lengths of each: those of the matrix that its modes and options leave."""
    known = chosen_modes(geometry) if matrix == "ci" else dict.fromkeys(all_modes(geometry), 0)
    ways = {name for name in plan.modes if name in WAYS}
    found = {mode: count for mode, count in known.items() if not plan.modes or mode.way in ways}
    found |= {parse_mode(name): known.get(parse_mode(name), 0) for name in plan.modes if name not in WAYS}
    for option in ("retention", "resume", "numerics"):
        wanted = plan.options.get(option)
        if wanted is not None:
            found = {mode: count for mode, count in found.items() if str(getattr(mode, option)) == wanted}
    if not found:
        raise InputError(f"matrix {matrix!r} has no such numeric mode: give --matrix full, or other modes")
    return found


def _parts(mode: Mode, lengths: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Lengths of the groups of a mode."""
    if mode.way != "chunked":
        yield from (tuple(lengths[first : first + size]) for first in range(0, len(lengths), size))
        return
    by_chunk: dict[int, list[int]] = {}
    for length in lengths:
        by_chunk.setdefault(chunk_of(length), []).append(length)
    for same in by_chunk.values():
        yield from (tuple(same[first : first + size]) for first in range(0, len(same), size))
