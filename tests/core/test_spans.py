"""Extents as sets of positions."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.spans import EMPTY, Extent, LogicalSpan, merge, subtract, total

EXTENTS = st.builds(Extent, st.integers(0, 40), st.integers(0, 40))


def positions(*extents: Extent) -> set[int]:
    """Every position, counted one by one."""
    return {p for extent in extents for p in range(60) if extent.start <= p < extent.stop}


@given(st.lists(EXTENTS))
def test_merging_keeps_the_positions_sorted_and_apart(extents: list[Extent]) -> None:
    merged = merge(extents)
    assert positions(*merged) == positions(*extents)
    assert all(left.stop < right.start for left, right in pairwise(merged))
    assert all(merged)
    assert total(merged) == len(positions(*extents))


@given(st.lists(EXTENTS), EXTENTS)
def test_subtracting_a_hole_takes_exactly_its_positions(extents: list[Extent], hole: Extent) -> None:
    left = subtract(merge(extents), hole)
    assert positions(*left) == positions(*extents) - positions(hole)
    assert left == merge(left)


@given(EXTENTS, EXTENTS)
def test_an_intersection_holds_what_both_hold(left: Extent, right: Extent) -> None:
    both = left.intersect(right)
    assert positions(both) == positions(left) & positions(right)
    assert bool(both) == bool(positions(left) & positions(right))
    assert both or both is EMPTY


@given(EXTENTS)
def test_the_size_of_an_extent_counts_its_positions(extent: Extent) -> None:
    assert extent.size == len(positions(extent))
    assert bool(extent) == (extent.size > 0)


def test_an_extent_prints_as_a_half_open_range() -> None:
    assert str(Extent(873, 1000)) == "[873,1000)"


def test_a_span_ends_after_its_last_token() -> None:
    assert LogicalSpan(node=3, start=512, length=127).stop == 639
