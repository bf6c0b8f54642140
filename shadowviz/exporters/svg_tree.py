"""A tree as SVG: by Graphviz where there is one and the tree is small enough, else by the layout that is built in."""

import re
from typing import Final

from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.dot import FONT, dot_text, titles
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.renderers import RendererError, find_program, run_program
from shadowviz.exporters.svg_own import draw_tree
from shadowviz.exporters.svg_parts import FONTS, text_of
from shadowviz_engine.core.errors import InputError

DOT_MOST: Final = 2_000
"""Boxes that Graphviz lays out in seconds; beyond, it takes minutes."""
OWN: Final = "built-in layout"
_TITLE = re.compile(r"<title>([^<]*)</title>")


def render(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:
    """The picture; one always comes out, unless Graphviz alone was asked for.

    Raises:
        InputError: Graphviz was asked for and is not there, or the tree is too large for it.
        RendererError: Graphviz was asked for and failed.
    """
    if look.renderer == "own":
        return Drawing(draw_tree(diagram, look), OWN)
    if look.renderer == "dot":
        return _by_graphviz(diagram, look)
    num = len(diagram.boxes)
    if num > DOT_MOST:
        return Drawing(draw_tree(diagram, look), OWN)
    if find_program() is None:
        return Drawing(draw_tree(diagram, look), OWN)
    try:
        return _by_graphviz(diagram, look)
    except RendererError as error:
        return Drawing(draw_tree(diagram, look), OWN, (f"{error}; the {OWN} drew it instead",))


def _by_graphviz(diagram: TreeDiagram, look: Look) -> Drawing:
    if len(diagram.boxes) > DOT_MOST:
        raise InputError(
            f"{len(diagram.boxes):,} nodes are more than Graphviz lays out in reasonable time: expected at most "
            f"{DOT_MOST:,}; show less with --root, --depth, --min-tokens or --collapse, or let the {OWN} draw it"
        )
    program = find_program()
    if program is None:
        raise InputError("Graphviz was asked for, but no dot is on the PATH: pip install 'shadowviz[dot]'")
    svg = run_program(program, dot_text(diagram, look), "svg", look.timeout_s).decode()
    return Drawing(_finished(svg, diagram).encode(), program.version)


def _finished(svg: str, diagram: TreeDiagram) -> str:
    """Graphviz's SVG with fonts for every machine, and titles that browsers show."""
    said = dict(titles(diagram))

    def title(found: re.Match[str]) -> str:
        text = said.get(found[1])
        return found[0] if text is None else f"<title>{'&#10;'.join(map(text_of, text.splitlines()))}</title>"

    return _TITLE.sub(title, svg).replace(f'font-family="{FONT}"', f'font-family="{FONTS}"')
