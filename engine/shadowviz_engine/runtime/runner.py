"""One pass of the model over scheduled work: steps in, next tokens out."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.numerics import threads
from shadowviz_engine.model.step import SequenceStep, StepResult
from shadowviz_engine.model.trace import STATE_AND_READS, Stages, Traced
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.injection import ModelFaults, Resumed
from shadowviz_engine.runtime.sampler import Choice, log_probabilities, sample
from shadowviz_engine.runtime.selections import SelectionWriter

Ints = npt.NDArray[np.int64]

_SCORED_AT_ONCE = 64
"""Rows whose logits are held for their probabilities: those of a whole prompt can be larger than the model."""


class Scored(msgspec.Struct, frozen=True):
    """Prompt tokens whose probability is wanted."""

    first: int
    """Position of the token before the first of them."""
    token_ids: Ints


class PassItem(msgspec.Struct, frozen=True):
    """Tokens [start, stop) of one request, with what the model needs to compute them."""

    request: str
    token_ids: Ints
    """Of positions [0, stop)."""
    slots: Ints
    """Full slots of positions [0, stop)."""
    start: int
    stop: int
    decoding: bool
    """Whether the tokens are generated ones."""
    choice: Choice | None
    """How the token at `stop` is chosen; None = it is known already."""
    scored: Scored | None = None
    resumed: int = 0
    """Tokens that the request reused when it started."""


RequestTrace = Callable[[Sequence[str], Traced], None]
"""Takes the request of every sequence of the pass, and what one layer did with rows of one kind."""
LogitsTrace = Callable[[str, int, Tensor], None]
"""Takes a request, the position of its first token in a pass, and the logits `[tokens, vocabulary]` of its tokens."""


_LogProbs = dict[str, tuple[float, ...]]


class RequestTie(msgspec.Struct, frozen=True):
    """A near tie of the indexer at a position of a request."""

    request: str
    layer: int
    position: int
    margin: float


class PassResult(msgspec.Struct, frozen=True):
    """Chosen tokens by request, and the near ties of the pass."""

    tokens: dict[str, int]
    near_ties: tuple[RequestTie, ...]
    logprobs: dict[str, tuple[float, ...]] = {}
    """By request, of the tokens that its `Scored` names."""


class Runner:
    """Runs passes over the state in `buffers`, with `num_threads` threads of torch."""

    def __init__(self, transformer: Transformer, buffers: StateBuffers, num_threads: int) -> None:
        self.transformer = transformer
        self.buffers = buffers
        self.trace: RequestTrace | None = None
        """Sees what every pass finds, stores and reads; None = nobody looks, and nothing is spent."""
        self.stages: Stages = STATE_AND_READS
        """What of it is seen."""
        self.logits_trace: LogitsTrace | None = None
        """Sees the logits of every computed token, not of the last ones alone."""
        self.faults: ModelFaults | None = None
        self._num_threads = num_threads

    def run(self, items: Sequence[PassItem], full_to_swa: Ints) -> PassResult:
        """Compute `items` in one batch, store their state, and choose the tokens that are asked for.

        Raises:
            ModelError: state that an item needs is not resident.
            InvariantError: logits that are not finite.
        """
        steps = [SequenceStep(item.token_ids, item.slots, item.start, item.stop) for item in items]
        acting = nullcontext() if self.faults is None else self._acting(self.faults, items, steps, full_to_swa)
        with threads(self._num_threads), acting:
            if self.trace is None:
                result, logprobs = self._forward(items, steps, full_to_swa)
            else:
                result, logprobs = self._forward_traced(items, steps, full_to_swa, self.trace)
        asked = [(row, item.choice) for row, item in enumerate(items) if item.choice is not None]
        tokens: dict[str, int] = {}
        if asked:
            # Rows are as long as the vocabulary, so they are copied only where some are left out.
            whole = len(asked) == len(items)
            logits = result.logits if whole else result.logits[[row for row, _ in asked]]
            chosen = sample(logits, [choice for _, choice in asked])
            tokens = {choice.request: token for (_, choice), token in zip(asked, chosen, strict=True)}
        ties = tuple(
            RequestTie(items[tie.sequence].request, tie.layer, tie.position, tie.margin) for tie in result.near_ties
        )
        return PassResult(tokens, ties, logprobs)

    def run_observed(self, items: Sequence[PassItem], full_to_swa: Ints, selections: SelectionWriter) -> PassResult:
        """As `run`, and `selections` takes down what the indexer chose."""
        self.transformer.observer = selections.observe
        try:
            result = self.run(items, full_to_swa)
        finally:
            # Engines may share the model.
            self.transformer.observer = None
        selections.end_pass([item.request for item in items])
        return result

    def _forward(
        self, items: Sequence[PassItem], steps: Sequence[SequenceStep], full_to_swa: Ints
    ) -> tuple[StepResult, _LogProbs]:
        looks = self.logits_trace
        if looks is None and not any(item.scored for item in items):
            return self.transformer.forward(steps, full_to_swa, self.buffers), {}
        if looks is None:
            return self._forward_scored(items, steps, full_to_swa)
        firsts = [item.start for item in items]
        parts, near_ties = self.transformer.forward_all(steps, full_to_swa, self.buffers, firsts)
        logprobs: _LogProbs = {}
        for item, first, part in zip(items, firsts, parts, strict=True):
            looks(item.request, first, part)
            if item.scored is not None:
                ids = item.scored.token_ids
                scored = part[item.scored.first - first :][: len(ids)]
                logprobs[item.request] = log_probabilities(scored, ids)
        return StepResult(torch.stack([part[-1] for part in parts]), near_ties), logprobs

    def _forward_scored(
        self, items: Sequence[PassItem], steps: Sequence[SequenceStep], full_to_swa: Ints
    ) -> tuple[StepResult, _LogProbs]:
        """A pass with probabilities of prompt tokens, a block of logits at a time."""
        firsts = [item.stop - 1 if item.scored is None else item.scored.first for item in items]
        rows, near_ties = self.transformer.forward_rows(steps, full_to_swa, self.buffers, firsts)
        parts = torch.split(rows, [item.stop - first for item, first in zip(items, firsts, strict=True)])
        logprobs: _LogProbs = {}
        for item, part in zip(items, parts, strict=True):
            if item.scored is None:
                continue
            ids = item.scored.token_ids
            logprobs[item.request] = tuple(
                value
                for start in range(0, len(ids), _SCORED_AT_ONCE)
                for value in log_probabilities(
                    self.transformer.logits(part[start : min(start + _SCORED_AT_ONCE, len(ids))]),
                    ids[start : start + _SCORED_AT_ONCE],
                )
            )
        last = self.transformer.logits(torch.stack([part[-1] for part in parts]))
        return StepResult(last, near_ties), logprobs

    @staticmethod
    def _acting(
        faults: ModelFaults, items: Sequence[PassItem], steps: Sequence[SequenceStep], full_to_swa: Ints
    ) -> AbstractContextManager[None]:
        return faults.acting([Resumed(item.request, item.resumed) for item in items], steps, full_to_swa)

    def _forward_traced(
        self, items: Sequence[PassItem], steps: Sequence[SequenceStep], full_to_swa: Ints, trace: RequestTrace
    ) -> tuple[StepResult, _LogProbs]:
        requests = [item.request for item in items]
        self.transformer.trace, self.transformer.stages = lambda traced: trace(requests, traced), self.stages
        try:
            return self._forward(items, steps, full_to_swa)
        finally:
            # Engines may share the model.
            self.transformer.trace, self.transformer.stages = None, STATE_AND_READS
