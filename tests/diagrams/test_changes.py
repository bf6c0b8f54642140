"""Two trees compared: by tokens, not by node numbers, with every change counted."""

import random
from collections import Counter

import msgspec
import pytest
from cache_walks import CacheWalk
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_runs import ByNumber
from trees import caption_of, chain_state, chat_state, replayed, walked

from shadowviz.diagrams.changes import ChangesDiagram
from shadowviz.diagrams.changes_of import Side, changes_diagram
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.replayer import Replayer

Prefix = tuple[str, tuple[int, ...]]


def compared(before: Replayer, after: Replayer, most: int = 500) -> ChangesDiagram:
    sides = [Side(caption_of(state), state, ByNumber()) for state in (before, after)]
    return changes_diagram(*sides, most)


def moments(seed: int) -> tuple[CacheWalk, Replayer, Replayer]:
    """A random cache at two moments."""
    walk, before = walked(seed, random.Random(seed).randrange(0, 80))
    for _ in range(40):
        walk.step()
    return walk, before, replayed(walk.driver, walk.geometry, walk.options)


def prefixes(state: Replayer) -> dict[Prefix, tuple[bool, bool]]:
    """Every token of a tree by all that leads to it, and whether it has a full and a window slot."""
    found = {}
    for node in state.node_states():
        path = [token for above in list(state.nodes.path(node.node))[::-1] for token in state.node_tokens(above)]
        full, swa = ({t for run in runs for t in range(run.start, run.stop)} for runs in (node.full, node.swa))
        for position in range(node.start, node.stop):
            found[node.namespace, tuple(path[: position + 1])] = (position in full, position in swa)
    return found


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_every_token_is_in_both_or_appeared_or_went(seed: int) -> None:
    _, before, after = moments(seed)
    diagram = compared(before, after)
    first, second = prefixes(before), prefixes(after)
    tokens = {line.what: line.tokens for line in diagram.sums}
    assert diagram.same_tokens == len(first.keys() & second.keys())
    assert tokens["went"] == len(first.keys() - second.keys())
    assert tokens["appeared"] == len(second.keys() - first.keys())


def rows_there(kind: StateKind, tokens: dict[Prefix, tuple[bool, bool]], shared: set[Prefix]) -> set[Prefix]:
    unit, pool = (kind.unit, 0) if kind.shape is Shape.RANGE else (1, 1)
    return {prefix for prefix in shared if len(prefix[1]) % unit == 0 and tokens[prefix][pool]}


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_rows_that_came_or_left_in_what_both_hold_are_counted_by_kind(seed: int) -> None:
    walk, before, after = moments(seed)
    first, second = prefixes(before), prefixes(after)
    gained = Counter[str]()
    for change in compared(before, after).changes:
        assert bool(change.rows) == (change.what == "residency")
        for rows in change.rows:
            assert rows.before is not None
            assert rows.after is not None
            assert rows.before != rows.after <= rows.owned
            gained[rows.kind] += rows.after - rows.before
    for kind in walk.geometry.kinds:
        there = [rows_there(kind, tokens, first.keys() & second.keys()) for tokens in (first, second)]
        assert gained[kind.label] == len(there[1]) - len(there[0])


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_tree_does_not_differ_from_itself_and_a_swap_turns_every_change_round(seed: int) -> None:
    _, before, after = moments(seed)
    assert compared(after, after).changes == ()
    there, back = compared(before, after), compared(after, before)
    turned = {"appeared": "went", "went": "appeared", "residency": "residency"}
    assert {line.what: line.tokens for line in there.sums} == {turned[line.what]: line.tokens for line in back.sums}
    assert [turned[change.what] for change in there.changes] == [change.what for change in back.changes]


def test_a_run_is_the_same_as_another_that_stored_in_another_order() -> None:
    first, second = CacheWalk(random.Random(1)), CacheWalk(random.Random(1))
    stored = [[1] * 20, [1] * 10 + [2] * 20, [0] * 9]
    for walk, prompts in ((first, stored), (second, stored[::-1])):
        for ids in prompts:
            walk.driver.run(ids)
    states = [replayed(walk.driver, walk.geometry, walk.options) for walk in (first, second)]
    assert states[0].digest() != states[1].digest()
    sums = compared(*states).sums
    assert [line.tokens for line in sums if line.what != "residency"] == [0, 0]


def test_a_change_says_what_it_stands_for() -> None:
    state = chat_state()
    empty = Replayer()
    empty.opened = state.opened
    diagram = compared(empty, state)
    assert {change.what for change in diagram.changes} == {"appeared"}
    assert sum(change.nodes for change in diagram.changes) == diagram.num_nodes[1] == diagram.sums[0].nodes
    top = max(diagram.changes, key=lambda change: change.tokens)
    assert top.label.startswith("1000 1001")
    assert (diagram.caption.unit, diagram.caption.shown) == ("changes", len(diagram.changes))


def test_changes_stand_in_the_order_of_their_content() -> None:
    walk = CacheWalk(random.Random(1))
    before = replayed(walk.driver, walk.geometry, walk.options)
    for ids in ([2] * 9, [0] * 9, [1] * 9):
        walk.driver.run(ids)
    after = replayed(walk.driver, walk.geometry, walk.options)
    assert [change.label[0] for change in compared(before, after).changes] == ["0", "1", "2"]


def test_the_largest_changes_are_listed_and_all_are_counted() -> None:
    _, before, after = moments(5)
    whole, cut = compared(before, after), compared(before, after, 2)
    assert len(whole.changes) > 2
    assert len(cut.changes) == 2
    assert cut.sums == whole.sums
    assert {change.tokens for change in cut.changes} <= set(sorted(c.tokens for c in whole.changes)[-2:])
    assert any("most tokens" in note for note in cut.caption.notes)


def test_chains_of_many_short_nodes_are_compared_without_recursion() -> None:
    long, short = chain_state(6_000), chain_state(5_000)
    diagram = compared(short, long)
    assert [(change.what, change.nodes, change.tokens) for change in diagram.changes] == [("appeared", 1_000, 4_000)]


def test_runs_of_other_kinds_are_not_compared() -> None:
    first, second = chat_state(), chat_state()
    assert second.opened is not None
    second.opened = msgspec.structs.replace(second.opened, geometry=FAMILIES["qwen3.5"])
    with pytest.raises(InputError, match=r"v4-flash.*qwen3\.5"):
        compared(first, second)
    second.opened = None
    with pytest.raises(InputError, match="before its log was opened"):
        compared(first, second)


def test_a_kind_that_one_source_does_not_tell_of_is_unknown_there() -> None:
    first, second = chat_state(), chat_state()
    assert second.opened is not None
    second.opened = msgspec.structs.replace(second.opened, num_swa_pages=0)
    second.held["swa"].clear()
    for node in range(len(second.nodes)):
        second.nodes.swa_num[node] = 0
    changed = [rows for change in compared(first, second).changes for rows in change.rows]
    assert {rows.kind for rows in changed} == {"swa_kv", "csa_tail", "index_tail", "hca_tail"}
    assert all(rows.after is None and rows.before is not None for rows in changed)
