"""A tree as SVG: by Graphviz where there is one and the tree is small enough, else by the layout that is built in."""

import re
from collections.abc import Sequence
from typing import Final

from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.dot import FONT, dot_text, titles
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.renderers import Program, RendererError, find_programs, run_program
from shadowviz.exporters.svg_own import draw_tree
from shadowviz.exporters.svg_parts import FONTS, text_of
from shadowviz_engine.core.errors import InputError

READABLE_MOST: Final = 20_000
"""Boxes up to which browsers open a picture in seconds: Chromium took 7 s and 0.4 GB, of 50,000 17 s and 0.8 GB."""
DOT_MOST: Final = 2_000
"""Boxes that Graphviz lays out in seconds; beyond, it takes minutes."""
DOT_LEVELS: Final = 24
"""Levels up to which Graphviz has the root beside what it leads to; deeper trees slant until a screen shows neither."""
OWN: Final = "built-in layout"
_TITLE = re.compile(r"<title>([^<]*)</title>")


def render(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:
    """The picture; one always comes out, unless Graphviz alone was asked for.

    Raises:
        InputError: Graphviz was asked for and is not there, or the tree is too large for it.
        RendererError: Graphviz was asked for and failed.
    """
    if look.renderer == "own":
        return _by_own(diagram, look)
    if look.renderer == "dot":
        return _by_graphviz(diagram, look)
    if len(diagram.boxes) > DOT_MOST or max((box.depth for box in diagram.boxes), default=0) > DOT_LEVELS:
        return _by_own(diagram, look)
    drawing, failures = _by_first(find_programs(), diagram, look)
    if drawing is not None:
        return drawing
    return Drawing(
        draw_tree(diagram, look), OWN, tuple(f"{failure}; the {OWN} drew it instead" for failure in failures)
    )


def _by_own(diagram: TreeDiagram, look: Look) -> Drawing:
    num = len(diagram.boxes)
    large = (
        f"a picture of {num:,} nodes takes browsers tens of seconds to open: html shows them at once, and --collapse, "
        "--depth, --root or --min-tokens show fewer"
    )
    return Drawing(draw_tree(diagram, look), OWN, (large,) if num > READABLE_MOST else ())


def _by_graphviz(diagram: TreeDiagram, look: Look) -> Drawing:
    if len(diagram.boxes) > DOT_MOST:
        raise InputError(
            f"{len(diagram.boxes):,} nodes are more than Graphviz lays out in reasonable time: expected at most "
            f"{DOT_MOST:,}; show less with --root, --depth, --min-tokens or --collapse, or let the {OWN} draw it"
        )
    drawing, failures = _by_first(find_programs(), diagram, look)
    if drawing is not None:
        return drawing
    if failures:
        raise failures[0]
    raise InputError("Graphviz was asked for, but no dot is on the PATH: pip install 'shadowviz[dot]'")


def _by_first(
    programs: Sequence[Program], diagram: TreeDiagram, look: Look
) -> tuple[Drawing | None, list[RendererError]]:
    """What the first program draws that can, and how those before it failed."""
    failures: list[RendererError] = []
    for program in programs:
        try:
            svg = run_program(program, dot_text(diagram, look), "svg", look.timeout_s).decode()
        except RendererError as error:
            failures.append(error)
            continue
        notes = tuple(f"{failure}; {program.version} drew it instead" for failure in failures)
        return Drawing(_finished(svg, diagram).encode(), program.version, notes), failures
    return None, failures


def _finished(svg: str, diagram: TreeDiagram) -> str:
    """Graphviz's SVG with fonts for every machine, and titles that browsers show."""
    said = dict(titles(diagram))

    def title(found: re.Match[str]) -> str:
        text = said.get(found[1])
        return found[0] if text is None else f"<title>{'&#10;'.join(map(text_of, text.splitlines()))}</title>"

    return _TITLE.sub(title, svg).replace(f'font-family="{FONT}"', f'font-family="{FONTS}"')
