"""What is shown of a tree: parents before children, nothing lost behind stubs, the path always there."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import caption_of, chain_state, chat_state, walked, wide_state

from shadowviz.diagrams import collapse as collapse_module
from shadowviz.diagrams import columns as columns_module
from shadowviz.diagrams.collapse import COLLAPSE_ABOVE, MAX_BOXES, TreeOptions
from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz_engine.core.replayer import Replayer


def picture(state: Replayer, options: TreeOptions) -> TreeDiagram:
    return tree_diagram(caption_of(state), state, options)


def check_whole(state: Replayer, diagram: TreeDiagram, root: int = 0) -> None:
    """Boxes and stubs together are the subtree of the root; parents come first and siblings in one order."""
    seen: set[int] = set()
    for box in diagram.boxes:
        assert box.parent in seen or box.node == root
        seen.add(box.node)
    below = [n for n in range(1, len(state.nodes)) if state.nodes.alive[n] and is_below(state, n, root)]
    stubs = diagram.stubs
    assert all(stub.parent in seen and stub.nodes > 0 for stub in stubs)
    assert len(seen - {0}) + sum(stub.nodes for stub in stubs) == len(below)
    tokens = sum(box.num_tokens for box in diagram.boxes) + sum(stub.tokens for stub in stubs)
    assert tokens == sum(state.nodes.stop[n] - state.nodes.start[n] for n in below)
    assert diagram.caption.shown == len(seen - {0})


def is_below(state: Replayer, node: int, root: int) -> bool:
    return root == 0 or root in state.nodes.path(node)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_boxes_and_stubs_together_are_the_tree_whatever_is_asked_for(seed: int) -> None:
    _, state = walked(seed)
    rng = random.Random(seed)
    living = [n for n in range(len(state.nodes)) if state.nodes.alive[n]]
    options = TreeOptions(
        root=rng.choice([0, rng.choice(living)]),
        depth=rng.choice([None, 0, 1, 2]),
        min_tokens=rng.choice([0, 10, 40]),
        request=rng.choice(["", rng.choice(state.requests.names)]),
        collapse=rng.choice([None, True, False]),
        max_boxes=rng.choice([1, 3, 500]),
    )
    diagram = picture(state, options)
    check_whole(state, diagram, options.root)
    for box in diagram.boxes[1:]:
        if not box.on_path:
            assert options.depth is None or box.depth <= options.depth
            beneath = [n for n in living if n and is_below(state, n, box.node)]
            assert sum(state.nodes.stop[n] - state.nodes.start[n] for n in beneath) >= options.min_tokens
    if options.collapse:
        assert sum(not box.on_path for box in diagram.boxes[1:]) <= options.max_boxes
    if options.request and options.root == 0:
        whole = {box.node for box in picture(state, TreeOptions(request=options.request)).boxes if box.on_path}
        assert whole == {box.node for box in diagram.boxes if box.on_path}


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_siblings_stand_in_the_order_of_their_content(seed: int) -> None:
    _, state = walked(seed)
    places: dict[int, list[tuple[str, int]]] = {}
    for box in picture(state, TreeOptions()).boxes[1:]:
        places.setdefault(box.parent, []).append((box.namespace, state.node_tokens(box.node)[0]))
    for siblings in places.values():
        assert all(a <= b for a, b in pairwise(siblings))


def test_a_collapsed_picture_shows_the_largest_nodes_of_each_level() -> None:
    state = wide_state(3_000)
    diagram = picture(state, TreeOptions(collapse=True))
    check_whole(state, diagram)
    tokens = TreeColumns(state).subtree[1]
    assert MAX_BOXES / 4 < len(diagram.boxes) <= MAX_BOXES + 1
    for depth in range(1, max(box.depth for box in diagram.boxes)):
        level = [box for box in diagram.boxes if box.depth == depth]
        parents = {box.node for box in diagram.boxes if box.depth == depth - 1}
        shown = {box.node for box in level}
        hidden = [n for n in range(1, len(state.nodes)) if state.nodes.parent[n] in parents and n not in shown]
        smallest = min(tokens[box.node] for box in level)
        assert all(tokens[node] <= smallest for node in hidden)
    assert any("largest" in note for note in diagram.caption.notes)


@pytest.mark.parametrize("most", [2, MAX_BOXES])
def test_a_picture_says_that_it_was_collapsed_only_where_something_is_left_out(most: int) -> None:
    diagram = picture(chat_state(), TreeOptions(collapse=True, max_boxes=most))
    told = any("largest nodes" in note for note in diagram.caption.notes)
    assert told == bool(diagram.stubs) == (most == 2)


def test_a_tree_is_collapsed_by_itself_only_above_the_limit(long_form: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = COLLAPSE_ABOVE if long_form else 1_000
    monkeypatch.setattr(collapse_module, "COLLAPSE_ABOVE", limit)
    assert len(picture(wide_state(limit), TreeOptions()).boxes) == limit + 1
    over = picture(wide_state(limit + 1), TreeOptions())
    assert over.caption.shown <= MAX_BOXES
    assert over.caption.total == limit + 1


def test_a_path_deeper_than_the_picture_is_shown_to_its_end() -> None:
    state = chain_state(2_000)
    diagram = picture(state, TreeOptions(collapse=True, max_boxes=10, request="r1"))
    assert [box.depth for box in diagram.boxes] == list(range(2_001))
    assert not diagram.stubs


def test_a_chain_of_twenty_thousand_nodes_is_drawn_whole_or_collapsed() -> None:
    state = chain_state(20_000)
    assert len(picture(state, TreeOptions()).boxes) == 20_001
    short = picture(state, TreeOptions(collapse=True))
    assert len(short.boxes) == MAX_BOXES + 1
    assert [(stub.nodes, stub.parent) for stub in short.stubs] == [(20_000 - MAX_BOXES, MAX_BOXES)]


@pytest.mark.parametrize("state", [chain_state(300), wide_state(500)], ids=["chain", "wide"])
def test_sums_by_level_and_node_by_node_agree(state: Replayer, monkeypatch: pytest.MonkeyPatch) -> None:
    by_level = TreeColumns(state).subtree
    monkeypatch.setattr(columns_module, "MAX_LEVELS", 0)
    one_by_one = TreeColumns(state).subtree
    assert all(np.array_equal(a, b) for a, b in zip(by_level, one_by_one, strict=True))
    total = sum(state.nodes.stop[n] - state.nodes.start[n] for n in range(1, len(state.nodes)))
    assert (by_level[0][0], by_level[1][0]) == (len(state.nodes) - 1, total)


def test_the_same_state_gives_the_same_picture() -> None:
    assert picture(chat_state(), TreeOptions()) == picture(chat_state(), TreeOptions())
    assert picture(wide_state(900), TreeOptions(collapse=True)) == picture(wide_state(900), TreeOptions(collapse=True))


def test_a_million_nodes_collapse(long_form: bool) -> None:
    num_nodes = 1_000_000 if long_form else 100_000
    diagram = picture(wide_state(num_nodes), TreeOptions())
    assert diagram.caption.total == num_nodes
    shown = len(diagram.boxes) - 1 + sum(stub.nodes for stub in diagram.stubs)
    assert shown == num_nodes


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_nothing_below_a_folded_node_is_shown_and_all_of_it_is_counted(seed: int) -> None:
    _, state = walked(seed)
    rng = random.Random(seed)
    living = [n for n in range(1, len(state.nodes)) if state.nodes.alive[n]]
    folded = tuple(rng.sample(living, min(len(living), rng.randint(0, 4))))
    options = TreeOptions(
        folded=(*folded, len(state.nodes) + 7),
        request=rng.choice(["", rng.choice(state.requests.names)]),
        collapse=rng.choice([None, True, False]),
    )
    diagram = picture(state, options)
    check_whole(state, diagram)
    shown = {box.node for box in diagram.boxes}
    hidden = {n for n in living if (set(state.nodes.path(n)) - {n}) & set(folded)}
    assert not shown & hidden
    assert hidden | shown - {0} == set(living) or options.collapse
