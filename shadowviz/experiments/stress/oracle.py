"""Level `oracle`: the running engine against transformers' DeepseekV4ForCausalLM on the same weights.

Both store the same rows, so state and logits are compared row by row; what may differ is measured in the same run, from
the oracle cold against the oracle cut otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import torch

from shadowviz.experiments.stress.cold_runs import Noise, Reads, pad_columns
from shadowviz.experiments.stress.noise import MARGIN
from shadowviz.experiments.stress.numeric_cells import UNCUT, Setting
from shadowviz.experiments.stress.numeric_modes import Mode
from shadowviz.experiments.stress.numeric_ways import RUNS
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.transformers_run import OracleRun, oracle_of
from shadowviz.experiments.stress.witness import Trial
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.errors import InputError, ShadowvizError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import Stage, Traced
from shadowviz_engine.runtime.options import EngineOptions

MODES = ("cold", "resumed")
OTHER_MODES = ("batch", "chunked", "evicted", "healed", "twice")
"""Further ways of the numeric level that go on over master tokens, for which the oracle's one cold run stands."""

_GROUP_BYTES = 128 * 2**20
_GROUP_SIZES = {"cold": 8, "twice": 8}
_BLOCK = 64
"""Positions whose logits are held at a time."""


def work_of(plan: Plan) -> OracleWork:
    """The plan made ready: both models are loaded.

    Raises:
        ShadowvizError: there is no such model or mode, or transformers cannot run the model.
    """
    return OracleWork(plan)


class OracleWork:
    """Lengths of one model; every cell is requests on an engine, compared with one cold run of the oracle."""

    left_out: tuple[str, ...] = ()

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._modes = plan.modes or MODES
        for mode in self._modes:
            if mode not in (*MODES, *OTHER_MODES):
                known = ", ".join((*MODES, *OTHER_MODES))
                raise InputError(f"mode {mode[:40]!r} is unknown to level oracle: expected one of {known}")
        self._subject = cached_subject(plan.subject)
        # The engine's model first: its words for a name that there is none of are the better ones.
        self._subject.model(Numerics.EXACT)
        self._oracle = oracle_of(plan.subject)

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
        return [
            Group(mode, self.lengths[first : first + size])
            for mode in self._modes
            for size in (self._group_size(mode),)
            for first in range(0, len(self.lengths), size)
        ]

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group; where the engine refuses the group, each length is tried alone."""
        mode = Mode(group.mode, ResumeRule.ANY, "all")
        try:
            found = list(RUNS[group.mode](self._setting(mode, group), group.lengths))
        except ShadowvizError as error:
            if len(group.lengths) > 1:
                for length in group.lengths:
                    yield from self.check(Group(group.mode, (length,)))
                return
            detail = f"{type(error).__name__}: {error}"
            found = [CellResult(mode=group.mode, length=group.lengths[0], outcome="refused", detail=detail)]
        # The numeric level names rule and retention as well, which here are always the same.
        yield from (_renamed(result, group.mode) for result in found)

    def _group_size(self, mode: str) -> int:
        width = self._subject.model(Numerics.EXACT).config.vocab_size * 4
        rows = self._subject.largest_ratio + 1
        return max(1, min(_GROUP_SIZES.get(mode, 32), _GROUP_BYTES // (rows * width)))

    def _setting(self, mode: Mode, group: Group) -> Setting:
        start = 0 if group.mode in ("cold", "twice") else group.lengths[0]
        run = self._run
        # The rule `any` never goes on before the length, and no run of a group is longer than that of its last.
        cold = run.cold(start, min(len(run.tokens), self._subject.stop_of(group.lengths[-1])))
        return OracleSetting(self._subject, mode, self.plan.seed, run.tokens, cold, self._noise)

    @cached_property
    def _run(self) -> OracleRun:
        margin = self.geometry.n_win + 2 * self._subject.largest_ratio
        return self._oracle.run(self._subject.tokens(self._subject.stop_of(self.lengths[-1]) + margin, self.plan.seed))

    @cached_property
    def _noise(self) -> Noise:
        """Largest differences of the oracle from itself, with a margin.

        One bound for all rows and one for logits: where the oracle repeats its own bits, another program does not.
        What follows a query for which the indexer chose otherwise is left out: that is no noise of a number.
        """
        run, rows, logits = self._run, 0.0, 0.0
        for cuts in _cuts(len(run.tokens)):
            other = self._oracle.run(run.tokens, cuts)
            stop = _first_other_choice(run, other)
            rows = max(rows, _apart(run, other, self.geometry, stop))
            for start in range(0, stop, _BLOCK):
                pair = [item.logits(start, min(stop, start + _BLOCK)) for item in (run, other)]
                logits = max(logits, float((pair[0] - pair[1]).abs().max()))
        keys = [(str(Stage.STATE), *key) for key in run.state] + [(str(Stage.READ), *key) for key in run.reads]
        return Noise(dict.fromkeys(keys, rows * MARGIN), logits * MARGIN)


@dataclass(frozen=True)
class OracleSetting(Setting):
    """A setting whose trials look at what the oracle tells as well."""

    def trial(self, num_pages: int, *, swa_pages: int = 0) -> OracleTrial:
        """An empty engine under the mode's rules."""
        options = EngineOptions(
            numerics=self.mode.numerics,
            resume=self.mode.resume,
            retention=self.mode.retention,
            num_full_pages=num_pages,
            num_swa_pages=swa_pages or num_pages,
            chunk_tokens=UNCUT,
            max_running=UNCUT,
        )
        return OracleTrial(options, self.model, self.noise)


