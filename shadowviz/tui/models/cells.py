"""Text in a fixed number of terminal cells, and bars of nested lengths."""

import re
from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from shadowviz.tokens.inert import printable

_UNSTEADY = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""Variation selectors and skin tones: some terminals make one picture of them and what is before, others two."""

BAR_MARKS = ("█▓▒░·", "#=-:.")
"""For reused, usable, matched, common and the rest of a prompt: as glyphs, and in ASCII."""


def steady(text: str) -> str:
    """`text` with whatever terminals disagree on the width of written out, beside what `printable` writes out."""
    if not text.isprintable():
        text = printable(text)
    return text if text.isascii() else _UNSTEADY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def fit(text: str, width: int, more: str = "…") -> str:
    """`text` in exactly `width` cells; `more` stands where it was cut."""
    return text + " " * (width - cell_len(text)) if cell_len(text) <= width else clip(text, width, more)


def clip(text: str, width: int, more: str = "…") -> str:
    """`text` in at most `width` cells, in exactly that many where it was cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - len(more)) + more if width >= len(more) else set_cell_size(text, max(0, width))


def fit_middle(text: str, width: int, more: str = "…") -> str:
    """`text` in exactly `width` cells, cut in its middle: ids that begin alike can be told apart by their ends."""
    if cell_len(text) <= width:
        return fit(text, width)
    room = width - len(more)
    if room < 2:
        return fit(text, width, more)
    end = text[len(text) - room // 2 :]
    while cell_len(end) > room // 2:
        end = end[1:]
    return set_cell_size(text, room - cell_len(end)) + more + end


def right(text: str, width: int, more: str = "…") -> str:
    """`text` at the right end of `width` cells."""
    return " " * (width - cell_len(text)) + text if cell_len(text) <= width else clip(text, width, more)


def figures(numbers: Sequence[int], width: int, between: str = "") -> str:
    """Numbers at the right end of `width` cells, as exact as these allow: with commas, without, in k or in M."""
    text = ""
    for write in _WAYS:
        text = between.join(map(write, numbers))
        if len(text) <= width:
            break
    return right(text, width)


_WAYS: tuple[Callable[[int], str], ...] = (
    "{:,}".format,
    str,
    lambda number: f"{number // 1000}k" if number >= 1000 else str(number),
    lambda number: f"{number // 1_000_000}M" if number >= 1_000_000 else f"{number // 1000}k",
)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at blanks, or anywhere in a word that is longer."""
    width, lines, line = max(1, width), list[str](), ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        pieces = list(_pieces(word, width))
        lines += pieces[:-1]
        line = pieces[-1]
    return [*lines, line]


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word in pieces of at most `width` cells, or of one character where that has more."""
    start = used = 0
    for place, character in enumerate(word):
        cells = cell_len(character)
        if used + cells > width and place > start:
            yield word[start:place]
            start, used = place, 0
        used += cells
    yield word[start:]


def nested_bar(lengths: Sequence[int], whole: int, width: int, ascii_only: bool) -> str:
    """A bar of `whole` tokens: how far each of `lengths` reaches, the shortest first, each with its mark.

    Whatever is there has at least one cell, and nothing looks whole that is not.
    """
    marks = BAR_MARKS[ascii_only]
    cells, at = "", 0
    for length, mark in zip(lengths, marks, strict=False):
        reach = 0 if whole <= 0 else length * width // whole
        if length > 0 and reach == 0:
            reach = 1
        cells += mark * max(0, reach - at)
        at = max(at, reach)
    return cells + marks[-1] * (width - at)
