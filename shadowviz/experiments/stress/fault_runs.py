"""A request that goes on from reused state on an engine with a fault in it, and what has to run before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shadowviz.experiments.stress.numeric_cells import UNCUT
from shadowviz.experiments.stress.subject_runs import Subject
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.fault_forms import Fault
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.step import Ints
from shadowviz_engine.runtime.assembly import EngineModel
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

MOST_BEYOND = 1024
"""Tokens that a run goes on at most to reach the first offset at which a fault can show."""
_MORE = 16
"""Tokens behind that offset: a wrong entry need not be chosen at once."""
_ELSEWHERE = "other"
"""Namespace of the request whose rows are found stale: it reuses nothing, and nothing of it is reused."""


@dataclass(frozen=True)
class Scene:
    """Master tokens on a model, and other tokens that share the first one alone."""

    subject: Subject
    tokens: Ints
    other: Ints

    @property
    def model(self) -> EngineModel:
        """The model in exact numerics."""
        return self.subject.model(Numerics.EXACT)


def scene_of(subject: Subject, num_tokens: int, seed: int) -> Scene:
    """So many tokens; the same for the same seed, and fewer are the beginning of more."""
    tokens = subject.tokens(num_tokens, seed)
    vocab = subject.model(Numerics.EXACT).config.vocab_size
    shifts = np.random.default_rng([seed, 1]).integers(1, vocab, num_tokens)
    shifts[:1] = 0
    return Scene(subject, tokens, (tokens + shifts) % vocab)


def stop_of(subject: Subject, fault: Fault | None, length: int) -> int:
    """Where a run that goes on at `length` stops, so that the fault can show if that is not too far away."""
    stop = subject.stop_of(length)
    if fault is None or fault.reason_absent(subject.geometry, length):
        return stop
    offset = fault.first_offset(subject.geometry, length)
    return max(stop, length + offset + _MORE) if offset + _MORE <= MOST_BEYOND else stop


def options_with(model: EngineModel, num_tokens: int, faults: tuple[str, ...]) -> EngineOptions:
    """An engine with faults, with room for the two stored paths and a request of so many tokens."""
    pages = 3 * (num_tokens // model.geometry.page_size + 2)
    return EngineOptions(
        numerics=Numerics.EXACT,
        resume=ResumeRule.ANY,
        chunk_tokens=UNCUT,
        num_full_pages=pages,
        num_swa_pages=pages,
        faults=faults,
    )


def store_paths(engine: Engine, scene: Scene) -> None:
    """Run the other tokens, then the master tokens: both are stored whole."""
    engine.watch()
    for name, tokens, namespace in (("other", scene.other, _ELSEWHERE), ("master", scene.tokens, "")):
        engine.submit(Request(id=name, token_ids=tokens.tolist(), max_tokens=1, namespace=namespace))
        engine.run()


def request_at(scene: Scene, length: int, stop: int) -> Request:
    """Goes on at exactly `length` and computes the tokens up to `stop`."""
    tokens: list[int] = scene.tokens[:stop].tolist()
    return Request(id=f"at {length}", token_ids=tokens, max_tokens=1, logprob_start=length)
