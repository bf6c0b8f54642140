"""One engine under watch: every pass of its requests is held against cold runs as it happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
import torch
from torch import Tensor

from shadowviz.experiments.stress.cold_runs import ColdRun, Noise, cold_run
from shadowviz.experiments.stress.compare import (
    NO_LOGITS,
    Difference,
    LogitsDifference,
    compare_heads,
    compare_logits,
    compare_logprobs,
    first_differences,
    part_of,
)
from shadowviz_engine.core.events import Event, LookupDone
from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import STATE_AND_READS, Stage, Stages, Traced
from shadowviz_engine.runtime.assembly import EngineModel
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request


@dataclass
class Seen:
    """What was seen of one request."""

    lookup: LookupDone | None = None
    """Of its last start."""
    difference: Difference | None = None
    logits: LogitsDifference = NO_LOGITS
    kept: list[tuple[int, Traced]] = field(default_factory=list)
    """Turn and trace of a request whose cold run is not known yet."""
    kept_logits: list[tuple[int, Tensor]] = field(default_factory=list)

    @property
    def reused(self) -> int:
        """Length that the request went on from; -1 = it never started."""
        return -1 if self.lookup is None else self.lookup.reused

    def add(self, difference: Difference | None) -> None:
        """Note a difference if none comes before it in the order of data flow."""
        if difference is not None and (self.difference is None or difference.order < self.difference.order):
            self.difference = difference

    def add_logits(self, found: LogitsDifference) -> None:
        """Note logits of a later pass."""
        first = found.position if self.logits.position < 0 else self.logits.position
        self.logits = LogitsDifference(first, max(self.logits.largest, found.largest))


class Trial:
    """An engine, and requests on it that are compared with cold runs; a context manager that closes the engine.

    Args:
        stages: what is compared beside logits; with rows for the vocabulary those stand for logits.
    """

    def __init__(
        self, options: EngineOptions, model: EngineModel, noise: Noise, stages: Stages = STATE_AND_READS
    ) -> None:
        self.seen: dict[str, Seen] = {}
        self._noise = noise
        self._stages = stages
        self._expected: dict[str, ColdRun | None] = {}
        self._turn = 0
        self.engine = Engine(options, self, model=model)

    def run_stored(self, requests: Sequence[Request], cold: ColdRun) -> None:
        """As `run`, for requests whose state alone is looked at: the logits of whole prompts take much room."""
        self.submit(requests, cold)
        self.engine.watch(self._see, stages=self._stages - {Stage.HEAD})
        self.engine.run()

    def run(self, requests: Sequence[Request], cold: ColdRun | None) -> None:
        """Run requests together to their end.

        Args:
            cold: what they are compared with as they run; None = `settle` will say.

        Raises:
            ShadowvizError: the engine would not run one of them.
        """
        self.submit(requests, cold)
        self.engine.run()
        if cold is not None and cold.logprobs:
            for request in requests:
                self._see_logprobs(request, cold)

    def submit(self, requests: Sequence[Request], cold: ColdRun | None) -> None:
        """Queue requests; see `run`."""
        for request in requests:
            self._expected[request.id] = cold
            self.seen[request.id] = Seen()
            self.engine.submit(request)
        self.engine.watch(self._see, None if Stage.HEAD in self._stages else self._see_logits, self._stages)

    def run_unwatched(self, requests: Sequence[Request]) -> None:
        """Run requests that nothing is compared with."""
        for request in requests:
            self.engine.submit(request)
        self.engine.watch()
        self.engine.run()

    def settle(self, request: str, cold: ColdRun) -> Seen:
        """Compare what was kept of a request with its cold run."""
        seen = self.seen[request]
        for turn, traced in seen.kept:
            self._compare([request], traced, {0: cold}, turn)
        for start, logits in seen.kept_logits:
            seen.add_logits(compare_logits(logits, start, cold, self._noise))
        seen.kept.clear()
        seen.kept_logits.clear()
        return seen

    def settle_by(self, request: str, tokens: Ints, earlier: str) -> Seen:
        """Compare what was kept of a request with what was kept of an earlier cold one with the same tokens."""
        kept = self.seen[earlier]
        logits = torch.cat([torch.empty(0), *(part for _, part in kept.kept_logits)])
        return self.settle(request, cold_run(tokens, [traced for _, traced in kept.kept], logits))

    def emit(self, event: Event, /) -> None:
        """Note the lookups among the engine's events."""
        if isinstance(event, LookupDone) and event.request in self.seen:
            self.seen[event.request].lookup = event

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        """The trial itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the engine."""
        self.engine.close()

    def _see(self, requests: Sequence[str], traced: Traced) -> None:
        known: dict[int, ColdRun] = {}
        for number, request in enumerate(requests):
            if request not in self._expected:
                continue
            cold = self._expected[request]
            if cold is None:
                self._keep(request, number, traced)
            else:
                known[number] = cold
        if known:
            self._compare(requests, traced, known, self._turn)
        self._turn += 1

    def _compare(self, requests: Sequence[str], traced: Traced, cold: Mapping[int, ColdRun], turn: int) -> None:
        if traced.stage is Stage.HEAD:
            product = self.engine.model.transformer.logits
            for number, logits in compare_heads(traced, cold, product, self._noise).items():
                self.seen[requests[number]].add_logits(logits)
            return
        for number, difference in first_differences([traced], cold, self._noise, turn).items():
            self.seen[requests[number]].add(difference)

    def _see_logprobs(self, request: Request, cold: ColdRun) -> None:
        found = self.engine.outputs[request.id].prompt_logprobs
        if found:
            self.seen[request.id].add_logits(compare_logprobs(found, request.logprob_start, cold))

    def _keep(self, request: str, number: int, traced: Traced) -> None:
        part = part_of(traced, [number])
        if len(part.rows):
            own = Traced(
                part.stage, part.kind, part.layer, np.zeros_like(part.sequences), part.rows, part.columns, part.values
            )
            self.seen[request].kept.append((self._turn, own))

    def _see_logits(self, request: str, start: int, logits: Tensor) -> None:
        if request not in self._expected:
            return
        cold = self._expected[request]
        if cold is None:
            self.seen[request].kept_logits.append((start, logits))
        elif start + len(logits) > cold.first_logit:
            skipped = max(0, cold.first_logit - start)
            self.seen[request].add_logits(compare_logits(logits[skipped:], start + skipped, cold, self._noise))
