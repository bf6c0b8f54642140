"""Places of boxes: none shared, none crossed, however the tree grows."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shadowviz.diagrams.tree import Box, Stub
from shadowviz.exporters.tidy import Places, place


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Box], list[Stub]]:
    """Boxes in pre-order, and stubs of some of them."""
    num = draw(st.integers(1, 40))
    path, boxes = [0], [Box(node=0, parent=0, depth=0, start=0, stop=0)]
    for node in range(1, num):
        path = path[: draw(st.integers(1, len(path)))]
        boxes.append(Box(node=node, parent=path[-1], depth=len(path), start=0, stop=1))
        path.append(node)
    return boxes, [Stub(node, 3, 9) for node in draw(st.sets(st.integers(0, num - 1)))]


@given(trees())
def test_nothing_shares_a_place(tree: tuple[list[Box], list[Stub]]) -> None:
    places = place(*tree)
    taken = [*zip(places.columns, places.rows, strict=True), *zip(places.stub_columns, places.stub_rows, strict=True)]
    assert len(set(taken)) == len(taken) == len(tree[0]) + len(tree[1])
    assert max(column for column, _ in taken) == places.num_columns - 1
    assert max(row for _, row in taken) == places.num_rows - 1


@given(trees())
def test_what_hangs_from_a_box_stands_right_of_it_in_order_and_never_above_it(
    tree: tuple[list[Box], list[Stub]],
) -> None:
    places = place(*tree)
    for parent, below in _below(places).items():
        columns, rows = zip(*below, strict=True)
        assert set(columns) == {places.columns[parent] + 1}
        assert rows[0] >= places.rows[parent]
        assert list(rows) == sorted(rows)


@given(trees())
def test_no_edge_crosses_another(tree: tuple[list[Box], list[Stub]]) -> None:
    places = place(*tree)
    lines: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for parent, below in _below(places).items():
        lines[places.columns[parent]].append((places.rows[parent], max(row for _, row in below)))
    for spans in lines.values():
        spans.sort()
        assert all(before[1] < after[0] for before, after in pairwise(spans))


def test_a_branch_moves_up_beside_a_shallow_one() -> None:
    edges = ((0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 0))
    boxes = [Box(node=node, parent=parent, depth=0, start=0, stop=1) for node, parent in edges]
    assert list(place(boxes).rows) == [0, 0, 0, 0, 1, 1]


def test_a_child_that_finds_its_place_taken_goes_below_its_parent() -> None:
    edges = ((0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (6, 0), (7, 6), (8, 7), (9, 8))
    boxes = [Box(node=node, parent=parent, depth=0, start=0, stop=1) for node, parent in edges]
    assert list(place(boxes).rows) == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]


def test_a_chain_of_any_length_is_one_row() -> None:
    boxes = [Box(node=node, parent=max(0, node - 1), depth=node, start=node, stop=node + 1) for node in range(20_000)]
    places = place(boxes, [Stub(19_999, 1, 1)])
    assert (places.num_rows, places.num_columns) == (1, 20_001)


def test_a_stub_whose_box_is_not_shown_has_a_place_too() -> None:
    places = place([Box(node=5, parent=2, depth=0, start=0, stop=1)], [Stub(2, 4, 7)])
    assert (places.stub_columns[0], places.stub_rows[0], places.stub_parents[0]) == (0, 1, -1)


def _below(places: Places) -> dict[int, list[tuple[int, int]]]:
    """Places of what hangs from each box, in order."""
    below: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, parent in enumerate(places.parents):
        if parent >= 0:
            below[parent].append((places.columns[index], places.rows[index]))
    for index, parent in enumerate(places.stub_parents):
        if parent >= 0:
            below[parent].append((places.stub_columns[index], places.stub_rows[index]))
    return below
