"""Random workloads of shared prefixes, forks, evictions, expiry and aborts hold every invariant."""

import random

import pytest
from cache_walks import CacheWalk
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.core.errors import InputError, InvariantError
from shadowviz_engine.core.replayer import Replayer

NUM_STEPS = 150


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_every_step_holds_the_invariants_and_matches_brute_force(seed: int) -> None:
    walk = CacheWalk(random.Random(seed))
    for _ in range(NUM_STEPS):
        walk.step()
    walk.drain()
    assert not walk.driver.manager.state.tree.nodes


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_live_state_equals_replayed_state_at_any_moment(seed: int) -> None:
    rng = random.Random(seed)
    walk = CacheWalk(rng)
    replayer = Replayer()
    applied = 0
    for _ in range(NUM_STEPS):
        walk.step()
        if rng.random() < 0.1:
            events = walk.driver.events
            for event in events[applied:]:
                replayer.apply(event)
            applied = len(events)
            assert replayer.digest() == walk.driver.digest()


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_fault_of_the_bookkeeping_is_caught(fault: str) -> None:
    assert any(walk_fails(seed, fault) for seed in range(60)), f"no check noticed {fault}"


def walk_fails(seed: int, fault: str) -> bool:
    walk = CacheWalk(random.Random(seed), (fault,))
    try:
        for _ in range(NUM_STEPS):
            walk.step()
        walk.drain()
    except (InvariantError, AssertionError):
        return True
    return promises_broken(walk)


def promises_broken(walk: CacheWalk) -> bool:
    """Whether a stored prompt sent again right away finds another length than retention promises."""
    options = walk.options
    if options.retention == "all" or options.match_mode == "classic":
        return False
    ids = [7] * 40
    walk.driver.run(ids)
    reused = walk.driver.manager.probe(ids).reused
    unit = walk.driver.manager.state.rules.unit
    return reused != (len(ids) - 1) // unit * unit


def test_unknown_fault_is_refused() -> None:
    with pytest.raises(InputError, match="no fault point"):
        CacheWalk(random.Random(0), ("nonsense",))
