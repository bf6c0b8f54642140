"""Large trees as SVG: few elements a box, so that browsers open them, and no less told than by cells of their own."""

import re
from xml.etree import ElementTree

import pytest
from hostile import ELEMENTS, SVG, read_svg, texts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from picture_samples import tree

from shadowviz.diagrams.theme import Ground
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.box_words import cell, title
from shadowviz.exporters.formats import Look
from shadowviz.exporters.svg_boxes import FULL_MOST, LEFT
from shadowviz.exporters.svg_brief import CELLS_TOP, BriefDrawing
from shadowviz.exporters.svg_own import draw_tree
from shadowviz.exporters.svg_shapes import GAP_X, GAP_Y

NUM = FULL_MOST + 400
MOVE = re.compile(r"M(-?\d+) (-?\d+)m(-?[\d.]+) (-?[\d.]+)h(\d+)v\d+h-\d+z")


def test_a_box_is_few_elements_and_clones_none() -> None:
    counts = {}
    for num in (3_000, 6_000):
        root = read_svg(draw_tree(tree(num), Look()), ELEMENTS)
        counts[num] = sum(1 for _ in root.iter())
        assert root.find(f".//{SVG}use") is None
    # A group, its title, its outline and its text, and a share of paths that all neighbours have in common.
    assert counts[6_000] - counts[3_000] < 4.5 * 3_000


def test_one_more_look_of_cells_is_one_more_pattern_and_no_element_a_box() -> None:
    plain = _alike(tree(NUM), 7)
    drawing = BriefDrawing(plain, Ground.LIGHT)
    drawn = "".join(drawing.drawn(plain.boxes, [0.0] * NUM, [0.0] * NUM))
    assert drawing.definitions.count("<pattern") == len(set(re.findall(r"url\(#(c\d+)\)", drawn))) <= 3


@pytest.mark.parametrize("dark", [False, True])
def test_every_cell_shows_the_pattern_of_its_state_at_its_place(dark: bool) -> None:
    diagram = tree(NUM)
    drawing = BriefDrawing(diagram, Ground.DARK if dark else Ground.LIGHT)
    step_x, step_y = drawing.sizes.width + GAP_X, drawing.sizes.height + GAP_Y
    xs, ys = [16 + step_x * (n % 7) for n in range(NUM)], [5 + step_y * n for n in range(NUM)]
    drawn = list(drawing.drawn(diagram.boxes, xs, ys))
    shown = _shown("".join(drawn), drawing.sizes.cell_width)
    words = _words(drawing)
    tile = ElementTree.fromstring(f"<svg>{drawing.definitions}</svg>")[0]
    assert (float(tile.get("width", 0)), float(tile.get("height", 0))) == (step_x, step_y)
    left, top = xs[1], ys[1]
    for box, x, y in zip(diagram.boxes, xs, ys, strict=True):
        for place, row in enumerate(box.rows):
            at = (x + LEFT + place * drawing.sizes.cell_width, y + CELLS_TOP)
            pattern = shown.pop(at)
            word = drawing.shapes.styles[row.kind].word
            unknown = "?" if row.owned and row.resident is None else ""
            assert words[pattern, (at[0] - left) % step_x] == f"{unknown}{word}"
            assert (at[1] - top) % step_y == CELLS_TOP
    assert not shown


def test_figures_of_layers_stay_small_far_from_the_root() -> None:
    diagram = tree(NUM)
    drawing = BriefDrawing(diagram, Ground.LIGHT)
    drawn = "".join(drawing.drawn(diagram.boxes, [9e6 + 500 * n for n in range(NUM)], [4e6] * NUM))
    assert 0 <= max(int(move[0]) for move in MOVE.findall(drawn)) < 500 * 250


@given(st.lists(st.integers(0, 6), max_size=7, unique=True))
@settings(deadline=None, max_examples=20)
def test_cells_of_kinds_that_a_box_lacks_are_left_empty(lacking: list[int]) -> None:
    diagram = tree(40)
    boxes = tuple(
        replace(box, rows=tuple(row for place, row in enumerate(box.rows) if place not in lacking))
        for box in diagram.boxes
    )
    drawing = BriefDrawing(replace(diagram, boxes=boxes), Ground.LIGHT)
    ys = [float(46 * n) for n in range(40)]
    shown = _shown("".join(drawing.drawn(boxes, [0.0] * 40, ys)), drawing.sizes.cell_width)
    width = drawing.sizes.cell_width
    assert set(shown) == {
        (LEFT + place * width, y + CELLS_TOP) for y in ys[1:] for place in range(7) if place not in lacking
    }


def test_pointing_at_a_box_finds_its_title_whatever_lies_upon_it() -> None:
    diagram = tree(NUM)
    root = read_svg(draw_tree(diagram, Look()), ELEMENTS)
    groups = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]
    assert len(groups) == NUM - 1
    for group, box in zip(groups, diagram.boxes[1:], strict=True):
        said, frame, text = group
        assert (frame.tag, text.tag) == (f"{SVG}rect", f"{SVG}text")
        assert all(cell(row) in (said.text or "") for row in box.rows)
        assert (text.text or "").startswith(title(box)[:20])
    layers = [group for group in root.iter(f"{SVG}g") if group.get("pointer-events") == "none"]
    assert len(layers) == -(-NUM // 250)


def test_the_legend_of_a_large_tree_has_all_that_its_cells_show() -> None:
    said = set(texts_of(read_svg(draw_tree(tree(NUM), Look()), ELEMENTS)))
    for words in ("90/103: 90 of its 103 rows are there", "-: the span closes no row of this kind"):
        assert words in said
    assert any(text.startswith("?/103: ") for text in said)
    assert any(text.startswith("assumed: ") for text in said)


def _alike(diagram: TreeDiagram, there: int) -> TreeDiagram:
    boxes = tuple(
        replace(box, rows=tuple(replace(row, owned=there, resident=there) for row in box.rows)) for box in diagram.boxes
    )
    return replace(diagram, boxes=boxes)


def _shown(drawn: str, cell_width: float) -> dict[tuple[float, float], str]:
    """Name of the pattern at the corner of every cell; none shows two."""
    found: dict[tuple[float, float], str] = {}
    layers = [group for group in ElementTree.fromstring(f"<svg>{drawn}</svg>") if group.get("pointer-events")]
    for group, path in [(layer, path) for layer in layers for path in layer]:
        left, top = map(int, re.findall(r"-?\d+", group.get("transform", "")))
        fill = path.get("fill", "")
        for move in MOVE.finditer(path.get("d", "")) if fill.startswith("url(#c") else ():
            x, y, dx, dy, width = map(float, move.groups())
            for place in range(round(width / cell_width)):
                at = (left + x + dx + 1 + place * cell_width, top + y + dy + 1)
                assert at not in found
                found[at] = fill[5:-1]
    return found


def _words(drawing: BriefDrawing) -> dict[tuple[str, float], str]:
    """Words of each pattern by where their cell begins in its tile; all tiles begin at corners of boxes."""
    root = ElementTree.fromstring(f"<svg>{drawing.definitions}</svg>")
    return {
        (pattern.get("id", ""), float(text.get("x", 0)) - 4): text.text or ""
        for pattern in root
        for text in pattern.iter("text")
    }
