"""A tree as dot text, for Graphviz: boxes with a cell a kind, the path of the request, caption and legend."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from shadowviz.diagrams.roles import LOCKED, PATH, STUB, tier_style
from shadowviz.diagrams.theme import GROUNDS, Ground
from shadowviz.diagrams.tree import Box, TreeDiagram
from shadowviz.exporters.box_words import in_full, name, outcome_lines, outcome_place, stub_words
from shadowviz.exporters.dot_labels import Labels, graph_label, plain, plain_tip
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_parts import ground_of
from shadowviz.tokens.inert import shorten

if TYPE_CHECKING:
    from graphviz import Digraph

HTML_MOST: Final = 1_001
"""Boxes up to which a label is a table with colours: beyond a thousand nodes and the root they take twice the time."""
EXACT_MOST: Final = 301
"""Boxes up to which Graphviz may take all rounds that it likes."""
FONT: Final = "DejaVu Sans Mono"
FAST: Final = {"nslimit": "0.1", "nslimit1": "0.1"}
"""Rounds of Graphviz's network simplex: more take minutes beyond some hundred nodes."""


def render(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:
    """The dot text of a tree of any size."""
    return Drawing(dot_text(diagram, look).encode())


def dot_text(diagram: TreeDiagram, look: Look) -> str:
    """The dot text; the same for the same diagram and look."""
    from graphviz import Digraph

    ground = ground_of(look)
    paint = GROUNDS[ground]
    is_small = len(diagram.boxes) <= HTML_MOST
    graph = Digraph("shadowviz")
    graph.attr("graph", rankdir="LR", ordering="out", ranksep="0.35", nodesep="0.12", bgcolor=paint.background)
    graph.attr("graph", fontname=FONT, fontcolor=paint.text, fontsize="10", pad="0.2", labelloc="t", labeljust="l")
    graph.attr("graph", tooltip=plain_tip(shorten(diagram.caption.title)))
    if len(diagram.boxes) > EXACT_MOST:
        graph.attr("graph", **FAST)
    graph.attr(
        "node", shape="box", fontname=FONT, fontcolor=paint.text, fontsize="10", margin="0.04,0.03", height="0.2"
    )
    graph.attr("node", color=paint.muted)
    graph.attr("edge", color=paint.muted, arrowhead="none", tooltip=" ")
    # Within a cluster Graphviz would turn the order of children round, so one label holds caption and legend.
    graph.attr(label=graph_label(diagram, ground))
    labels = Labels(diagram, ground, is_table=is_small)
    for box in diagram.boxes:
        _add_box(graph, box, labels, ground, diagram)
    _add_edges(graph, diagram, ground)
    _add_stubs(graph, diagram, ground)
    _add_outcome(graph, diagram, ground)
    return str(graph.source)


def titles(diagram: TreeDiagram) -> Iterator[tuple[str, str]]:
    """What a reader sees who points at a box, by the name that Graphviz knows it by."""
    styles = Labels(diagram, Ground.LIGHT, is_table=False).styles
    for box in diagram.boxes:
        yield name(box.node), "\n".join(in_full(box, diagram, styles))


def _add_box(graph: "Digraph", box: Box, labels: Labels, ground: Ground, diagram: TreeDiagram) -> None:
    tier = tier_style(box.tier)
    looks = {"style": str(tier.line), "penwidth": "1.2"}
    if box.tier != "device":
        looks["color"] = tier.paint(ground).stroke
    if box.locks:
        looks |= {"peripheries": "2", "color": LOCKED.paint(ground).stroke}
    if box.on_path:
        paint = PATH.paint(ground)
        looks |= {"color": paint.stroke, "penwidth": "2.5", "style": f"{tier.line},filled", "fillcolor": paint.fill}
    if not box.node:
        graph.node(name(0), plain(name(0)), **{**looks, "style": "rounded", "fontsize": "12"})
        return
    looks["tooltip"] = "&#10;".join(map(plain_tip, in_full(box, diagram, labels.styles)))
    shape = "box" if labels.is_table else "record"
    graph.node(name(box.node), labels.label(box), shape=shape, id=name(box.node), URL=f"#{name(box.node)}", **looks)


def _add_edges(graph: "Digraph", diagram: TreeDiagram, ground: Ground) -> None:
    shown = {box.node: box for box in diagram.boxes}
    for box in diagram.boxes:
        parent = shown.get(box.parent)
        if parent is None or parent is box:
            continue
        looks = {"color": PATH.paint(ground).stroke, "penwidth": "2.5"} if box.on_path else {}
        graph.edge(name(parent.node), name(box.node), **looks)


def _add_stubs(graph: "Digraph", diagram: TreeDiagram, ground: Ground) -> None:
    for index, stub in enumerate(diagram.stubs):
        looks = {"style": "dashed,rounded", "color": STUB.paint(ground).stroke, "tooltip": " "}
        graph.node(f"more{index}", plain(stub_words(stub)), **looks)
        graph.edge(name(stub.parent), f"more{index}", style="dashed")


def _add_outcome(graph: "Digraph", diagram: TreeDiagram, ground: Ground) -> None:
    """What the lookup of the request came to, beside the node where its prompt parted."""
    if not diagram.request or not diagram.boxes:
        return
    stroke = PATH.paint(ground).stroke
    lines = "".join(f"{plain(line)}\\l" for line in outcome_lines(diagram))
    graph.node("lookup", lines, shape="note", color=stroke, tooltip=" ")
    node = diagram.boxes[outcome_place(diagram)].node
    graph.edge(name(node), "lookup", color=stroke, penwidth="2.5", style="dashed")
