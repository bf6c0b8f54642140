"""What is foretold to leave, beside what the cache then lets go of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twin import Grower
from trees import chain_state, chat_state, walked, wide_state

from shadowviz.tui.models.eviction_order import MAX_STEPS, EvictionOrder, Place, births
from shadowviz_engine.core.events import SpanEvicted, SwaFreed
from shadowviz_engine.core.replayer import Replayer

SEEDS = st.integers(0, 2**32)
POLICIES = st.sampled_from(("lru", "fifo"))


def order_of(state: Replayer) -> EvictionOrder:
    assert state.opened is not None
    return EvictionOrder(state, state.opened)


@settings(max_examples=40, deadline=None)
@given(SEEDS, POLICIES, st.integers(1, 60))
def test_what_is_foretold_is_what_the_cache_then_evicts_in_this_order(seed: int, policy: str, num_tokens: int) -> None:
    walk, state = walked(seed, policy=policy)
    foretold, before = order_of(state).leaving(1_000), len(walk.driver.events)
    walk.driver.manager.evict(num_tokens)
    left = [event.node for event in walk.driver.events[before:] if isinstance(event, SpanEvicted)]
    assert left == foretold[: len(left)]
    walk.driver.manager.evict(100_000)
    assert [e.node for e in walk.driver.events[before:] if isinstance(e, SpanEvicted)] == foretold


@settings(max_examples=40, deadline=None)
@given(SEEDS, POLICIES)
def test_every_leaf_has_the_place_in_which_it_then_leaves(seed: int, policy: str) -> None:
    _, state = walked(seed, policy=policy)
    order, nodes = order_of(state), state.nodes
    left = order.leaving(1_000)
    for node in range(1, len(nodes)):
        is_leaf = nodes.alive[node] and not nodes.first_child[node] and not nodes.locks[node]
        assert order.place(node) == (Place(left.index(node), True) if is_leaf else None)
    assert order.first == (left[0] if left else 0)
    for most in (1, 2, 5):
        assert order_of(state).leaving(most) == left[:most]


@settings(max_examples=40, deadline=None)
@given(SEEDS, POLICIES, st.integers(1, 12))
def test_window_rows_are_freed_as_foretold_and_those_that_a_run_reads_stay(seed: int, policy: str, more: int) -> None:
    walk, state = walked(seed, policy=policy)
    manager = walk.driver.manager
    for name, sequence in manager.state.sequences.items():
        # The driver records no steps.
        state.requests.computed[state.requests.index[name]] = sequence.computed
    foretold = order_of(state).freed(1_000)
    assert order_of(state).freed(2) == foretold[:2]
    before = len(walk.driver.events)
    for wanted in (len(manager.state.swa.free) + more, manager.state.swa.num_pages):
        manager._evictor.free_swa_pages(wanted, "")
        freed = [event for event in walk.driver.events[before:] if isinstance(event, SwaFreed)]
        assert [event.node for event in freed] == [rows.node for rows in foretold[: len(freed)]]
    assert len(freed) == len(foretold)
    had = {event.node: state.swa_runs(event.node) for event in freed}
    for event, rows in zip(freed, foretold, strict=True):
        inside = (min(stop, event.stop) - start for start, stop, _ in had[event.node] if start < event.stop)
        assert rows.num_tokens == sum(inside)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_upper_part_of_a_split_is_as_old_as_in_the_cache(seed: int) -> None:
    walk, state = walked(seed)
    born = births(state)
    for node in walk.driver.manager.state.tree.nodes.values():
        assert born[node.id] == node.created


def test_a_parent_leaves_in_its_turn_before_leaves_that_were_used_later() -> None:
    state = chat_state(num_swa_pages=400)
    order, nodes = order_of(state), state.nodes
    left = order.leaving(100)
    leaves = [node for node in left if not nodes.first_child[node]]
    assert left != leaves + [node for node in left if nodes.first_child[node]]
    for node in left:
        assert all(left.index(child) < left.index(node) for child in nodes.children(node))


def test_without_a_known_policy_nothing_is_foretold() -> None:
    state = walked(3, policy="lfu")[1]
    order = order_of(state)
    assert (order.first, order.leaving(9), order.freed(9)) == (0, [], [])
    assert all(order.place(node) is None for node in range(len(state.nodes)))


@pytest.mark.parametrize("state", [wide_state(20_000, seed=1), chain_state(5_000)], ids=["wide", "a chain"])
def test_in_a_large_tree_no_more_is_followed_than_is_asked_for(state: Replayer) -> None:
    order, nodes = order_of(state), state.nodes
    used = np.array(nodes.last_used)
    leaves = [node for node in range(1, len(nodes)) if not nodes.first_child[node]]
    oldest, newest = min(leaves, key=lambda node: (used[node], node)), max(leaves, key=lambda node: (used[node], node))
    assert order.leaving(100)[0] == order.first == oldest
    assert order.place(oldest) == Place(0, True)
    place = order.place(newest)
    assert place is not None
    if len(leaves) > MAX_STEPS:
        assert place == Place(len(leaves) - 1, False)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("insert", "split", "split", "evict")), st.integers(0, 99)), max_size=40))
def test_however_often_spans_are_split_their_parts_are_as_old_as_they_were(steps: list[tuple[str, int]]) -> None:
    grower = Grower()
    nodes, age = grower.nodes, [-1]
    for what, choice in steps:
        num = len(nodes)
        getattr(grower, what)(choice)
        for node in range(num, len(nodes)):
            age.append(age[nodes.first_child[node]] if what == "split" else nodes.created[node])
    assert births(grower.state).tolist() == age
