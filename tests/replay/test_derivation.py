"""Everything that follows from a span, the article's wrong sample among it, and where it lies in a run."""

import pytest
from lookup_runs import ExplainedRun

from shadowviz.replay.derivation import derivation, own_geometry, parse_span
from shadowviz.replay.placement import place_request
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import GeometryError, InputError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent


def test_42_tokens_have_one_csa_entry_and_no_hca_entry() -> None:
    shown = derivation(preset("article"), Extent(0, 42))
    figures = {figure.kind: (figure.complete, figure.allocated, figure.tail) for figure in shown.figures}
    assert figures["csa_kv"] == (1, 2, 10)
    assert figures["hca_kv"] == (0, 1, 42)
    needed = {descriptor.kind: descriptor.rows for descriptor in shown.needed}
    assert (needed["swa_kv"], needed["csa_tail"], needed["hca_tail"]) == (Extent(0, 42), Extent(32, 42), Extent(0, 42))


def test_1000_tokens_are_reusable_as_whole_pages_or_as_they_are() -> None:
    shown = derivation(preset("v4-flash"), Extent(0, 1000))
    assert (shown.reusable_page, shown.reusable_any) == (768, 1000)


def test_ratios_that_share_little_are_noted() -> None:
    geometry = own_geometry(0, 100, (30, 127), ())
    assert geometry.page_size == 3810
    assert any("3810" in note for note in derivation(geometry, Extent(0, 1000)).notes)


def test_a_page_that_splits_a_window_is_refused() -> None:
    with pytest.raises(GeometryError, match="page_size 200 splits a window"):
        own_geometry(200, 128, (4, 128), (4,))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1000", Extent(0, 1000)),
        ("256:1000", Extent(256, 1000)),
        ("[256,1000)", Extent(256, 1000)),
        ("0", Extent(0, 0)),
    ],
)
def test_a_span_is_a_length_or_a_range(text: str, span: Extent) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["", "-1", "9:3", "1:2:3", "1e3", "\u0663", "9" * 20])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_span(text)


def test_rows_of_a_recorded_request_lie_where_the_cache_put_them() -> None:
    run = ExplainedRun(retention="all")
    run.run(range(5000, 5600))
    run.run([*range(5000, 5300), *range(300)])
    state = run.explainer.state
    span = Extent(0, 600)
    placed = derivation(run.geometry, span, place_request(state, "r2", span))
    full = {
        t: run.slot + t - run.start for node in run_path(run) for run in node.full for t in range(run.start, run.stop)
    }
    by_kind = {descriptor.kind: descriptor for descriptor in placed.owned}
    assert by_kind["csa_kv"].slots == tuple(full[4 * row + 3] // 4 for row in range(150))
    assert by_kind["hca_kv"].slots == tuple(full[128 * row + 127] // 128 for row in range(4))
    assert len(by_kind["swa_kv"].slots) == 600
    assert by_kind["csa_kv"].origin is Origin.OBSERVED


def run_path(run: ExplainedRun) -> list[object]:
    """Live nodes on the path of the second request: those whose tokens it has."""
    from shadowviz_engine.cache.radix import path_of

    state = run.driver.manager.state
    key = b"".join(value.to_bytes(8, "little") for value in [*range(5000, 5300), *range(300)])
    return list(path_of(state.tree.walk("", key).node))


def test_a_span_beyond_the_request_is_refused() -> None:
    run = ExplainedRun()
    run.run(range(100))
    with pytest.raises(InputError, match="has 100 tokens"):
        place_request(run.explainer.state, "r1", Extent(0, 101))
    with pytest.raises(InputError, match="no request 'r9'"):
        place_request(run.explainer.state, "r9", Extent(0, 1))