class OracleTrial(Trial):
    """A trial that compares all state, and of what is read the indexer's scores and choices."""

    def _see(self, requests: Sequence[str], traced: Traced) -> None:
        told = _told_by_both(traced)
        if told is not None:
            super()._see(requests, told)


def _told_by_both(traced: Traced) -> Traced | None:
    if traced.stage is Stage.STATE or traced.kind == "index_k":
        return traced
    if traced.kind != "csa_kv":
        return None
    values = torch.zeros(*traced.values.shape[:2], 1)
    return Traced(traced.stage, traced.kind, traced.layer, traced.sequences, traced.rows, traced.columns, values)


def _renamed(result: CellResult, mode: str) -> CellResult:
    return msgspec.structs.replace(result, mode=mode)


def _cuts(length: int) -> list[list[int]]:
    """Other ways to cut a run: halves, odd chunks, and single tokens at its end."""
    chunk = max(3, length // 7)
    return [[length // 2], list(range(chunk, length, chunk)), list(range(max(1, length - 24), length))]


def _first_other_choice(run: OracleRun, other: OracleRun) -> int:
    """First position at which the two chose other entries; the number of tokens where they never did."""
    first = len(run.tokens)
    for key, reads in run.reads.items():
        if key[0] == "index_k":
            continue
        columns, theirs = _alike(reads, other.reads[key])
        apart = (columns != theirs).any(axis=1)
        if apart.any():
            first = min(first, int(reads.readers[apart][0]))
    return first


def _alike(one: Reads, other: Reads) -> tuple[Ints, Ints]:
    width = max(one.columns.shape[1], other.columns.shape[1])
    return pad_columns(one.columns, width), pad_columns(other.columns, width)


def _apart(run: OracleRun, other: OracleRun, geometry: Geometry, stop: int) -> float:
    """Largest difference of rows that were known before position `stop`, and of the indexer's scores."""
    units = {kind.label: kind.unit for kind in geometry.kinds}
    largest = 0.0
    for key, rows in run.state.items():
        count = stop // units[key[0]]
        if count:
            largest = max(largest, float((rows[:count] - other.state[key][:count]).abs().max()))
    for key, reads in run.reads.items():
        if key[0] == "index_k" and stop:
            width = min(reads.values.shape[1], other.reads[key].values.shape[1])
            pair = [item.values[:stop, :width] for item in (reads, other.reads[key])]
            largest = max(largest, float((pair[0] - pair[1]).abs().max()) if pair[0].numel() else 0.0)
    return largest
