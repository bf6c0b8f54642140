"""The rows of the virtual tree, beside a twin that walks node by node."""

import random
import tracemalloc
from itertools import pairwise

import pytest
import tree_twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trees import chain_state, walked, wide_state

from shadowviz.tui.models import tree_layout, tree_mending, tree_order
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz_engine.core.columns import NodeColumns
from shadowviz_engine.core.replayer import Replayer

STEPS = st.lists(
    st.tuples(st.sampled_from(("insert", "insert", "split", "evict", "undo", "sync", "fold")), st.integers(0, 10**6)),
    max_size=60,
)


def folded_of(index: TreeIndex, columns: NodeColumns) -> set[int]:
    return {node for node in tree_twin.preorder(columns) if index.is_folded(node)}


def assert_as_twin(index: TreeIndex, columns: NodeColumns) -> None:
    """Rows, depths, sizes and the way back from node to row are those of a walk."""
    expected = tree_twin.rows(columns, folded_of(index, columns), index.hoisted)
    assert index.nodes_in(0, len(index)) == expected
    top = tree_twin.depth(columns, index.hoisted)
    for row, node in enumerate(expected):
        assert index.node_at(row) == node
        assert index.depth_at(row) == tree_twin.depth(columns, node) - top
        assert index.row_of(node) == index.nearest_row(node) == row
        assert index.below(node) == len(tree_twin.preorder(columns, node)) - 1
        assert index.parent_row(row) == (expected.index(columns.parent[node]) if row else 0)
    hidden = set(tree_twin.preorder(columns, index.hoisted)) - set(expected)
    for node in hidden:
        assert index.row_of(node) == -1
        shown = next(above for above in (*columns.path(node), 0) if above in expected)
        assert index.node_at(index.nearest_row(node)) == shown


SPLIT_ABOVE_ONE_THAT_GOES = [*[("insert", 0)] * 2, ("insert", 2), ("sync", 0), ("split", 1), ("evict", 1)]
SPLIT_ABOVE_ONE_THAT_CAME = [*[("insert", 0)] * 2, ("insert", 2), ("sync", 0), ("split", 1), ("insert", 2)]


@given(steps=STEPS)
@example(steps=SPLIT_ABOVE_ONE_THAT_GOES)
@example(steps=SPLIT_ABOVE_ONE_THAT_CAME)
@settings(max_examples=120, deadline=None)
def test_a_tree_that_changes_keeps_rows_folds_and_depths_of_every_node(steps):
    grower = tree_twin.Grower()
    index = TreeIndex(grower.nodes)
    for what, choice in steps:
        if what == "sync":
            index.sync(grower.nodes)
            assert_as_twin(index, grower.nodes)
        elif what == "fold":
            index.sync(grower.nodes)
            index.toggle(index.node_at(choice % len(index)))
            assert_as_twin(index, grower.nodes)
        else:
            getattr(grower, what)(choice)
    index.sync(grower.nodes)
    assert_as_twin(index, grower.nodes)


