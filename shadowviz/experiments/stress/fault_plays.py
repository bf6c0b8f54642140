"""A scene on a running engine, with a fault or without, and what a check of it sees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shadowviz.experiments.stress.cold_runs import EXACT, ColdRun
from shadowviz.experiments.stress.fault_scenes import LOOKED_AT, Script
from shadowviz.experiments.stress.fault_verdicts import Sighting
from shadowviz.experiments.stress.subject_runs import Subject, run_cold
from shadowviz.experiments.stress.witness import Seen, Trial
from shadowviz_engine.core.errors import InvariantError, ShadowvizError
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.assembly import EngineModel
from shadowviz_engine.runtime.engine import Engine

_AT_ONCE = 256
"""Tokens of a pass of the request that is looked at: the logits of more can fill the memory."""


def play(script: Script, model: EngineModel, faults: tuple[str, ...], cold: ColdRun) -> Sighting:
    """What a check sees of a scene that it plays itself."""
    with Trial(script.options(faults), model, EXACT) as trial:
        refused = perform(script, trial.engine, lambda: trial.submit([script.request], cold))
        seen = trial.seen.get(LOOKED_AT, Seen())
        reused = "" if refused else another_length(seen.reused, script.reused)
        return Sighting(seen.difference, seen.logits, reused, broken_books(trial.engine), refused)


def perform(script: Script, engine: Engine, submit: Callable[[], None]) -> str:
    """Run a scene to its end; why the engine would not go on, where it would not.

    Args:
        submit: submits the request that is looked at, and looks.
    """
    try:
        engine.watch()
        script.prepare(engine)
        if not script.beside:
            engine.limit_chunks(_AT_ONCE)
        submit()
        for request in script.beside:
            engine.submit(request)
        engine.run()
    except ShadowvizError as error:
        return f"the engine would not go on: {error}"
    return ""


def another_length(reused: int, expected: int) -> str:
    """What was reused in words, where that is not what should have been."""
    return "" if reused == expected else f"went on at {reused}, expected {expected}"


def cold_of_script(script: Script, subject: Subject, master: ColdRun, length: int) -> ColdRun:
    """What a scene is held against: the cold run of the master tokens, where its prompt is their beginning."""
    count = len(script.tokens)
    if np.array_equal(script.tokens, master.tokens[:count]):
        return master
    return run_cold(subject.model(Numerics.EXACT), script.tokens, logits=Extent(length, count))


def broken_books(engine: Engine) -> str:
    """What the cache's invariants say, where they do not hold."""
    try:
        engine.cache.check_invariants()
    except InvariantError as error:
        return f"found by the invariants: {error}"
    return ""
