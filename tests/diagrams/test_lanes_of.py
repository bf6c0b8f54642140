"""Lanes of the ruler hold every row once, and say of each what is true."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.diagrams.lanes import Bar
from shadowviz.diagrams.lanes_of import MAX_SINGLE, lanes_of
from shadowviz_engine.core.kinds import Shape, needed_rows, owned_rows, read_tokens
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent, merge

NAMES = ("article", "v4-flash", "recall", "qwen3.5")


@given(
    name=st.sampled_from(NAMES),
    lengths=st.lists(st.integers(0, 900), min_size=3, max_size=3).map(sorted),
    cut=st.integers(0, 900),
    there=st.none() | st.lists(st.tuples(st.integers(0, 900), st.integers(1, 90)), max_size=6),
)
def test_bars_tile_the_rows_of_the_span_and_say_what_each_row_is(
    name: str, lengths: list[int], cut: int, there: list[tuple[int, int]] | None
) -> None:
    geometry = preset(name)
    start, stop, length = lengths
    span = Extent(start, stop)
    cut = min(cut, length)
    rows_there = None if there is None else tuple(merge(Extent(at, at + size) for at, size in there))
    resident = None if rows_there is None else {kind.label: rows_there for kind in geometry.kinds}
    for kind, lane in zip(geometry.kinds, lanes_of(geometry, span, length, cut, resident), strict=True):
        assert (lane.kind, lane.layers) == (kind.label, kind.owners)
        if kind.shape in (Shape.POINT, Shape.KEY):
            continue
        unit = kind.unit if kind.shape is Shape.RANGE else 1
        shown = {
            row for row in range(*owned_rows(kind, 0, length)) if Extent(row * unit, row * unit + unit).intersect(span)
        }
        closed = [bar for bar in lane.bars if not bar.open]
        rows = [row for bar in closed for row in range(*bar.rows)]
        assert rows == sorted(shown)
        needed = needed_rows(kind, cut)
        for bar in closed:
            assert bar.tokens == Extent(bar.rows.start * unit, bar.rows.stop * unit)
            assert bar.reads == read_tokens(kind, bar.rows)
            for row in range(*bar.rows):
                assert bar.needed == (needed.start <= row < needed.stop)
                known = None if rows_there is None else any(e.start <= row < e.stop for e in rows_there)
                assert bar.resident is known


@given(length=st.integers(1, 5_000), single=st.booleans())
def test_rows_have_a_bar_each_until_there_are_too_many(length: int, single: bool) -> None:
    geometry = preset("v4-flash")
    lane = lanes_of(geometry, Extent(0, length), length, 0)[0]
    closed = [bar for bar in lane.bars if not bar.open]
    num_rows = length // 4
    assert len(closed) == (num_rows if num_rows <= MAX_SINGLE else 1)


def test_the_articles_42_tokens_have_one_entry_and_ten_open_tokens() -> None:
    lanes = {lane.kind: lane for lane in lanes_of(preset("article"), Extent(0, 42), 42, 42)}
    assert lanes["csa_kv"].bars == (
        Bar(rows=Extent(0, 1), tokens=Extent(0, 32), reads=Extent(0, 32), needed=True),
        Bar(rows=Extent(1, 2), tokens=Extent(32, 42), reads=Extent(32, 42), needed=False, open=True),
    )
    assert [bar.open for bar in lanes["hca_kv"].bars] == [True]
    assert [bar.needed for bar in lanes["swa_kv"].bars] == [True]


def test_an_entry_with_overlap_is_made_from_the_window_before_too() -> None:
    lane = lanes_of(preset("v4-flash"), Extent(4_092, 4_099), 4_099, 4_096)[0]
    assert [(bar.rows.start, bar.tokens, bar.reads, bar.needed) for bar in lane.bars] == [
        (1_023, Extent(4_092, 4_096), Extent(4_088, 4_096), True),
        (1_024, Extent(4_096, 4_099), Extent(4_092, 4_099), False),
    ]


def test_snapshots_stand_at_the_points_of_their_grid_and_nobody_says_which_were_kept() -> None:
    geometry = preset("qwen3.5")
    rows = {kind.label: (Extent(0, 1_000),) for kind in geometry.kinds if kind.shape is not Shape.POINT}
    lanes = {lane.kind: lane for lane in lanes_of(geometry, Extent(64, 256), 300, 192, rows)}
    bars = lanes["delta_state"].bars
    assert [(bar.reads.stop, bar.needed, bar.resident) for bar in bars] == [
        (128, False, None),
        (192, True, None),
        (256, False, None),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_span_has_lanes_without_bars(name: str) -> None:
    assert all(not lane.bars for lane in lanes_of(preset(name), Extent(10, 10), 10, 0))


def test_a_million_tokens_are_a_few_bars() -> None:
    length = 1 << 20
    lanes = lanes_of(preset("v4-pro"), Extent(0, length), length, length - 256)
    assert sum(len(lane.bars) for lane in lanes) < 40
