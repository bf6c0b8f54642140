"""What a span owns and a resume needs, for whole geometries, against a model that runs token by token."""

from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.derive import derive, resume_state, retained_tokens, row_figures
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Compressor, Geometry, LayerSchedule, hybrid_geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.presets import PRESETS, preset
from shadowviz_engine.core.spans import Extent

LENGTHS = st.integers(0, 260)
SPANS = st.tuples(LENGTHS, LENGTHS).map(sorted)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Two compressors of any ratios, the first with or without overlap, and any window."""
    fine = Compressor("csa", draw(st.integers(1, 13)), overlap=draw(st.booleans()), indexed=True)
    coarse = Compressor("hca", draw(st.integers(1, 37)), overlap=draw(st.booleans()))
    page = lcm(fine.ratio, coarse.ratio) * draw(st.integers(1, 3))
    schedule = LayerSchedule(("", "csa", "hca"))
    return hybrid_geometry("random", page, draw(st.integers(1, 60)), (fine, coarse), schedule, 1)


class Model:
    """Runs tokens one at a time and notes what each step reads and closes."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.compressors = {c.name: c for c in geometry.compressors}
        self.windows: dict[str, list[int]] = {name: [] for name in self.compressors}
        self.before: dict[str, list[int]] = {name: [] for name in self.compressors}
        self.entries: dict[str, list[int]] = {name: [] for name in self.compressors}
        self.raw_reads: dict[str, list[tuple[int, set[int]]]] = {name: [] for name in self.compressors}
        self.window_reads: list[set[int]] = []

    def run(self, num_tokens: int) -> "Model":
        """Feed tokens up to `num_tokens`."""
        for token in range(num_tokens):
            self.window_reads.append({t for t in range(token + 1) if token - t < self.geometry.n_win})
            for name, compressor in self.compressors.items():
                self.windows[name].append(token)
                if len(self.windows[name]) == compressor.ratio:
                    self._close(name, token)
        return self

    def _close(self, name: str, token: int) -> None:
        read = set(self.windows[name])
        if self.compressors[name].overlap:
            read |= set(self.before[name])
        self.entries[name].append(token)
        self.raw_reads[name].append((token, read))
        self.before[name], self.windows[name] = self.windows[name], []


def rows_by_kind(descriptors: tuple) -> dict[str, set[int]]:
    """Rows of each descriptor, one by one."""
    return {d.kind: set(range(d.rows.start, d.rows.stop)) for d in descriptors}


@given(geometries(), LENGTHS)
def test_a_resume_needs_exactly_what_the_tokens_after_it_read(geometry: Geometry, length: int) -> None:
    model = Model(geometry).run(length + 80)
    rows = rows_by_kind(resume_state(geometry, length))
    seen = set().union(*model.window_reads[length:])
    assert rows["swa_kv"] == {t for t in seen if t < length}
    for name in ("csa", "hca"):
        assert rows[f"{name}_kv"] == {i for i, closing in enumerate(model.entries[name]) if closing < length}
        raw = {t for closing, read in model.raw_reads[name] if closing >= length for t in read}
        assert rows[f"{name}_tail"] == {t for t in raw if t < length}
    assert rows["index_k"] == rows["csa_kv"]
    assert rows["index_tail"] == rows["csa_tail"]


@given(geometries(), SPANS)
def test_a_span_owns_what_its_tokens_close_and_write(geometry: Geometry, span: list[int]) -> None:
    start, stop = span
    model = Model(geometry).run(stop)
    for descriptor in derive(geometry, start, stop):
        rows = set(range(descriptor.rows.start, descriptor.rows.stop))
        name = descriptor.kind.replace("index_k", "csa_kv").split("_")[0]
        if descriptor.kind.endswith("_tail") or descriptor.kind == "swa_kv":
            assert rows == set(range(start, stop))
            continue
        assert rows == {i for i, closing in enumerate(model.entries[name]) if start <= closing < stop}
        read = set().union(*(model.raw_reads[name][i][1] for i in rows))
        assert set(range(descriptor.reads.start, descriptor.reads.stop)) == read


@given(geometries(), st.tuples(LENGTHS, LENGTHS, LENGTHS).map(sorted))
def test_splitting_a_span_preserves_its_rows(geometry: Geometry, cuts: list[int]) -> None:
    start, cut, stop = cuts
    for whole, head, tail in zip(
        derive(geometry, start, stop), derive(geometry, start, cut), derive(geometry, cut, stop), strict=True
    ):
        assert (head.rows.start, tail.rows.stop) == (whole.rows.start, whole.rows.stop)
        assert head.rows.stop == tail.rows.start
        assert head.rows.size + tail.rows.size == whole.rows.size


@given(geometries(), st.integers(1, 260))
def test_an_entry_belongs_to_the_last_token_of_its_window(geometry: Geometry, length: int) -> None:
    for descriptor in derive(geometry, length - 1, length):
        kind = geometry.kind(descriptor.kind)
        if kind.shape is Shape.RANGE:
            assert descriptor.rows.size == (1 if length % kind.unit == 0 else 0)


