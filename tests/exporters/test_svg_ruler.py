"""The ruler as SVG: every row where its tokens are, the cut between reused and computed, nothing that overlaps."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from golden import check_golden
from hostile import ELEMENTS, SVG, TEXTS, hostile_caption, read_svg, texts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from shadowviz.diagrams.derivation_of import length_diagram
from shadowviz.diagrams.lanes import Bar, DerivationDiagram, Lane
from shadowviz.diagrams.theme import Ground
from shadowviz.exporters.formats import Look
from shadowviz.exporters.svg_axis import Axis, mark_lines, nice_step
from shadowviz.exporters.svg_parts import width_of
from shadowviz.exporters.svg_ruler import render
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

GOLDEN = Path(__file__).parent / "golden"


def ruler(geometry: str = "tiny", start: int = 240, stop: int = 280, cut: int = 256) -> DerivationDiagram:
    """The ruler of a few tokens around a page."""
    return length_diagram(preset(geometry), Extent(start, stop), cut)


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_is_the_stored_one(dark: bool) -> None:
    check_golden(GOLDEN / f"ruler-{'dark' if dark else 'light'}.svg", render(ruler(), Look(dark=dark)).data)


def test_hostile_tokens_marks_and_kinds_stay_texts() -> None:
    diagram = ruler()
    diagram = replace(
        diagram,
        caption=hostile_caption(diagram.caption),
        lanes=tuple(Lane(f"{TEXTS[n]}{n}", lane.unit, lane.layers, lane.bars) for n, lane in enumerate(diagram.lanes)),
        marks=tuple((240 + n, text) for n, text in enumerate(TEXTS)),
        text=tuple(TEXTS[n % len(TEXTS)] for n in range(40)),
    )
    data = render(diagram).data
    assert any("<script>" in text for text in texts_of(read_svg(data, ELEMENTS)))
    assert len(data) < 300_000


def test_reused_and_computed_meet_at_the_cut() -> None:
    said = texts_of(read_svg(render(ruler()).data, ELEMENTS))
    assert {"reused 16", "computed 24", "▲ cut 256"} <= set(said)
    assert "computed 40" in texts_of(read_svg(render(ruler(cut=0)).data, ELEMENTS))
    assert "reused 40" in texts_of(read_svg(render(ruler(cut=280)).data, ELEMENTS))


def test_a_row_that_is_there_gone_never_was_or_is_not_known_looks_its_own_way() -> None:
    looks = {other: render(_one_bar(resident=other)).data for other in (True, False, None)}
    looks["never"] = render(_one_bar(resident=False, once=False)).data
    # Titles and the legend tell it in words; the bar alone must tell it too.
    bars = {other: re.sub(r"<title>.*?</title>", "", data.decode()) for other, data in looks.items()}
    bars = {other: bar.split('class="l"/>\n<g')[1].split("</g>")[0] for other, bar in bars.items()}
    assert len(set(bars.values())) == len(bars)
    words = {
        True: ": tokens [0,4), made from [0,4); there",
        False: "; gone: was there once",
        None: "; unknown: the source",
        "never": "; never there: neither stored",
    }
    for state, data in looks.items():
        told = " ".join(texts_of(read_svg(data, ELEMENTS)))
        assert [other for other, said in words.items() if said in told] == [state]


def test_a_snapshot_that_nobody_speaks_of_is_a_question_and_reads_no_overlap() -> None:
    diagram = length_diagram(preset("qwen3.5"), Extent(0, 640), 640)
    told = replace(diagram, caption=replace(diagram.caption, seq=7, last_seq=9))
    said = texts_of(read_svg(render(told).data, ELEMENTS))
    snapshots = [bar for lane in told.lanes if lane.unit > 1 for bar in lane.bars]
    assert len(snapshots) == 20
    assert said.count("?") == sum(bar.resident is None for bar in snapshots) > 0
    assert not any("before its own range" in text for text in said)


def test_every_look_of_the_ruler_is_in_its_legend() -> None:
    said = texts_of(read_svg(render(ruler()).data, ELEMENTS))
    assert {"reused: taken from the cache", "computed: has to be run"} <= set(said)
    assert "computed: has to be run" not in texts_of(read_svg(render(ruler(cut=280)).data, ELEMENTS))


def test_needed_and_open_rows_and_overlap_are_drawn() -> None:
    plain = render(_one_bar(resident=True)).data
    others = {render(_one_bar(resident=True, needed=True)).data, render(_one_bar(resident=None, open=True)).data}
    overlap = _one_bar(resident=True)
    bar = replace(overlap.lanes[0].bars[0], tokens=Extent(4, 8), reads=Extent(0, 8), rows=Extent(1, 2))
    others.add(render(replace(overlap, lanes=(Lane("csa_kv", 4, (2,), (bar,)),))).data)
    assert len(others | {plain}) == 4
    assert any(b"tokens before its own range" in data for data in others)


@given(
    st.sampled_from(("tiny", "v4-flash", "article", "recall")), st.integers(0, 5000), st.integers(1, 3000), st.data()
)
@settings(deadline=None, max_examples=30)
def test_every_bar_lies_between_the_ends_of_the_axis(name: str, start: int, size: int, data: st.DataObject) -> None:
    stop = start + size
    diagram = length_diagram(preset(name), Extent(start, stop), data.draw(st.integers(0, stop)))
    root = read_svg(render(diagram).data, ELEMENTS)
    width = float(root.get("width", 0))
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("width") != "100%":
            assert float(rect.get("x", 0)) + float(rect.get("width", 0)) <= width


@given(st.lists(st.tuples(st.integers(0, 500), st.text("abc ", min_size=1, max_size=30)), max_size=12))
def test_names_of_marks_never_overlap(marks: list[tuple[int, str]]) -> None:
    draw, _ = mark_lines(sorted(marks), Axis(200, 2, Extent(0, 500)), 0, Ground.LIGHT)
    from xml.etree import ElementTree

    rows: dict[float, list[tuple[float, float]]] = {}
    for text in ElementTree.fromstring(f"<svg>{''.join(draw(100))}</svg>").iter("text"):
        x = float(text.get("x", 0))
        rows.setdefault(float(text.get("y", 0)), []).append((x, x + width_of(text.text or "", 10)))
    for spans in rows.values():
        spans.sort()
        assert all(left[1] <= right[0] + 0.2 for left, right in pairwise(spans))


@given(st.integers(1, 10**7), st.integers(1, 40))
def test_ticks_are_few_and_round(size: int, most: int) -> None:
    step = nice_step(size, most)
    assert size // step <= most
    assert step & (step - 1) == 0


def _one_bar(*, resident: bool | None, needed: bool = False, **more: bool) -> DerivationDiagram:
    bar = Bar(rows=Extent(0, 1), tokens=Extent(0, 4), reads=Extent(0, 4), needed=needed, resident=resident, **more)
    diagram = ruler(start=0, stop=8, cut=4)
    return replace(
        diagram, caption=replace(diagram.caption, seq=3, last_seq=9), lanes=(Lane("csa_kv", 4, (2,), (bar,)),)
    )
