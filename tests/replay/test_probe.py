"""A probe of the replayed state says what the live cache's own probe says."""

import random
from array import array

import msgspec
import pytest
from lookup_runs import ExplainedRun, ids

from shadowviz.replay.probe import probe
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule

PLACES = ("seq", "request", "in_flight", "swa_lost", "left", "ghost_overflowed")


def compared(lookup: LookupDone) -> dict[str, object]:
    """What both probes know."""
    return {name: value for name, value in msgspec.structs.asdict(lookup).items() if name not in PLACES}


@pytest.mark.parametrize("changes", [{}, {"resume": ResumeRule.ANY}, {"match_mode": "classic"}, {"retention": "all"}])
def test_a_probe_of_the_replayed_state_equals_the_live_one(changes: dict[str, object]) -> None:
    geometry = preset("recall")
    rng = random.Random(7)
    run = ExplainedRun(geometry, num_full_pages=40, num_swa_pages=20, **changes)
    stems = [[rng.randrange(4) for _ in range(rng.randrange(1, 90))] for _ in range(6)]

    def prompt() -> list[int]:
        stem = rng.choice(stems)
        return [*stem[: rng.randrange(1, len(stem) + 1)], *(rng.randrange(4) for _ in range(rng.randrange(0, 30)))]

    for _ in range(60):
        stored = prompt()
        run.run(stored, namespace=rng.choice(["", "", "lora"]), output=[rng.randrange(4)] * rng.randrange(1, 4))
        asked, namespace = rng.choice([prompt(), stored[: rng.randrange(1, len(stored) + 1)]]), rng.choice(["", "lora"])
        live = run.driver.manager.probe(array("q", asked), namespace)
        replayed = probe(run.explainer.state, ids(asked), namespace)
        assert compared(replayed) == compared(live)


def test_a_probe_changes_nothing() -> None:
    run = ExplainedRun()
    run.run(range(1000))
    before = run.explainer.state.digest(), list(run.explainer.state.nodes.last_used)
    probe(run.explainer.state, ids(range(900)), "")
    assert (run.explainer.state.digest(), list(run.explainer.state.nodes.last_used)) == before


def test_a_probe_remembers_what_was_evicted() -> None:
    run = ExplainedRun()
    run.run(range(1000))
    run.driver.manager.flush()
    run.catch_up()
    found = probe(run.explainer.state, ids(range(900)), "", run.explainer.departures)
    assert found.left is not None
    assert (found.common, found.left.length, found.left.reason, found.left.gain) == (0, 900, "flush", 768)


def test_a_probe_remembers_what_was_never_stored() -> None:
    run = ExplainedRun()
    request, _ = run.driver.start(range(1000))
    run.driver.manager.extend(request, 600)
    run.driver.manager.computed(request, 600)
    run.driver.abort(request)
    run.catch_up()
    found = probe(run.explainer.state, ids(range(1000)), "", run.explainer.departures)
    assert found.left is not None
    assert (found.left.length, found.left.reason, found.left.gain) == (600, "abort", 512)


def test_a_probe_names_the_event_that_took_the_window_rows() -> None:
    run = ExplainedRun(retention="all", num_full_pages=60, num_swa_pages=12)
    run.run(range(2048))
    run.run(range(50_000, 52_560))
    asked = [*range(1600), *range(-100, 0)]
    live = run.driver.manager.probe(array("q", asked))
    assert live.swa_lost >= 0
    assert probe(run.explainer.state, ids(asked), "", run.explainer.departures).swa_lost == live.swa_lost
    # Another branch cuts the node that the event names.
    run.run([*range(1100), *range(-100, 0)])
    live = run.driver.manager.probe(array("q", asked))
    assert probe(run.explainer.state, ids(asked), "", run.explainer.departures).swa_lost == live.swa_lost


def test_a_probe_names_the_storing_that_kept_no_window_rows() -> None:
    run = ExplainedRun(retention="window")
    run.run(range(2048))
    asked = [*range(1600), *range(-100, 0)]
    live = run.driver.manager.probe(array("q", asked))
    found = probe(run.explainer.state, ids(asked), "", run.explainer.departures)
    assert found.swa_lost == live.swa_lost >= 0
    assert probe(run.explainer.state, ids(range(2000, 2048)), "").swa_lost == -1
