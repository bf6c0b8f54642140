"""Pictures as PDF of one page: the SVG of the same diagram, with its fonts inside."""

from collections.abc import Callable
from typing import Any

from shadowviz.diagrams.cells import BoundaryDiagram
from shadowviz.diagrams.changes import ChangesDiagram
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.diagrams.lookups import LookupsDiagram
from shadowviz.diagrams.memory import MemoryDiagram
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_cells import render as draw_cells
from shadowviz.exporters.svg_ruler import render as draw_ruler
from shadowviz.exporters.svg_table import render_changes as draw_changes
from shadowviz.exporters.svg_table import render_lookups as draw_lookups
from shadowviz.exporters.svg_table import render_memory as draw_memory
from shadowviz.exporters.svg_tree import render as draw_tree
from shadowviz.exporters.typeset import Typesetter


def render_tree(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:
    """A tree.

    Raises:
        InputError: it is too large to be typeset.
    """
    return _render(draw_tree, diagram, look)


def render_ruler(diagram: DerivationDiagram, look: Look = LIGHT) -> Drawing:
    """A ruler."""
    return _render(draw_ruler, diagram, look)


def render_cells(diagram: BoundaryDiagram, look: Look = LIGHT) -> Drawing:
    """A heat map."""
    return _render(draw_cells, diagram, look)


def render_lookups(diagram: LookupsDiagram, look: Look = LIGHT) -> Drawing:
    """The lookups of a run."""
    return _render(draw_lookups, diagram, look)


def render_memory(diagram: MemoryDiagram, look: Look = LIGHT) -> Drawing:
    """Bytes by kind, and the nodes that hold most."""
    return _render(draw_memory, diagram, look)


def render_changes(diagram: ChangesDiagram, look: Look = LIGHT) -> Drawing:
    """What differs between two trees."""
    return _render(draw_changes, diagram, look)


def _render(draw: Callable[[Any, Look], Drawing], diagram: object, look: Look) -> Drawing:
    typesetter = Typesetter()
    drawing = draw(diagram, look)
    data, scale = typesetter.pdf(drawing.data)
    notes = drawing.notes
    if scale < 1:
        notes = (*notes, f"drawn at {scale:.0%} of the usual size, the largest that a page may have: zoom in")
    return Drawing(data, ", ".join(filter(None, (drawing.drawn_by, typesetter.version))), notes)
