"""The tree by the layout that is built in: any size, any depth, no other program."""

from collections.abc import Iterator, Sequence

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import PATH, STUB
from shadowviz.diagrams.theme import GROUNDS, Ground
from shadowviz.diagrams.tree import Stub, TreeDiagram
from shadowviz.exporters.box_words import outcome_lines, outcome_place, stub_words
from shadowviz.exporters.formats import Look
from shadowviz.exporters.svg_boxes import FULL_MOST, BoxDrawing
from shadowviz.exporters.svg_brief import BriefDrawing
from shadowviz.exporters.svg_frame import NARROWEST, caption_block, legend_block
from shadowviz.exporters.svg_legend import tree_legend
from shadowviz.exporters.svg_parts import (
    ADVANCE,
    MARGIN,
    dashes,
    document,
    fitted,
    ground_of,
    patterns,
    text_of,
    width_of,
)
from shadowviz.exporters.svg_shapes import GAP_X, GAP_Y, ROOT_WIDTH
from shadowviz.exporters.tidy import Places, place

EDGES_A_PATH = 500
STUB_HEIGHT = 24
AnyDrawing = BoxDrawing | BriefDrawing
TALL = 900
"""Pixels of boxes, about a screen, beyond which the legend stands above them."""


def draw_tree(diagram: TreeDiagram, look: Look) -> bytes:
    """The picture as SVG: caption, boxes, legend; the same bytes for the same diagram and look."""
    ground = ground_of(look)
    boxes = (BoxDrawing if len(diagram.boxes) <= FULL_MOST else BriefDrawing)(diagram, ground)
    stubs = list(diagram.stubs)
    if diagram.request and diagram.boxes:
        # The outcome of the lookup is placed like something that hangs from the node where the prompt parted.
        stubs.append(Stub(diagram.boxes[outcome_place(diagram)].node, 0, 0))
    places = place(diagram.boxes, stubs)
    grid = _Grid(diagram, boxes, places)
    width = max(grid.x(places.num_columns) - GAP_X + MARGIN, NARROWEST)
    caption = caption_block(diagram.caption, width, ground, diagram.request)
    is_tall = places.num_rows * grid.step_y > TALL
    grid.top = 0.0 if is_tall else round(caption.height)
    body = [*_edges(diagram, places, grid, ground)]
    body += boxes.drawn(diagram.boxes, map(grid.x, places.columns), map(grid.y, places.rows))
    body += _stubs(diagram, places, grid, ground)
    if len(stubs) > len(diagram.stubs):
        body += _outcome(diagram, grid.x(places.stub_columns[-1]), grid.y(places.stub_rows[-1]), boxes, ground)
    bottom = grid.y(places.num_rows) + GAP_Y
    legend = legend_block(
        tree_legend(diagram, boxes.shapes.examples.values(), ground), caption.height if is_tall else bottom, width
    )
    if is_tall:
        # At the bottom nobody would find it.
        top = caption.height + legend.height
        body = [*legend.lines, f'<g transform="translate(0 {top:.0f})">', *body, "</g>"]
        bottom += caption.height
    else:
        body += legend.lines
    defs = patterns(kind_styles(diagram.kinds).values(), ground) + "\n" + boxes.definitions
    return document(width, bottom + legend.height, diagram.caption, [*caption.lines, *body], look, defs)


class _Grid:
    """Pixels of columns and rows; the root of the whole tree stands for no tokens, and has a narrow column."""

    def __init__(self, diagram: TreeDiagram, boxes: AnyDrawing, places: Places) -> None:
        self.places = places
        self.top = 0.0
        self.step_x, self.step_y = boxes.sizes.width + GAP_X, boxes.sizes.height + GAP_Y
        self.half = boxes.sizes.height / 2
        has_root = bool(diagram.boxes) and not diagram.boxes[0].node
        self._first = ROOT_WIDTH + GAP_X if has_root else self.step_x

    def x(self, column: int) -> float:
        """Left side of a column."""
        return MARGIN + (self._first + (column - 1) * self.step_x if column else 0)

    def y(self, row: int) -> float:
        """Upper side of a row."""
        return self.top + row * self.step_y

    def edge(self, parent: int, column: int, row: int) -> str:
        """Line from the right of a box to the left of a place in the next column."""
        x, from_y, to_y = self.x(column), self.y(self.places.rows[parent]) + self.half, self.y(row) + self.half
        if from_y == to_y:
            return f"M{x - GAP_X:.0f} {from_y:.0f}H{x:.0f}"
        return f"M{x - GAP_X:.0f} {from_y:.0f}h{GAP_X // 2}V{to_y:.0f}H{x:.0f}"


def _edges(diagram: TreeDiagram, places: Places, grid: _Grid, ground: Ground) -> Iterator[str]:
    plain: list[str] = []
    marked: list[str] = []
    for index, parent in enumerate(places.parents):
        if parent >= 0:
            (marked if diagram.boxes[index].on_path else plain).append(
                grid.edge(parent, places.columns[index], places.rows[index])
            )
    for index, parent in enumerate(places.stub_parents):
        if parent >= 0:
            is_outcome = index == len(diagram.stubs)
            line = grid.edge(parent, places.stub_columns[index], places.stub_rows[index])
            (marked if is_outcome else plain).append(line)
    yield from _paths(plain, f'stroke="{GROUNDS[ground].muted}" stroke-width="1.2"')
    yield from _paths(marked, f'stroke="{PATH.paint(ground).stroke}" stroke-width="3"')


def _paths(edges: Sequence[str], looks: str) -> Iterator[str]:
    for start in range(0, len(edges), EDGES_A_PATH):
        yield f'<path d="{"".join(edges[start : start + EDGES_A_PATH])}" fill="none" {looks}/>'


def _stubs(diagram: TreeDiagram, places: Places, grid: _Grid, ground: Ground) -> Iterator[str]:
    looks = f'rx="12" fill="none" stroke="{STUB.paint(ground).stroke}"{dashes(STUB.line)}'
    for index, stub in enumerate(diagram.stubs):
        words = stub_words(stub)
        x, y = grid.x(places.stub_columns[index]), grid.y(places.stub_rows[index]) + grid.half - STUB_HEIGHT / 2
        yield (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width_of(words, 11) + 16:.0f}" height="{STUB_HEIGHT}" {looks}/>'
            f'<text x="{x + 8:.0f}" y="{y + 16:.0f}" class="m">{text_of(words)}</text>'
        )


def _outcome(diagram: TreeDiagram, x: float, y: float, boxes: AnyDrawing, ground: Ground) -> Iterator[str]:
    """What the lookup of the request came to."""
    width, height = boxes.sizes.width, boxes.sizes.height
    lines, size = outcome_lines(diagram), 11
    if not boxes.is_full:
        lines, size = [", ".join(lines[:2]), ", ".join(lines[2:])], 10
    pitch = min(18.0, height / len(lines))
    y += (height - pitch * len(lines)) / 2
    yield (
        f'<path d="M{x:.0f} {y:.0f}v{pitch * len(lines):.0f}" stroke="{PATH.paint(ground).stroke}" stroke-width="3"/>'
    )
    for index, line in enumerate(filter(None, lines)):
        bold = ' class="b"' if index == 0 else ""
        words = text_of(fitted(line, int((width - 10) / (size * ADVANCE))))
        yield f'<text x="{x + 10:.0f}" y="{y + pitch * index + 12:.1f}" font-size="{size}"{bold}>{words}</text>'