@given(steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_sizes_mended_on_all_ways_together_are_those_of_each_way_alone(steps):
    grower = tree_twin.Grower()
    index, most = TreeIndex(grower.nodes), tree_mending.MAX_STEPS
    tree_mending.MAX_STEPS = -1
    try:
        for what, choice in steps:
            if what in ("sync", "fold"):
                index.sync(grower.nodes)
            else:
                getattr(grower, what)(choice)
        index.sync(grower.nodes)
    finally:
        tree_mending.MAX_STEPS = most
    assert_as_twin(index, grower.nodes)


@given(steps=STEPS, choice=st.integers(0, 10**6), depth=st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_hoisting_folding_by_depth_and_revealing_are_those_of_the_twin(steps, choice, depth):
    grower = tree_twin.Grower()
    for what, place in steps:
        if what not in ("sync", "fold"):
            getattr(grower, what)(place)
    index = TreeIndex(grower.nodes)
    index.fold_from(depth)
    assert all(index.depth_at(row) <= depth for row in range(len(index)))
    assert_as_twin(index, grower.nodes)
    living = grower.living()
    node = living[choice % len(living)]
    row = index.reveal(node)
    assert index.node_at(row) == node
    assert_as_twin(index, grower.nodes)
    index.hoist(node)
    assert index.node_at(0) == node
    assert_as_twin(index, grower.nodes)
    outside = living[(choice // 7) % len(living)]
    assert index.node_at(index.reveal(outside)) == outside
    assert_as_twin(index, grower.nodes)
    index.hoist(node)
    index.unfold_all()
    assert len(index) == len(tree_twin.preorder(grower.nodes, node))


@given(steps=STEPS)
@settings(max_examples=50, deadline=None)
def test_what_was_hoisted_or_chosen_and_left_gives_way_to_the_nearest_node_above(steps):
    grower = tree_twin.Grower()
    index = TreeIndex(grower.nodes)
    for what, choice in steps:
        if what in ("sync", "fold"):
            index.sync(grower.nodes)
            index.hoist(index.node_at(choice % len(index)))
        else:
            before = {node: list(grower.nodes.path(node)) for node in tree_twin.preorder(grower.nodes)}
            index.sync(grower.nodes)
            hoisted, top = index.hoisted, index.hoisted
            getattr(grower, what)(choice)
            living = set(grower.living())
            heir = next((above for above in before[hoisted] if above in living), 0)
            assert index.order.heir(hoisted, grower.nodes) == heir
            index.sync(grower.nodes)
            assert index.hoisted == heir
            assert top == heir or top not in living


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_of_a_real_cache_is_followed_forth_and_back_through_its_events(seed):
    walk, _ = walked(seed, 60)
    rng, state, undos = random.Random(seed), Replayer(), []
    index = TreeIndex(state.nodes)
    events, pending = walk.driver.events, list(walk.driver.events)[::-1]
    ways = [1.0 if rng.random() < 0.7 else -1.0 for _ in range(40)] + [1.0] * len(events) + [-1.0] * len(events)
    for way in ways:
        for _ in range(rng.randrange(1, 120)):
            if way > 0 and pending:
                undos.append((state.apply(pending[-1]), pending.pop()))
            elif way < 0 and undos:
                undo, event = undos.pop()
                state.undo(undo)
                pending.append(event)
        index.sync(state.nodes)
        assert index.nodes_in(0, len(index)) == tree_twin.rows(state.nodes, folded_of(index, state.nodes), 0)
        index.toggle(index.node_at(rng.randrange(len(index))))
        if not undos and way < 0:
            break
    assert len(index) == 1


def test_a_layout_by_whole_levels_is_that_of_a_walk(monkeypatch):
    state = wide_state(5_000, seed=3)
    for node in range(1, 5_000, 7):
        if not state.nodes.first_child[node]:
            state.nodes.unlink(node)
            state.nodes.alive[node] = 0
    by_level = tree_layout.lay_out(state.nodes)
    monkeypatch.setattr(tree_layout, "CHUNK", 97)
    by_chunks = tree_layout.lay_out(state.nodes)
    monkeypatch.setattr(tree_layout, "MAX_LEVELS", 0)
    by_node = tree_layout.lay_out(state.nodes)
    assert_same_layout(by_level, by_node)
    assert_same_layout(by_chunks, by_node)


def assert_same_layout(one, other):
    for mine, theirs in ((one.nodes, other.nodes), (one.depths, other.depths), (one.sizes, other.sizes)):
        assert mine.tolist() == theirs.tolist()


def test_a_layout_takes_little_more_memory_than_what_it_gives():
    columns = wide_state(300_000, seed=1).nodes
    tracemalloc.start()
    try:
        index = TreeIndex(columns)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept >= 24 * len(columns)
    assert most < 1.2 * kept
    assert len(index) == len(columns)


def test_a_change_of_more_nodes_than_are_mended_gives_the_same_rows(monkeypatch):
    trees = []
    for most in (0, tree_order.MAX_MENDED):
        monkeypatch.setattr(tree_order, "MAX_MENDED", most)
        grower = tree_twin.Grower()
        index = TreeIndex(grower.nodes)
        for number in range(200):
            grower.insert(number * 7919)
            if number % 5 == 0:
                grower.split(number * 31)
            if number % 50 == 0:
                index.sync(grower.nodes)
                index.toggle(index.node_at(number % len(index)))
        index.sync(grower.nodes)
        trees.append(index.nodes_in(0, len(index)))
    assert trees[0] == trees[1]


def test_a_conversation_of_twenty_thousand_turns_has_a_row_for_each():
    state = chain_state(20_000)
    index = TreeIndex(state.nodes)
    assert len(index) == 20_001
    assert index.depth_at(20_000) == 20_000
    index.toggle(10_000)
    assert len(index) == 10_001
    assert index.reveal(20_000) == 20_000
    assert all(below == above + 1 for above, below in pairwise(index.nodes_in(19_000, 20_001)))


def test_a_log_that_was_replaced_is_laid_out_anew():
    one, other = wide_state(50, seed=1), wide_state(60, seed=2)
    index = TreeIndex(one.nodes)
    assert index.sync(other.nodes)
    assert index.nodes_in(0, len(index)) == tree_twin.preorder(other.nodes)
