"""Pictures as PNG: the SVG of the same diagram, drawn with fonts that are always there."""

from typing import Final

from shadowviz.exporters import svg_cells, svg_ruler, svg_table, svg_tree
from shadowviz.exporters.from_svg import from_svg
from shadowviz.exporters.typeset import Typesetter

SCALE: Final = 2.0
"""Pixels of the file for one of the picture: text stays sharp where it is pasted and zoomed."""


def _encode(typesetter: Typesetter, svg: bytes) -> tuple[bytes, str]:
    data, scale = typesetter.png(svg, SCALE)
    small = f"drawn at {scale / SCALE:.0%} of the usual size, the largest that a png may have"
    return data, small if scale < SCALE else ""


render_tree = from_svg(svg_tree.render, _encode)
render_ruler = from_svg(svg_ruler.render, _encode)
render_cells = from_svg(svg_cells.render, _encode)
render_lookups = from_svg(svg_table.render_lookups, _encode)
render_memory = from_svg(svg_table.render_memory, _encode)
render_changes = from_svg(svg_table.render_changes, _encode)
