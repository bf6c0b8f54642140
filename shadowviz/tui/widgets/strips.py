"""Strips made in one go: every step on the way to one costs as much as drawing it."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink
from textual.strip import Strip


def strip_of(segments: Iterable[Segment], width: int, base: Ink) -> Strip:
    """Segments on `base`, in exactly `width` cells."""
    inked, used = list[Segment](), 0
    for text, ink, _ in segments:
        if text:
            inked.append(Segment(text, base + ink if ink else base))
            used += cell_len(text)
    if used < width:
        inked.append(Segment(" " * (width - used), base))
    strip = Strip(inked, max(used, width))
    return strip if used <= width else strip.crop(0, width)
