"""The ruler's cells, beside a twin that looks at every single token, and beside the exported ruler."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walked_logs import LoggedWalk, write_log

from shadowviz.diagrams.lanes_of import lanes_of
from shadowviz.tui.frame import Selection
from shadowviz.tui.models.ruler_model import CellState, RulerLane, RulerModel
from shadowviz.tui.models.ruler_place import SPELLED, ZOOMS, RulerPlace
from shadowviz.tui.models.ruler_subject import subject_of
from shadowviz.tui.session import Session
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows, owned_rows
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.snapshot import unpack_ids
from shadowviz_engine.core.spans import Extent, merge

GEOMETRIES = ("tiny", "v4-flash", "deepseek-v4.1", "kimi-linear", "llama4")
LENGTHS = st.integers(0, 700)


@st.composite
def rulers(draw):
    """A geometry, a length, a cut, and rows that are there or of which nothing is known."""
    geometry = preset(draw(st.sampled_from(GEOMETRIES)))
    length = draw(LENGTHS)
    extents = st.lists(st.tuples(LENGTHS, st.integers(0, 300)), max_size=4)
    resident = {
        kind.label: draw(st.none() | extents.map(lambda ones: tuple(merge(Extent(a, a + size) for a, size in ones))))
        for kind in geometry.kinds
        if kind.shape not in (Shape.POINT, Shape.KEY)
    }
    return geometry, length, draw(st.integers(0, length)), resident


def state_by_tokens(kind: StateKind, length: int, cut: int, rows: tuple[Extent, ...] | None, tokens: range) -> str:
    """The cell of `tokens`, from what is true of each of them."""
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    owned, needed = owned_rows(kind, 0, length), needed_rows(kind, cut)
    inside = [token for token in tokens if token < length]
    has_row = [token for token in inside if owned.start <= token // unit < owned.stop]
    read = [token for token in inside if needed.start <= token // unit < needed.stop]
    there = [token for token in has_row if any(row.start <= token // unit < row.stop for row in rows or ())]
    is_open = kind.shape is Shape.RANGE and any(token not in has_row for token in inside)
    if rows is None:
        return "unknown" if has_row or read else "open" if is_open else "nothing"
    if read:
        missing = set(read) - set(there)
        return "missing" if missing == set(read) else "in part" if missing else "held"
    if there:
        return "spare" if set(has_row) <= set(there) else "some spare"
    return "gone" if has_row else "open" if is_open else "nothing"


@given(ruler=rulers(), first=LENGTHS, zoom=st.sampled_from((1, 3, *ZOOMS)))
@settings(max_examples=150, deadline=None)
def test_every_cell_is_what_its_tokens_say(ruler, first, zoom):
    geometry, length, cut, resident = ruler
    model = RulerModel(geometry, length, cut, resident)
    num_cells = 40
    for lane in model.lanes:
        if lane.kind.shape in (Shape.POINT, Shape.KEY):
            continue
        cells = lane.cells(model.edges(first, zoom, num_cells))
        rows = resident.get(lane.kind.label)
        expected = [
            state_by_tokens(lane.kind, length, cut, rows, range(at, min(at + zoom, length + 1)))
            for at in range(first, first + zoom * num_cells, zoom)
        ]
        assert [str(cell) for cell in cells] == expected, lane.kind.label


@given(ruler=rulers())
@settings(max_examples=60, deadline=None)
def test_the_terminal_says_of_each_row_what_the_exported_ruler_says(ruler):
    geometry, length, cut, resident = ruler
    model = RulerModel(geometry, length, cut, resident)
    there = {
        CellState.HELD: (True, True),
        CellState.SPARE: (False, True),
        CellState.MISSING: (True, False),
        CellState.ABSENT: (False, False),
    }
    drawn = {lane.kind: lane for lane in lanes_of(geometry, Extent(0, length), length, cut, resident)}
    for lane in model.lanes:
        if lane.kind.shape in (Shape.POINT, Shape.KEY):
            continue
        cells = lane.cells(model.edges(0, 1, length)) if length else []
        for bar in drawn[lane.kind.label].bars:
            for token in range(bar.tokens.start, min(bar.tokens.stop, length)):
                if bar.open:
                    assert cells[token] is CellState.OPEN
                elif bar.resident is None:
                    assert cells[token] is CellState.UNKNOWN
                else:
                    assert there[cells[token]] == (bar.needed, bar.resident)
            if lane.kind.shape is Shape.RANGE and bar.rows.size == 1 and not bar.open:
                assert (lane.own(bar.rows.start), lane.reads(bar.rows.start)) == (bar.tokens, bar.reads)


@given(ruler=rulers())
@settings(max_examples=100, deadline=None)
def test_a_cut_is_possible_unless_a_row_that_it_reads_is_known_to_be_missing(ruler):
    geometry, length, cut, resident = ruler
    is_short = False
    for kind in geometry.kinds:
        rows = resident.get(kind.label)
        if rows is not None and kind.gates:
            there = {row for extent in rows for row in range(extent.start, extent.stop)}
            is_short |= not set(range(*needed_rows(kind, cut))) <= there
    assert RulerModel(geometry, length, cut, resident).is_possible == (not is_short)
    assert RulerModel(geometry, length, cut).is_possible


@given(ruler=rulers(), token=LENGTHS, step=st.sampled_from((-1, 1)), place=st.integers(0, 6))
@settings(max_examples=100, deadline=None)
def test_a_boundary_is_the_next_end_of_a_row_or_a_mark(ruler, token, step, place):
    geometry, length, cut, resident = ruler
    model = RulerModel(geometry, length, cut, resident)
    token = min(token, length)
    lane: RulerLane = model.lanes[place % len(model.lanes)]
    unit = lane.unit if lane.unit > 1 else geometry.page_size
    stops = {stop for stop in range(length + 1) if stop % unit == 0} | {0, length, cut, min(7, length)}
    ahead = [stop for stop in stops if (stop > token if step > 0 else stop < token)]
    expected = token if not ahead else min(ahead) if step > 0 else max(ahead)
    assert model.boundary(token, step, lane, [min(7, length)]) == expected


@given(
    length=st.integers(0, 2**20),
    moves=st.lists(st.tuples(st.sampled_from(("to", "centre", "zoom")), st.integers(0, 2**20)), max_size=12),
    width=st.integers(1, 200),
)
@settings(max_examples=200, deadline=None)
def test_the_cursor_is_always_seen(length, moves, width):
    place = RulerPlace()
    for what, amount in moves:
        if what in ("to", "centre"):
            (place.move if what == "to" else place.centre)(amount, length, width)
            assert place.token == min(amount, length)
        else:
            token = place.token
            place.rescale(1 if amount % 2 else -1, length, width)
            assert place.token == token
        column = (place.token - place.first) // place.per_cell
        assert 0 <= column < place.num_cells(width)
        assert place.first % place.per_cell == 0
        assert place.zoom in (SPELLED, *ZOOMS)


@pytest.mark.parametrize("zoom", ZOOMS)
def test_of_a_million_tokens_any_cells_can_be_asked_at_any_zoom(zoom):
    geometry, length = preset("v4-flash"), 2**20
    cut = length - length % geometry.page_size - geometry.page_size
    there = {kind.label: (Extent(0, length),) for kind in geometry.kinds}
    model = RulerModel(geometry, length, cut, there)
    first = max(0, cut - 40 * zoom) // zoom * zoom
    for lane in model.lanes:
        cells = lane.cells(model.edges(first, zoom, 80))
        at_cut = (cut - first) // zoom
        if lane.kind.shape is Shape.RANGE:
            assert set(cells[:at_cut]) == {CellState.HELD}
        assert set(cells[at_cut + 1 :]) <= {CellState.SPARE, CellState.EMPTY}


def test_a_lost_window_is_named_with_the_tokens_that_are_missing():
    geometry = preset("v4-flash")
    window = geometry.kind("swa_kv").label
    resident = {kind.label: (Extent(0, 4096),) for kind in geometry.kinds} | {window: (Extent(0, 3900),)}
    model = RulerModel(geometry, 4096, 4096, resident)
    blocking = {found.kind: found for found in model.blocking()}
    assert blocking[window].needed == Extent(3969, 4096)
    assert blocking[window].missing == (Extent(3969, 4096),)
    assert blocking["csa_kv"].missing == ()
    assert {found.kind: found for found in model.with_cut(3900).blocking()}[window].missing == ()


def test_the_ruler_of_a_node_is_about_the_tokens_of_its_path(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", LoggedWalk(3, 120).events()))
    session.settle()
    expected: dict[int, list[int]] = {0: []}
    for node in sorted(session.state.node_states(), key=lambda node: node.start):
        expected[node.node] = [*expected[node.parent], *unpack_ids(node.tokens)]
        subject = subject_of(session, Selection(node=node.node))
        assert subject is not None
        assert list(subject.tokens or ()) == expected[node.node]
    assert len(expected) > 5
    session.close()
