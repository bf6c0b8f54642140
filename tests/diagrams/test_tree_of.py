"""Boxes say what the replayed state holds: rows, marks, what can be reached, what leaves next."""

from array import array

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_runs import ByNumber, ExplainedRun
from trees import caption_of, chat_state, walked

from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.tree import Box, TreeDiagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.replay.probe import probe
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import SpanEvicted
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.kinds import Shape, StateKind, owned_rows
from shadowviz_engine.core.replayer import Replayer

seeds = st.integers(0, 2**32)


def picture(state: Replayer, **options: object) -> TreeDiagram:
    return tree_diagram(caption_of(state), state, TreeOptions(**options))  # type: ignore[arg-type]


def resident_rows(state: Replayer, kind: StateKind, node: int) -> int:
    """Rows of a kind that a node holds, counted one by one."""
    runs = state.full_runs(node) if kind.shape is Shape.RANGE else state.swa_runs(node)
    tokens = {token for start, stop, _ in runs for token in range(start, stop)}
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    rows = range(*owned_rows(kind, state.nodes.start[node], state.nodes.stop[node]))
    return sum((row + 1) * unit - 1 in tokens for row in rows)


@settings(max_examples=25)
@given(seeds)
def test_every_living_node_is_a_box_with_the_rows_it_owns_and_holds(seed: int) -> None:
    walk, state = walked(seed)
    diagram = picture(state)
    nodes = state.nodes
    assert sorted(box.node for box in diagram.boxes) == [n for n in range(len(nodes)) if nodes.alive[n]]
    for box in diagram.boxes[1:]:
        span = (nodes.start[box.node], nodes.stop[box.node])
        assert (box.start, box.stop, box.parent) == (*span, nodes.parent[box.node])
        assert (box.locks, box.terminal) == (nodes.locks[box.node], bool(nodes.terminal[box.node]))
        assert box.namespace == state.namespaces.names[nodes.namespace[box.node]]
        for kind, rows in zip(walk.geometry.kinds, box.rows, strict=True):
            expected = (kind.label, owned_rows(kind, *span).size, resident_rows(state, kind, box.node))
            assert (rows.kind, rows.owned, rows.resident) == expected
        assert box.tombstone == (not state.swa_runs(box.node))


@settings(max_examples=40)
@given(seeds)
def test_a_request_that_leaves_at_a_node_reuses_what_its_box_says(seed: int) -> None:
    walk, state = walked(seed)
    for box in picture(state).boxes[1:]:
        ids = [token for node in list(state.nodes.path(box.node))[::-1] for token in state.node_tokens(node)]
        ids.append(9)  # no walk has such a token
        assert probe(state, array("i", ids), box.namespace).reused == box.reachable
        assert walk.driver.manager.probe(array("q", ids), box.namespace).reused == box.reachable


@settings(max_examples=40)
@given(seeds)
def test_the_node_marked_as_next_out_is_the_one_that_the_cache_evicts_next(seed: int) -> None:
    walk, state = walked(seed, policy="lru")
    marked = [box.node for box in picture(state).boxes if box.next_out]
    before = len(walk.driver.events)
    walk.driver.manager.evict(1)
    left = [event.node for event in walk.driver.events[before:] if isinstance(event, SpanEvicted)]
    assert marked == left[:1]


@pytest.mark.parametrize("policy", ["lfu", "fifo"])
def test_no_node_is_marked_as_next_out_where_the_policy_is_not_known(policy: str) -> None:
    diagram = picture(walked(3, policy=policy)[1])
    assert not any(box.next_out for box in diagram.boxes)
    assert any(policy in note for note in diagram.caption.notes)


@settings(max_examples=15)
@given(seeds)
def test_heat_is_the_rank_of_the_last_use(seed: int) -> None:
    _, state = walked(seed)
    boxes = picture(state).boxes[1:]
    uses = sorted({state.nodes.last_used[box.node] for box in boxes})
    for box in boxes:
        rank = uses.index(state.nodes.last_used[box.node])
        assert box.heat == pytest.approx(rank / (len(uses) - 1) if len(uses) > 1 else 1.0)


def box_of(diagram: TreeDiagram, node: int) -> Box:
    return next(box for box in diagram.boxes if box.node == node)


def test_the_path_of_a_request_runs_through_the_nodes_that_hold_its_tokens() -> None:
    state = chat_state()
    request = state.requests.names[-1]
    diagram = picture(state, request=request)
    row = state.requests.index[request]
    tokens = state.request_tokens(row)
    path = [box for box in diagram.boxes if box.on_path]
    assert [box.depth for box in path] == list(range(1, len(path) + 1))
    assert path[-1].stop == len(tokens)
    for box in path:
        assert state.node_tokens(box.node) == tokens[box.start : box.stop]
    assert not any(box.on_path for box in picture(state).boxes)


