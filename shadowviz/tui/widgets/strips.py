"""Strips made in one go: every step on the way to one costs as much as drawing it."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink
from textual.strip import Strip


def marked(cells: Iterable[tuple[str, Ink]], at: int) -> list[Segment]:
    """Cells as segments, those that look alike in one; cell `at`, where the cursor is, is set off."""
    segments: list[Segment] = []
    for index, (text, ink) in enumerate(cells):
        if index == at:
            segments.append(Segment(text, ink + Ink(reverse=True)))
        elif segments and index - 1 != at and segments[-1].style == ink:
            segments[-1] = Segment(segments[-1].text + text, ink)
        else:
            segments.append(Segment(text, ink))
    return segments


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