@given(geometries(), LENGTHS)
def test_a_longer_prefix_never_needs_fewer_entries_nor_older_tokens(geometry: Geometry, length: int) -> None:
    for now, later in zip(resume_state(geometry, length), resume_state(geometry, length + 1), strict=True):
        assert now.rows.start <= later.rows.start
        assert now.rows.stop <= later.rows.stop


@given(geometries(), LENGTHS)
def test_complete_allocated_and_tail_figures_stay_apart(geometry: Geometry, length: int) -> None:
    for figures in row_figures(geometry, length):
        unit = geometry.kind(figures.kind).unit
        windows = [range(i, min(i + unit, length)) for i in range(0, length, unit)]
        assert figures.allocated == len(windows)
        assert figures.complete == sum(len(window) == unit for window in windows)
        assert figures.tail == sum(len(window) for window in windows if len(window) < unit)


@given(geometries(), LENGTHS)
def test_the_window_table_keeps_the_window_and_every_tail_that_lives_in_it(geometry: Geometry, length: int) -> None:
    rows = rows_by_kind(resume_state(geometry, length))
    needed = set().union(*(rows[label] for label in ("swa_kv", "csa_tail", "index_tail", "hca_tail")))
    kept = retained_tokens(geometry, length, page_rule=False)
    assert set(range(kept.start, kept.stop)) == needed
    counted = {t for t in range(length) if t >= length - geometry.n_win}
    kept = retained_tokens(geometry, length, page_rule=True)
    assert set(range(kept.start, kept.stop)) == needed | counted


@pytest.mark.parametrize("name", ["v4-flash", "v4-pro"])
def test_v4_at_a_thousand_tokens_needs_the_published_rows(name: str) -> None:
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(preset(name), 1000)}
    assert state == {
        "csa_kv": Extent(0, 250),
        "index_k": Extent(0, 250),
        "hca_kv": Extent(0, 7),
        "swa_kv": Extent(873, 1000),
        "csa_tail": Extent(996, 1000),
        "index_tail": Extent(996, 1000),
        "hca_tail": Extent(896, 1000),
    }


def test_without_overlap_a_closed_window_leaves_no_tail() -> None:
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(preset("article"), 1000)}
    assert state["csa_tail"] == Extent(992, 1000)
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(preset("article"), 1024)}
    assert not state["csa_tail"]
    assert not state["hca_tail"]


def test_an_overlapping_span_reads_the_window_before_it() -> None:
    owned = {descriptor.kind: descriptor for descriptor in derive(preset("v4-flash"), 256, 512)}
    assert owned["csa_kv"].rows == Extent(64, 128)
    assert owned["csa_kv"].reads == Extent(252, 512)
    assert owned["hca_kv"].reads == Extent(256, 512)
    assert owned["csa_kv"].layers == tuple(range(2, 43, 2))


@pytest.mark.parametrize(("name", "entries"), [("article", (4, 1)), ("v4-flash", (32, 1))])
def test_a_block_of_the_least_common_multiple_holds_whole_entries(name: str, entries: tuple[int, int]) -> None:
    geometry = preset(name)
    owned = {descriptor.kind: descriptor.rows.size for descriptor in derive(geometry, 0, geometry.alignment)}
    assert (owned["csa_kv"], owned["hca_kv"]) == entries


def test_forty_two_tokens_of_the_article_hold_one_entry_and_two_tails() -> None:
    geometry = preset("article")
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(geometry, 42)}
    figures = {row.kind: (row.complete, row.allocated, row.tail) for row in row_figures(geometry, 42)}
    assert figures["csa_kv"] == (1, 2, 10)
    assert figures["hca_kv"] == (0, 1, 42)
    assert (state["csa_tail"].size, state["hca_tail"].size) == (10, 42)
    assert state["swa_kv"] == Extent(0, 42)


def test_every_preset_owns_over_pages_what_it_needs_at_their_end() -> None:
    for geometry in PRESETS.values():
        end = 3 * geometry.page_size
        needed = {descriptor.kind: descriptor.rows for descriptor in resume_state(geometry, end)}
        for page in range(3):
            for descriptor in derive(geometry, page * geometry.page_size, (page + 1) * geometry.page_size):
                if geometry.kind(descriptor.kind).shape is Shape.RANGE:
                    assert descriptor.rows.size == needed[descriptor.kind].size / 3


def test_spans_that_are_no_range_are_refused() -> None:
    geometry = preset("v4-flash")
    for start, stop in ((-1, 4), (8, 7)):
        with pytest.raises(InputError, match=r"is not a range of positions"):
            derive(geometry, start, stop)
    with pytest.raises(InputError, match="length -1 must not be negative"):
        resume_state(geometry, -1)