def test_a_picture_says_how_much_of_a_request_the_tree_holds() -> None:
    state = chat_state()
    request = state.requests.names[-1]
    row = state.requests.index[request]
    diagram = picture(state, request=request)
    assert (diagram.request, diagram.common, diagram.num_prompt) == (request, 1_724, state.requests.num_prompt[row])
    assert (
        f"After this event the tree holds 1,724 of the 1,724 tokens of {request}, what it stored itself included."
        in diagram.caption.notes
    )
    apart = next(box.node for box in diagram.boxes if not box.on_path and box.node)
    beside = picture(state, request=request, root=apart)
    assert not any(box.on_path for box in beside.boxes)
    assert any(f"does not run through node {apart}" in note for note in beside.caption.notes)


@settings(max_examples=15)
@given(seeds)
def test_a_picture_counts_the_pages_that_the_pools_of_the_cache_lack(seed: int) -> None:
    walk, state = walked(seed)
    counts = dict(picture(state).caption.counts)
    cache, options = walk.driver.manager.state, walk.options
    assert counts["full pages"] == f"{options.num_full_pages - len(cache.full.free)} of {options.num_full_pages}"
    assert counts["swa pages"] == f"{options.num_swa_pages - len(cache.swa.free)} of {options.num_swa_pages}"


def test_the_verdict_of_the_request_is_that_of_its_lookup() -> None:
    run = ExplainedRun()
    run.run(range(1_000))
    explanation = run.run([*range(600), *range(2_000, 2_400)])
    state = run.explainer.state
    options = TreeOptions(request=explanation.request)
    diagram = tree_diagram(caption_of(state), state, options, explanation, ByNumber())
    lookup = explanation.lookup
    lengths = (diagram.common, diagram.matched, diagram.usable, diagram.reused, diagram.num_prompt)
    assert lengths == (lookup.common, lookup.matched, lookup.usable, lookup.reused, lookup.num_prompt)
    assert diagram.common == 600
    assert diagram.caption.verdict.startswith(explanation.verdict.label)


def test_a_request_of_another_namespace_has_no_path_through_equal_tokens() -> None:
    state = chat_state()
    other = next(n for n, row in state.requests.index.items() if state.requests.namespace[row])
    assert {box.namespace for box in picture(state, request=other).boxes if box.on_path} == {"tenant-b"}


def test_a_kind_that_no_event_speaks_of_is_unknown_and_not_absent() -> None:
    state = chat_state()
    assert state.opened is not None
    state.opened = msgspec.structs.replace(state.opened, geometry=FAMILIES["qwen3.5"])
    for box in picture(state).boxes[1:]:
        full, *snapshots = box.rows
        assert full.resident == full.owned == box.num_tokens
        assert [(rows.resident, rows.origin) for rows in snapshots] == [(None, Origin.ASSUMED)] * len(snapshots)
        assert box.reachable is None
        assert not box.tombstone


def test_window_rows_are_unknown_where_the_run_has_no_window_pool() -> None:
    state = chat_state()
    assert state.opened is not None
    state.opened = msgspec.structs.replace(state.opened, num_swa_pages=0)
    state.held["swa"].clear()
    for node in range(len(state.nodes)):
        state.nodes.swa_num[node] = 0
    boxes = picture(state).boxes[1:]
    for box in boxes:
        known = {rows.kind: rows.resident is not None for rows in box.rows}
        assert known == {rows.kind: rows.kind in ("csa_kv", "index_k", "hca_kv") for rows in box.rows}
        assert (box.tombstone, box.reachable) == (False, None)


def test_a_root_that_is_not_in_the_tree_is_refused() -> None:
    state = chat_state()
    with pytest.raises(InputError, match="no node 10000"):
        picture(state, root=10_000)
    state.nodes.alive[3] = 0
    with pytest.raises(InputError, match="node 3 is not in the tree"):
        picture(state, root=3)


def test_a_request_that_was_never_submitted_is_refused() -> None:
    with pytest.raises(InputError, match="no request"):
        picture(chat_state(), request="r\x1b[31m")


def test_a_state_without_a_log_is_refused() -> None:
    state = chat_state()
    caption = caption_of(state)
    state.opened = None
    with pytest.raises(LogError, match="LogOpened"):
        tree_diagram(caption, state)


def test_an_empty_tree_is_its_root_alone() -> None:
    state = Replayer()
    state.opened = chat_state().opened
    diagram = picture(state)
    assert [box.label for box in diagram.boxes] == ["root"]
    assert (diagram.caption.shown, diagram.caption.total) == (0, 0)


def test_events_go_on_after_a_picture_was_made() -> None:
    walk, state = walked(11)
    picture(state)
    applied = len(walk.driver.events)
    for _ in range(20):
        walk.step()
    for event in walk.driver.events[applied:]:
        state.apply(event)
    assert state.digest() == walk.driver.digest()
