"""Facts that a lookup records beside its lengths: what left, who computes it now, and where else it is stored."""

import pytest
from cache_driver import Driver, options

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import GhostOverflowed, NotStored, SpanEvicted
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule

FLASH = preset("v4-flash")


def test_evicted_prefix_is_remembered_with_who_when_and_why() -> None:
    driver = Driver(FLASH, options(num_full_pages=6, num_swa_pages=6))
    driver.run(range(1_000))
    driver.run(range(5_000, 6_000))
    lookup = driver.manager.probe(range(1_000))
    gone = next(event for event in driver.events if isinstance(event, SpanEvicted))
    assert lookup.left is not None
    assert (lookup.left.length, lookup.left.reason, lookup.left.by) == (1_000, "lru", "r2")
    assert (lookup.left.event, lookup.left.gain) == (gone.seq, 768)


def test_short_prompt_that_left_is_remembered_too() -> None:
    driver = Driver(FLASH, options(resume=ResumeRule.ANY))
    driver.run(range(100))
    driver.manager.flush()
    lookup = driver.manager.probe(range(200))
    assert lookup.left is not None
    assert (lookup.left.length, lookup.left.reason, lookup.left.gain) == (100, "flush", 100)


def test_idle_leaf_expires_and_is_remembered_as_such() -> None:
    driver = Driver(FLASH, options(idle_ttl_s=300.0))
    driver.run(range(600))
    driver.now_ns = 299_000_000_000
    assert driver.manager.tick(driver.now_ns) == 0
    driver.now_ns = 301_000_000_000
    assert driver.manager.tick(driver.now_ns) == 1
    lookup = driver.manager.probe(range(600))
    assert lookup.left is not None
    assert (lookup.left.reason, lookup.left.length) == ("ttl", 600)


def test_a_path_that_is_a_leaf_again_expires_by_its_own_last_use() -> None:
    driver = Driver(FLASH, options(idle_ttl_s=10.0))
    request, _ = driver.start(range(600))
    driver.prefill(request, 600)
    driver.now_ns = 8_000_000_000
    for position, token in enumerate((1, 2), 600):
        driver.append(request, token)
        assert driver.manager.extend(request, position) is None
        driver.manager.computed(request, position)
    driver.finish(request)
    assert driver.manager.tick(driver.now_ns) == 0
    driver.manager.evict(1)
    driver.now_ns = 10_500_000_000
    assert driver.manager.tick(driver.now_ns) == 1


def test_lookup_keeps_a_leaf_from_expiring() -> None:
    driver = Driver(FLASH, options(idle_ttl_s=300.0))
    driver.run(range(600))
    driver.now_ns = 200_000_000_000
    driver.manager.lookup("r9", range(600))
    driver.now_ns = 400_000_000_000
    assert driver.manager.tick(driver.now_ns) == 0


def test_aborted_prefill_is_not_stored_and_says_so_later() -> None:
    driver = Driver(FLASH, options())
    request, _ = driver.start(range(1_000), chunk=600)
    driver.manager.computed(request, 600)
    driver.manager.abort(request)
    driver.manager.check_invariants()
    assert [(e.start, e.stop) for e in driver.events if isinstance(e, NotStored)] == [(0, 600)]
    lookup = driver.manager.probe(range(1_000))
    assert lookup.left is not None
    assert (lookup.common, lookup.left.length, lookup.left.reason) == (0, 600, "abort")


def test_prompt_in_flight_is_named() -> None:
    driver = Driver(FLASH, options())
    request, _ = driver.start(range(1_000))
    lookup = driver.manager.probe(range(800))
    assert lookup.in_flight is not None
    assert (lookup.in_flight.request, lookup.in_flight.common, lookup.in_flight.gain) == (request, 800, 768)
    driver.prefill(request, 1_000)
    assert driver.manager.probe(range(800)).in_flight is None


def test_classic_names_a_prompt_in_flight_only_where_it_will_match_whole() -> None:
    driver = Driver(FLASH, options(match_mode="classic"))
    request, _ = driver.start(range(1_000))
    assert driver.manager.probe([*range(800), -1]).in_flight is None
    longer = driver.manager.probe(range(1_200)).in_flight
    assert longer is not None
    assert (longer.request, longer.common, longer.gain) == (request, 1_000, 768)


def test_equal_tokens_under_another_namespace_are_named() -> None:
    driver = Driver(FLASH, options())
    driver.run(range(1_000), "team-a")
    lookup = driver.manager.probe(range(1_000), "team-b")
    assert lookup.namespace is not None
    assert (lookup.reused, lookup.namespace.namespace, lookup.namespace.gain) == (0, "team-a", 768)


def test_overflow_of_the_ghost_index_is_told_once() -> None:
    driver = Driver(FLASH, options(ghost_entries=3))
    for first in (0, 10_000, 20_000):
        driver.run(range(first, first + 1_000))
    driver.manager.flush()
    assert sum(isinstance(event, GhostOverflowed) for event in driver.events) == 1
    assert driver.manager.probe(range(1_000)).ghost_overflowed


def test_ghost_index_stays_within_its_bound() -> None:
    driver = Driver(FLASH, options(ghost_entries=50))
    for first in range(0, 3_000_000, 10_000):
        driver.run(range(first, first + 700))
        driver.manager.flush()
    ghost = driver.manager.state.ghost
    assert len(ghost.entries) <= 50
    assert sum(sum(sizes.values()) for sizes in ghost.ends.values()) <= 50


def test_many_short_prompts_that_left_are_all_remembered() -> None:
    driver = Driver(FLASH, options(resume=ResumeRule.ANY))
    prompts = [[first, *range(length)] for first in range(20) for length in (50, 51, 90)]
    for prompt in prompts:
        driver.run(prompt)
    driver.manager.flush()
    for prompt in prompts:
        left = driver.manager.probe([*prompt, -1]).left
        assert left is not None
        assert (left.length, left.reason) == (len(prompt), "flush")
    assert not driver.manager.probe([99]).ghost_overflowed


def test_ghost_index_without_room_remembers_nothing_and_says_so() -> None:
    driver = Driver(FLASH, options(ghost_entries=0))
    driver.run(range(300))
    driver.manager.flush()
    lookup = driver.manager.probe(range(300))
    assert (lookup.left, lookup.ghost_overflowed) == (None, True)


def test_probe_changes_nothing() -> None:
    driver = Driver(FLASH, options())
    driver.run(range(1_000))
    driver.run([*range(600), *range(-400, 0)])
    before = (driver.digest(), [(n.id, n.used, n.hits) for n in driver.manager.state.tree.nodes.values()])
    for length in (1, 300, 600, 601, 1_000):
        driver.manager.probe([*range(length), -7, -8])
    after = (driver.digest(), [(n.id, n.used, n.hits) for n in driver.manager.state.tree.nodes.values()])
    assert before == after


def test_switched_off_cache_reuses_and_stores_nothing() -> None:
    driver = Driver(FLASH, options(cache_on=False))
    driver.run(range(1_000))
    lookup = driver.run(range(1_000))
    assert (lookup.cache_on, lookup.common, lookup.reused) == (False, 0, 0)
    assert not driver.manager.state.tree.nodes
    assert {e.reason for e in driver.events if isinstance(e, NotStored)} == {"off"}


def test_empty_prompt_is_refused_where_it_would_run_and_matched_where_it_would_not() -> None:
    driver = Driver(FLASH, options())
    assert driver.manager.probe([]).reused == 0
    with pytest.raises(InputError, match="empty"):
        driver.start([])
