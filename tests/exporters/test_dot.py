"""Trees as dot text: the same each time, and nothing in it but what we mean, whoever draws it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import check_golden
from hostile import DRAWN_BY_DOT, SVG, TEXTS, hostile_tree, read_svg, texts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from picture_samples import tree

from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.dot import EXACT_MOST, HTML_MOST, dot_text
from shadowviz.exporters.dot_labels import Labels
from shadowviz.exporters.formats import Look
from shadowviz.exporters.renderers import Program, find_programs, run_program
from shadowviz.exporters.svg_tree import OWN, render
from shadowviz_engine.core.derive import Origin

XLINK = "{http://www.w3.org/1999/xlink}"
GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = find_programs({"PATH": __import__("os").environ.get("PATH", "")})
with_graphviz = pytest.mark.skipif(not PROGRAMS, reason="no Graphviz is installed")
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=[program.version for program in PROGRAMS])


@pytest.mark.parametrize("dark", [False, True])
def test_the_text_is_the_stored_one(dark: bool) -> None:
    text = dot_text(tree(6), Look(dark=dark))
    check_golden(GOLDEN / f"tree-{'dark' if dark else 'light'}.dot", text.encode())


@each_program
@pytest.mark.parametrize("num", [0, HTML_MOST + 1])
def test_hostile_texts_draw_the_same_boxes_as_harmless_ones(program: object, num: int) -> None:
    hostile = hostile_tree(num)
    svg = run_program(program, dot_text(hostile, Look()), "svg", 60)  # type: ignore[arg-type]
    root = read_svg(svg, DRAWN_BY_DOT)
    nodes = [element for element in root.iter(f"{SVG}g") if element.get("class") == "node"]
    drawn = {element.get("id") for element in nodes}
    assert {f"n{box.node}" for box in hostile.boxes[1:]} <= drawn
    # The root, the outcome and the stub carry no name of ours.
    assert len(drawn) == len(hostile.boxes) + 2
    said = "\n".join(text for node in nodes for text in texts_of(node)).replace("\xa0", " ")
    tips = "\n".join(link.get(f"{XLINK}title", "") for link in root.iter(f"{SVG}a"))
    for text in (
        "<script>alert(1)</script>",
        "{left|<port> right} | {x}",
        "\\u202egnp.exe",
        TEXTS[3],
        TEXTS[7],
        TEXTS[12][:40],
    ):
        assert text in said
        assert text in tips


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.booleans())
@settings(deadline=None, max_examples=25)
@with_graphviz
def test_any_text_is_read_back_as_it_was(texts: list[str], is_large: bool) -> None:
    boxes = [Box(node=place + 1, parent=0, depth=0, start=0, stop=1, label=text) for place, text in enumerate(texts)]
    boxes += [Box(node=9_000 + n, parent=0, depth=0, start=0, stop=1) for n in range(HTML_MOST if is_large else 0)]
    diagram = replace(tree(1), boxes=tuple(boxes), kinds=(), stubs=(), request="")
    source = dot_text(diagram, Look())
    assert len(re.findall(r"^\tn\d+ \[", source, re.MULTILINE)) == len(boxes)
    if not is_large:
        root = read_svg(run_program(PROGRAMS[0], source, "svg", 60), DRAWN_BY_DOT)
        drawn = [element for element in root.iter(f"{SVG}g") if element.get("class") == "node"]
        assert len(drawn) == len(boxes)


@with_graphviz
def test_a_picture_by_graphviz_shows_path_stubs_counts_and_titles() -> None:
    diagram = tree(40)
    drawing = render(diagram)
    assert drawing.drawn_by == PROGRAMS[0].version
    root = read_svg(drawing.data, DRAWN_BY_DOT)
    said = [text.replace("\xa0", " ") for text in texts_of(root)]
    for words in (
        "+1,204 more (88.0k tokens)",
        "lookup of r0042",
        "40 of 1,244 nodes shown · tokens 88,100,000 · pages used 31 of 64",
    ):
        assert words in said, words
    full = [text for text in said if "recency of use" in text]
    assert len(full) == len(diagram.boxes)
    assert "CSA:" in full[1]


@with_graphviz
def test_children_stand_in_their_order_from_the_top() -> None:
    boxes = tuple(Box(node=n, parent=0, depth=min(n, 1), start=0, stop=1, label=f"child {n}") for n in range(7))
    root = ElementTree.fromstring(render(replace(tree(1), boxes=boxes, kinds=(), stubs=(), request="")).data)
    heights = {
        text.text: float(text.get("y", 0)) for text in root.iter(f"{SVG}text") if (text.text or "").startswith("n")
    }
    ordered = sorted((name for name in heights if name and "[" in name), key=lambda name: heights[name])
    assert [name.split("\xa0")[0].split(" ")[0] for name in ordered] == [f"n{n}" for n in range(1, 7)]


def test_what_is_not_known_is_not_drawn_as_gone() -> None:
    texts = {resident: dot_text(_one_box(KindRows("csa_kv", 103, resident)), Look()) for resident in (None, 0, 50, 103)}
    assert len(set(texts.values())) == 4
    assert "?/103" in texts[None]
    assert "CSA 0/103" in texts[0]
    derived, assumed = (
        dot_text(_one_box(KindRows("csa_kv", 103, 103, origin)), Look()) for origin in (Origin.DERIVED, Origin.ASSUMED)
    )
    assert "<I>CSA 103</I>" in derived
    assert "CSA 103 assumed" in assumed


def test_a_large_tree_has_plain_labels_and_few_rounds() -> None:
    small, large = dot_text(tree(HTML_MOST), Look()), dot_text(tree(HTML_MOST + 1), Look())
    assert "shape=record" not in small
    assert "shape=record" in large
    rounds = ["nslimit=0.1" in dot_text(tree(num), Look()) for num in (EXACT_MOST, EXACT_MOST + 1)]
    assert rounds == [False, True]


@each_program
def test_fields_of_a_plain_label_stand_below_each_other(program: Program) -> None:
    diagram = tree(20)
    labels = Labels(diagram, Ground.LIGHT, is_table=False)
    nodes = "".join(f'n{box.node} [shape=record label="{labels.label(box)}"];' for box in diagram.boxes[1:])
    source = f"digraph {{ rankdir=LR; {nodes} }}"
    assert "shape=record" in dot_text(tree(HTML_MOST + 1), Look())
    told = run_program(program, source, "plain", 30).decode()
    sizes = [line.split()[4:6] for line in told.splitlines() if line.startswith("node n")]
    assert len(sizes) == 19
    # Title, text, two rows of kinds and marks; beside each other they would be seven times as wide as high or more.
    assert all(float(wide) < 5 * float(high) for wide, high in sizes)


def test_the_built_in_layout_draws_when_it_is_asked_for() -> None:
    assert render(tree(5), Look(renderer="own")).drawn_by == OWN


def _one_box(row: KindRows) -> TreeDiagram:
    box = Box(node=1, parent=0, depth=0, start=0, stop=412, rows=(row,))
    return TreeDiagram(caption=tree(1).caption, kinds=("csa_kv",), boxes=(box,))
