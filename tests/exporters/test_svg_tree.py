"""Trees as SVG by the built-in layout: whole, safe, the same each time, and readable without colour."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import check_golden
from hostile import ELEMENTS, SVG, hostile_tree, read_svg, texts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from picture_samples import chain, tree

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import UNKNOWN
from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import Box, KindRows, Stub, TreeDiagram
from shadowviz.exporters.box_words import cell
from shadowviz.exporters.dot import dot_text
from shadowviz.exporters.formats import Look
from shadowviz.exporters.svg_boxes import FULL_MOST, BoxDrawing
from shadowviz.exporters.svg_own import draw_tree
from shadowviz.exporters.svg_parts import columns_of, fitted, width_of, wrapped
from shadowviz.exporters.svg_tree import render
from shadowviz_engine.core.derive import Origin

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_is_the_stored_one(dark: bool) -> None:
    check_golden(GOLDEN / f"tree-{'dark' if dark else 'light'}.svg", draw_tree(tree(6), Look(dark=dark)))


@pytest.mark.parametrize("num", [0, FULL_MOST + 1])
def test_hostile_texts_stay_texts(num: int) -> None:
    diagram = hostile_tree(num)
    data = draw_tree(diagram, Look())
    said = "\n".join(texts_of(read_svg(data, ELEMENTS)))
    assert "<script>alert(1)</script>" in said
    assert "\\u202egnp.exe" in said
    assert len(data) < 2_000 * len(diagram.boxes) + 60_000


def test_a_namespace_is_said_once_where_its_path_begins() -> None:
    boxes = [Box(node=node, parent=max(0, node - 1), depth=node, start=node, stop=node + 1) for node in range(3)]
    boxes[1:] = [replace(box, namespace="tenant-b") for box in boxes[1:]]
    diagram = replace(tree(1), boxes=tuple(boxes), kinds=(), stubs=(), request="")
    said = texts_of(read_svg(draw_tree(diagram, Look()), ELEMENTS))
    assert sum("tenant-b" in text and "namespace" not in text for text in said) == 1
    assert any(text.startswith("namespace: ") for text in said), "the legend says what it is"
    assert dot_text(diagram, Look()).count("§ tenant-b") == 1


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
@settings(deadline=None, max_examples=60)
def test_any_text_gives_xml_that_says_it(texts: list[str]) -> None:
    boxes = [Box(node=place + 1, parent=0, depth=0, start=0, stop=1, label=text) for place, text in enumerate(texts)]
    diagram = replace(tree(1), boxes=tuple(boxes), kinds=(), stubs=(), request="")
    root = read_svg(draw_tree(diagram, Look()), ELEMENTS)
    assert sum(text.startswith("n") and " [0..1) " in text for text in texts_of(root)) == 2 * len(texts)


@pytest.mark.parametrize("num", [40, FULL_MOST + 5])
def test_every_box_and_stub_is_drawn_once_with_all_that_is_known(num: int) -> None:
    diagram = tree(num)
    said = texts_of(read_svg(draw_tree(diagram, Look()), ELEMENTS))
    for box in diagram.boxes[1:]:
        here = [text for text in said if text.startswith(f"n{box.node} [")]
        assert here, box.node
    assert "+1,204 more (88.0k tokens)" in said
    assert sum("all that is worth" in text or "CUT_BY_SWA" in text for text in said) == 1
    assert any("after event 1,042 of 9,981" in text for text in said)
    assert any(f"{num:,} of {num + 1204:,} nodes shown" in text for text in said)


def test_no_text_leaves_its_box_and_no_count_runs_into_its_word() -> None:
    diagram = tree(200)
    drawing = BoxDrawing(diagram, Ground.LIGHT)
    styles = kind_styles(diagram.kinds)
    for box in diagram.boxes[1:]:
        group = ElementTree.fromstring(f"<svg>{drawing.box(box, 0, 0)}</svg>")[0]
        for text in group.iter("text"):
            size = float(text.get("font-size", {"h": 12, "s": 10}.get((text.get("class") or "m")[0], 11)))
            wide = width_of("".join(text.itertext()), size)
            x = float(text.get("x", "0"))
            left, right = (x - wide, x) if "e" in (text.get("class") or "").split() else (x, x + wide)
            assert left >= -0.5
            assert right <= drawing.sizes.width + 0.5, "".join(text.itertext())
        for row in box.rows:
            assumed = width_of(" assumed", 8) if row.origin is Origin.ASSUMED else 0
            both = width_of(f"{styles[row.kind].word} {cell(row)}", 10) + assumed
            assert both <= drawing.sizes.cell_width - 4


def test_what_is_not_known_looks_like_nothing_else() -> None:
    pictures = {
        resident: draw_tree(_one_box(KindRows("csa_kv", 103, resident)), Look()) for resident in (None, 0, 50, 103)
    }
    assert len(set(pictures.values())) == 4
    said = texts_of(read_svg(pictures[None], ELEMENTS))
    assert "?/103" in said
    assert f"?/103: {UNKNOWN.meaning}" in said
    assert not any("0/103" in text for text in said)
    assert "0/103" in texts_of(read_svg(pictures[0], ELEMENTS))


def test_origins_and_marks_are_told_without_colour() -> None:
    row, base = KindRows("csa_kv", 103, 103), _one_box(KindRows("csa_kv", 103, 103))
    others = [_one_box(replace(row, origin=origin)) for origin in (Origin.DERIVED, Origin.ASSUMED)]
    for changed in ({"tier": "host"}, {"tier": "storage"}, {"locks": 1}, {"tombstone": True}, {"next_out": True}):
        others.append(replace(base, boxes=(replace(base.boxes[0], **changed),)))  # type: ignore[arg-type]
    others += [replace(base, boxes=(replace(base.boxes[0], heat=heat),)) for heat in (0.0, 0.5, 1.0)]
    pictures = {_without_colour(draw_tree(diagram, Look())) for diagram in (base, *others)}
    assert len(pictures) == 1 + len(others)


def test_the_path_of_a_request_says_how_far_it_was_reused() -> None:
    boxes = tuple(
        Box(node=n, parent=n - 1, depth=n, start=100 * (n - 1), stop=100 * n, on_path=True) for n in range(1, 5)
    )
    diagram = replace(
        _one_box(KindRows("csa_kv", 1, 1)), boxes=boxes, request="r7", common=250, matched=200, usable=120, reused=120
    )
    said = texts_of(read_svg(draw_tree(replace(diagram, num_prompt=400), Look()), ELEMENTS))
    for words in ("▶ reused", "▶ reused to 120", "▶ equal to 250, not reused", "▶ computed"):
        assert words in said
    assert {"lookup of r7", "common 250, matched 200", "usable 120, reused 120", "of 400 prompt tokens"} <= set(said)


def test_a_very_deep_and_a_very_wide_tree_are_drawn() -> None:
    for diagram in (chain(20_000), replace(tree(1), boxes=tuple(_leaves(20_000)), kinds=())):
        said = texts_of(read_svg(draw_tree(diagram, Look()), ELEMENTS))
        assert sum(text.startswith("n") and " 1 token" in text for text in said) == 19_999


def test_a_tree_of_nothing_is_a_picture_too() -> None:
    empty = TreeDiagram(caption=tree(1).caption, kinds=(), boxes=())
    assert "0 nodes" in " ".join(
        texts_of(
            read_svg(draw_tree(replace(empty, caption=replace(empty.caption, shown=0, total=0)), Look()), ELEMENTS)
        )
    )


@given(st.text(), st.integers(1, 30))
def test_fitted_text_fits(text: str, columns: int) -> None:
    assert columns_of(fitted(text, columns)) <= columns
    assert all(columns_of(line) <= columns for line in wrapped(text, columns))
    assert len(wrapped(text, columns, 3)) <= 3


def _one_box(row: KindRows) -> TreeDiagram:
    box = Box(node=1, parent=0, depth=0, start=0, stop=412, rows=(row,))
    caption = replace(tree(1).caption, verdict="", shown=1, total=1)
    return TreeDiagram(caption=caption, kinds=("csa_kv",), boxes=(box,), stubs=(Stub(1, 2, 3),))


def _leaves(num: int) -> list[Box]:
    return [Box(node=n, parent=0, depth=min(n, 1), start=0, stop=1) for n in range(num)]


def _without_colour(data: bytes) -> str:
    import re

    return re.sub(r"#[0-9a-f]{6}", "", data.decode())


def test_the_legend_of_a_tall_picture_stands_above_the_boxes() -> None:
    for num, is_above in ((20, False), (600, True)):
        root = read_svg(draw_tree(tree(num), Look()), ELEMENTS)
        texts = [element.text or "" for element in root.iter(f"{SVG}text")]
        legend = next(place for place, text in enumerate(texts) if text.startswith("CSA: "))
        first = next(place for place, text in enumerate(texts) if text.startswith("n1 ["))
        assert (legend < first) == is_above
        moved = [element for element in root.iter(f"{SVG}g") if "translate(0 " in element.get("transform", "")]
        assert bool(moved) == is_above


def test_a_picture_that_browsers_take_long_over_says_so() -> None:
    own = Look(renderer="own")
    assert render(chain(20_000), own).notes == ()
    assert "20,001 nodes takes browsers tens of seconds" in render(chain(20_001), own).notes[0]
