"""What is not there: rows that went, rows that the tree never holds, rows of which nothing is known."""

from collections.abc import Callable

import pytest
from trees import caption_of, wide_state

from shadowviz.diagrams.roles import ABSENT
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.exporters import dot, html_tree, mermaid
from shadowviz.exporters.formats import Drawing, Look
from shadowviz.exporters.svg_tree import render as render_svg


def draw_svg(diagram: TreeDiagram) -> Drawing:
    return render_svg(diagram, Look(renderer="own"))


@pytest.mark.parametrize(
    "render", [html_tree.render, draw_svg, dot.render, mermaid.render], ids=["html", "svg", "dot", "mermaid"]
)
def test_rows_that_live_with_a_request_are_not_said_to_be_gone(render: Callable[[TreeDiagram], Drawing]) -> None:
    state = wide_state(30, name="glm5-next")
    diagram = tree_diagram(caption_of(state), state)
    rows = [row for box in diagram.boxes for row in box.rows if row.kind == "index_tail"]
    assert any(row.owned for row in rows)
    assert {row.resident for row in rows} == {0}
    told = render(diagram).data.decode()
    assert ABSENT.meaning not in told
    assert "never in the tree" in told
