"""Pictures as PDF of one page: the SVG of the same diagram, with its fonts inside."""

from shadowviz.exporters import svg_cells, svg_ruler, svg_table, svg_tree
from shadowviz.exporters.from_svg import from_svg
from shadowviz.exporters.typeset import Typesetter


def _encode(typesetter: Typesetter, svg: bytes) -> tuple[bytes, str]:
    data, scale = typesetter.pdf(svg)
    small = f"drawn at {scale:.0%} of the usual size, the largest that a page may have: zoom in"
    return data, small if scale < 1 else ""


render_tree = from_svg(svg_tree.render, _encode)
render_ruler = from_svg(svg_ruler.render, _encode)
render_cells = from_svg(svg_cells.render, _encode)
render_lookups = from_svg(svg_table.render_lookups, _encode)
render_memory = from_svg(svg_table.render_memory, _encode)
render_changes = from_svg(svg_table.render_changes, _encode)
