"""Formats that are the SVG of the same diagram, typeset: what they share."""

from collections.abc import Callable
from typing import Any

from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.typeset import Typesetter

Encode = Callable[[Typesetter, bytes], tuple[bytes, str]]
"""The file, and a note where it is smaller than usual, else an empty text."""


def from_svg(draw: Callable[[Any, Look], Drawing], encode: Encode) -> Callable[..., Drawing]:
    """A renderer that draws by `draw` and typesets the picture by `encode`; `look` may be left out.

    It raises InputError where the picture is too large to be typeset.
    """

    def render(diagram: object, look: Look = LIGHT) -> Drawing:
        # First, so that a missing typesetter is told before anything is drawn.
        typesetter = Typesetter()
        drawing = draw(diagram, look)
        data, note = encode(typesetter, drawing.data)
        by = ", ".join(filter(None, (drawing.drawn_by, typesetter.version)))
        return Drawing(data, by, (*drawing.notes, note) if note else drawing.notes)

    return render
