"""The rows each shape needs and owns, against a model that runs token by token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.kinds import Scope, Shape, StateKind, needed_rows, owned_rows, read_tokens, resumed_tokens
from shadowviz_engine.core.spans import EMPTY, Extent

RATIOS, LENGTHS = st.integers(1, 40), st.integers(0, 200)


def rows_of(extent: Extent) -> set[int]:
    """The rows of an extent, one by one."""
    return set(range(extent.start, extent.stop))


def compress(num_tokens: int, ratio: int, overlap: int) -> list[tuple[int, set[int]]]:
    """Closing token and tokens read of every entry, by feeding tokens one at a time."""
    entries: list[tuple[int, set[int]]] = []
    window: list[int] = []
    last_window: list[int] = []
    for token in range(num_tokens):
        window.append(token)
        if len(window) == ratio:
            carried = last_window[len(last_window) - overlap :] if last_window and overlap else []
            entries.append((token, {*carried, *window}))
            last_window, window = window, []
    return entries


@given(RATIOS, st.booleans(), LENGTHS)
def test_a_range_needs_the_entries_closed_so_far(ratio: int, overlapping: bool, length: int) -> None:
    kind = StateKind(label="kv", shape=Shape.RANGE, unit=ratio, overlap=ratio * overlapping)
    closed = compress(length, ratio, kind.overlap)
    assert rows_of(needed_rows(kind, length)) == set(range(len(closed)))
    assert rows_of(resumed_tokens(kind, length)) == set().union(*(read for _, read in closed))


@given(RATIOS, st.integers(0, 40), LENGTHS)
def test_an_open_window_needs_the_raw_rows_that_later_entries_read(ratio: int, overlap: int, length: int) -> None:
    overlap = min(overlap, ratio)
    kind = StateKind(label="tail", shape=Shape.OPEN, ratio=ratio, overlap=overlap)
    later = [read for closing, read in compress(length + 3 * ratio, ratio, overlap) if closing >= length]
    assert rows_of(needed_rows(kind, length)) == {t for read in later for t in read if t < length}


@given(st.integers(1, 60), LENGTHS)
def test_a_window_needs_the_tokens_that_later_queries_see(n_win: int, length: int) -> None:
    kind = StateKind(label="swa_kv", shape=Shape.WINDOW, need=n_win - 1)
    seen = {t for query in range(length, length + 5) for t in range(query - n_win + 1, query + 1)}
    assert rows_of(needed_rows(kind, length)) == {t for t in seen if 0 <= t < length}


@given(st.integers(1, 60), LENGTHS)
def test_a_chunked_window_needs_the_tokens_of_the_chunk_of_the_next_query(chunk: int, length: int) -> None:
    kind = StateKind(label="chunk_kv", shape=Shape.WINDOW, chunk=chunk)
    assert rows_of(needed_rows(kind, length)) == {t for t in range(length) if t // chunk == length // chunk}


@given(RATIOS, st.booleans(), LENGTHS, LENGTHS)
def test_a_span_owns_the_entries_that_its_tokens_close(ratio: int, overlapping: bool, one: int, other: int) -> None:
    start, stop = sorted((one, other))
    kind = StateKind(label="kv", shape=Shape.RANGE, unit=ratio, overlap=ratio * overlapping)
    owned = owned_rows(kind, start, stop)
    entries = compress(stop, ratio, kind.overlap)
    inside = {i for i, (closing, _) in enumerate(entries) if start <= closing}
    assert rows_of(owned) == inside
    assert rows_of(read_tokens(kind, owned)) == set().union(*(entries[i][1] for i in inside))


@given(RATIOS, LENGTHS, LENGTHS)
def test_a_span_owns_the_snapshots_that_its_tokens_complete(grid: int, one: int, other: int) -> None:
    start, stop = sorted((one, other))
    kind = StateKind(label="state", shape=Shape.POINT, grid=grid)
    snapshots = [length for length in range(1, stop + 1) if length % grid == 0]
    owned = owned_rows(kind, start, stop)
    assert [snapshots[row] for row in sorted(rows_of(owned))] == [length for length in snapshots if length > start]
    if owned:
        assert read_tokens(kind, owned) == Extent(0, snapshots[owned.stop - 1])


def test_a_snapshot_is_needed_at_the_very_length_and_holds_all_before_it() -> None:
    kind = StateKind(label="state", shape=Shape.POINT, grid=64)
    assert needed_rows(kind, 1000) == Extent(1000, 1001)
    assert resumed_tokens(kind, 1000) == Extent(0, 1000)


def test_a_key_looks_back_at_ids_and_owns_no_rows() -> None:
    kind = StateKind(label="ids", shape=Shape.KEY, need=3)
    assert needed_rows(kind, 10) == resumed_tokens(kind, 10) == Extent(7, 10)
    assert needed_rows(kind, 2) == Extent(0, 2)
    assert owned_rows(kind, 0, 10) == EMPTY


@pytest.mark.parametrize("shape", list(Shape))
def test_nothing_is_needed_before_the_first_token(shape: Shape) -> None:
    kind = StateKind(label="any", shape=shape, need=5, ratio=4, overlap=4)
    assert needed_rows(kind, 0) == EMPTY
    assert resumed_tokens(kind, 0) == EMPTY


@pytest.mark.parametrize(
    ("field", "value", "shape"),
    [
        ("unit", 0, Shape.RANGE),
        ("grid", 0, Shape.POINT),
        ("ratio", 0, Shape.OPEN),
        ("overlap", -1, Shape.OPEN),
        ("need", -1, Shape.WINDOW),
        ("page_need", -1, Shape.WINDOW),
        ("chunk", -1, Shape.WINDOW),
        ("row_bytes", -1, Shape.RANGE),
        ("replay", -1, Shape.WINDOW),
        ("recompute", -1, Shape.WINDOW),
    ],
)
def test_a_size_that_makes_no_sense_is_refused_by_name(field: str, value: int, shape: Shape) -> None:
    with pytest.raises(GeometryError, match=f"{field} {value} of kind kv"):
        StateKind(**{"label": "kv", "shape": shape, "ratio": 4} | {field: value})


def test_a_kind_that_follows_must_say_which() -> None:
    with pytest.raises(GeometryError, match="does not name it"):
        StateKind(label="tail", shape=Shape.OPEN, ratio=4, scope=Scope.FOLLOWS)
