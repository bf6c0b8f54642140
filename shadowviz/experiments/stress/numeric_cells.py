"""A cell of the numeric level: what its requests gave, put into a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from shadowviz.experiments.stress.cold_runs import ColdRun, Noise
from shadowviz.experiments.stress.compare import Difference
from shadowviz.experiments.stress.numeric_modes import Mode
from shadowviz.experiments.stress.subject_runs import Subject, run_cold
from shadowviz.experiments.stress.witness import Seen, Trial
from shadowviz.experiments.stress.work import CellResult
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import STATE_AND_READS, Stage, Stages
from shadowviz_engine.runtime.assembly import EngineModel
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

UNCUT = 1 << 20
"""Tokens of a pass in which every prompt fits."""
MOST_SHOWN = 1e300
"""Stands for an infinite difference, which JSON does not know."""


@dataclass(frozen=True)
class Setting:
    """What all cells of a mode share."""

    subject: Subject
    mode: Mode
    seed: int
    tokens: Ints
    """Master tokens: the prompts are beginnings of them."""
    cold: ColdRun
    noise: Noise
    stages: Stages = STATE_AND_READS
    """What is compared beside logits, or in their place; the cold run holds it."""

    @property
    def model(self) -> EngineModel:
        """The model in the mode's numerics."""
        return self.subject.model(self.mode.numerics)

    def prompt(self, length: int) -> list[int]:
        """The first `length` master tokens."""
        found: list[int] = self.tokens[:length].tolist()
        return found

    def resumed_at(self, length: int) -> int:
        """Where a run that may reuse `length` tokens goes on."""
        if self.mode.resume is ResumeRule.ANY:
            return length
        unit = self.subject.geometry.reuse_unit
        return length // unit * unit

    def pages(self, requests: Sequence[tuple[int, int]]) -> int:
        """Pages for requests of so many tokens that reuse so many."""
        size = self.subject.geometry.page_size
        return sum((tokens - reused) // size + 2 for tokens, reused in requests)

    def cold_of(self, tokens: Ints, start: int) -> ColdRun:
        """The cold run of other tokens, with logits from position `start` on."""
        return run_cold(self.model, tokens, logits=Extent(start, len(tokens)), stages=self.stages)

    def trial(self, num_pages: int, *, swa_pages: int = 0) -> Trial:
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
        return Trial(options, self.model, self.noise, self.stages)


def store(name: str, tokens: Sequence[int], namespace: str = "") -> Request:
    """A request that puts `tokens` into the tree."""
    return Request(id=name, token_ids=tokens, max_tokens=1, namespace=namespace)


def go_on(name: str, tokens: Sequence[int], length: int, namespace: str = "") -> Request:
    """A request over `tokens` that reuses `length` of them at most."""
    return Request(id=name, token_ids=tokens, max_tokens=1, namespace=namespace, logprob_start=length)


@dataclass(frozen=True)
class Part:
    """One request of a cell."""

    what: str
    """What the request did, for the report."""
    seen: Seen
    reused: int | None = None
    """Tokens that it had to reuse; None = it does not matter."""
    start: int | None = None
    """Position from which offsets of logits count; None = the cell's length."""
    stored: tuple[Seen, ...] = ()
    """Runs whose state it may go on from."""

    @property
    def difference(self) -> Difference | None:
        """The first difference of the request, or the near tie of a stored run that it comes from."""
        found = self.seen.difference
        ties = [seen.difference for seen in self.stored if seen.difference is not None and seen.difference.near_tie]
        if found is None or self.reused is None:
            return found
        # A choice of the token at `reader` changes what layers above store from there on.
        return next((tie for tie in ties if tie.layer < found.layer and tie.reader < self.reused), found)


def verdict(setting: Setting, length: int, parts: Sequence[Part]) -> CellResult:
    """What the requests of a cell say together: the first of them that is not right decides."""
    noise = setting.noise.logits
    largest = max(part.seen.logits.largest for part in parts)
    mode = str(setting.mode)
    for part in parts:
        result = _wrong(setting, length, part)
        if result is not None:
            return result
    return CellResult(mode=mode, length=length, difference=min(largest, MOST_SHOWN), noise=noise)


def _wrong(setting: Setting, length: int, part: Part) -> CellResult | None:
    """What is wrong with one request; None = nothing."""
    seen, noise, mode = part.seen, setting.noise.logits, str(setting.mode)
    if part.reused is not None and seen.reused != part.reused:
        kinds = () if seen.lookup is None else seen.lookup.kinds
        kind = min(kinds, key=lambda item: item.length).kind if kinds else ""
        detail = f"{part.what} went on at {seen.reused}, expected {part.reused}"
        return CellResult(mode=mode, length=length, outcome="differs", stage="state", kind=kind, detail=detail)
    found, logits = part.difference, seen.logits
    if found is None and logits.position < 0:
        return None
    start = length if part.start is None else part.start
    offset = max(0, logits.position - start) if logits.position >= 0 else -1
    largest = min(logits.largest, MOST_SHOWN)
    if found is None:
        return CellResult(
            mode=mode,
            length=length,
            outcome="differs",
            stage="logits",
            offset=offset,
            difference=largest,
            noise=noise,
            detail=f"{part.what}: all state and all reads are the same",
        )
    amount = f"by {found.amount:.3g}" if isfinite(found.amount) else "where the cold run reads another row, or none"
    reader = f" as read at {found.reader}" if found.reader >= 0 else ""
    return CellResult(
        mode=mode,
        length=length,
        outcome="near_tie" if found.near_tie else "differs",
        # What a router makes of a token is read by it alone.
        stage=str(Stage.READ) if found.stage == Stage.ROUTE else found.stage,
        kind=found.kind,
        layer=found.layer,
        row=found.row,
        offset=offset,
        difference=largest,
        noise=noise,
        detail=f"{part.what}: row {found.row} of {found.kind} in layer {found.layer}{reader} differs {amount}",
    )
