"""Mermaid text: nothing in it can become syntax, it says what the diagram says, and it fits what Mermaid reads."""

import html
import re
from pathlib import Path

import pytest
from golden import check_golden
from hostile import TEXTS, hostile_tree
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from picture_samples import tree
from trees import caption_of, chain_state, chat_state, wide_state

from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.exporters.box_words import name, stub_words, title
from shadowviz.exporters.formats import LIGHT, Look, format_named
from shadowviz.exporters.mermaid import MOST_CHARACTERS, MOST_EDGES, escaped, render
from shadowviz.tokens.inert import printable

GOLDEN = Path(__file__).parent / "golden"
LABEL = r'"(?:[^\W_]|[ ,()\[\]/+=?·†▶◉▽↩■…-]|<br>|#[0-9]{1,7};)*"'
NODE = r"(?:root|n[0-9]+|more[0-9]+|lookup|caption|legend)"
LINES = tuple(
    re.compile(pattern)
    for pattern in (
        r'%%\{init: \{"flowchart": \{"wrappingWidth": 900, "nodeSpacing": 16, "rankSpacing": 36\}\}\}%%',
        r"flowchart TB",
        r'  subgraph tree\[" "\]',
        r"  direction LR",
        r"  end",
        r"  caption ~~~ tree ~~~ legend",
        r"  style tree fill:none,stroke:none",
        rf"  accTitle: {LABEL[1:-1]}",
        rf"  {NODE}(?:\[{LABEL}\]|\(\({LABEL}\)\)|\(\[{LABEL}\]\)|>{LABEL}\])(?::::[a-z]+)?",
        rf"  {NODE} (?:---|==>|-\.-) {NODE}",
        r"  classDef [a-z]+ [a-z0-9#:, -]+",
    )
)


def text_of(diagram: TreeDiagram, look: Look = LIGHT) -> str:
    return render(diagram, look).data.decode()


def labels(text: str) -> dict[str, list[str]]:
    """Lines of each box, as a reader sees them."""
    found = re.findall(rf'^  ({NODE})[\[(>]+"(.*?)"', text, re.MULTILINE)
    return {node: [_read(line) for line in label.split("<br>")] for node, label in found}


def _read(text: str) -> str:
    return html.unescape(re.sub("#([0-9]+);", r"&#\1;", text)).replace("\u2060", "")


@pytest.mark.parametrize("dark", [False, True])
def test_a_tree_is_the_stored_text(dark: bool) -> None:
    check_golden(GOLDEN / f"tree{'-dark' if dark else ''}.mmd", text_of(tree(12), Look(dark=dark)).encode())


def test_the_same_diagram_gives_the_same_text() -> None:
    first, second = (tree_diagram(caption_of(state), state) for state in (chat_state(), chat_state()))
    assert text_of(first) == text_of(second)


@pytest.mark.parametrize("num", [30, 120, 400])
def test_no_text_becomes_syntax(num: int) -> None:
    for line in text_of(hostile_tree(num)).splitlines():
        assert any(pattern.fullmatch(line) for pattern in LINES), line[:200]


@given(st.text(max_size=60))
def test_any_text_is_read_as_it_is_shown(text: str) -> None:
    shown = escaped(text)
    assert re.fullmatch(LABEL, f'"{shown}"')
    assert _read(shown) == (text if text.isprintable() else printable(text)).replace("\u2060", "")


@pytest.mark.parametrize(
    "text", [*TEXTS[:6], "end", 'click n1 "javascript:alert(1)"', "`**bold**`", "%%{init: {}}%%", "$$x$$"]
)
def test_what_mermaid_would_read_is_written_by_number(text: str) -> None:
    shown = escaped(text)
    for mark in "\"'`<>{}|&%$*_~\\:;@!.":
        assert mark not in re.sub("#[0-9]+;", "", shown)


def test_boxes_edges_stubs_and_the_lookup_are_there() -> None:
    diagram = tree(12)
    text = text_of(diagram)
    shown = labels(text)
    for box in diagram.boxes[1:]:
        assert shown[name(box.node)][0] == title(box)
        assert re.search(rf"^  {name(box.parent)} (?:---|==>) {name(box.node)}$", text, re.MULTILINE)
    assert [shown[f"more{place}"] for place in range(len(diagram.stubs))] == [[stub_words(s)] for s in diagram.stubs]
    assert shown["lookup"][0] == f"lookup of {diagram.request}"
    assert diagram.caption.title in shown["caption"][0]
    assert f"{diagram.caption.shown} of {diagram.caption.total:,}" in " ".join(shown["caption"])


def test_what_is_not_known_is_not_shown_as_gone() -> None:
    texts = {}
    for resident in (None, 0):
        diagram = tree(12)
        boxes = tuple(
            replace(box, rows=tuple(replace(row, resident=resident) for row in box.rows), on_path=False, locks=0)
            for box in diagram.boxes
        )
        texts[resident] = re.sub("(?m)^  legend.*$", "", text_of(replace(diagram, boxes=boxes)))
    assert "CSA ?/256" in texts[None]
    assert "0/256" not in texts[None]
    assert ":::unknown" in texts[None]
    assert "CSA 0/256" in texts[0]
    assert "?/" not in texts[0]
    assert ":::unknown" not in texts[0]


@pytest.mark.parametrize("num_nodes", [130, 3_000])
def test_a_collapsed_tree_fits_what_mermaid_reads(num_nodes: int) -> None:
    most = format_named("mermaid").most_boxes
    state = wide_state(num_nodes)
    diagram = tree_diagram(caption_of(state), state, TreeOptions(collapse_above=most, max_boxes=most))
    drawing = render(diagram)
    assert drawing.notes == ()
    assert len(drawing.data.decode()) <= MOST_CHARACTERS
    assert 60 < len(diagram.boxes) <= most + 1
    assert "CSA" in labels(drawing.data.decode())[name(diagram.boxes[1].node)][2]


def test_boxes_say_less_before_the_text_is_too_long() -> None:
    lengths = []
    for num in (100, 230, 450):
        drawing = render(tree(num))
        shown = labels(drawing.data.decode())
        lengths.append(len(shown["n1"]))
        assert len(drawing.data.decode()) <= MOST_CHARACTERS
        assert drawing.notes == ()
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[1] > lengths[2] == 1


def test_a_tree_that_cannot_fit_is_told() -> None:
    state = chain_state(MOST_EDGES + 10)
    drawing = render(tree_diagram(caption_of(state), state))
    assert len(drawing.notes) == 1
    assert "choose less with --root" in drawing.notes[0]
