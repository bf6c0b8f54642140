"""Tokens across a picture: where each lies, ticks with numbers, and named positions whose names never overlap."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from shadowviz.diagrams.theme import GROUNDS, Ground
from shadowviz.exporters.svg_parts import fitted, text_of, width_of
from shadowviz_engine.core.spans import Extent

LEVEL = 15
MOST_LEVELS = 8


class Axis(NamedTuple):
    """Where tokens lie."""

    left: float
    pixels: float
    """Of one token."""
    span: Extent

    def x(self, token: int) -> float:
        """Left side of a token."""
        return self.left + (token - self.span.start) * self.pixels

    @property
    def right(self) -> float:
        """Right side of the last token."""
        return self.x(self.span.stop)

    def clipped(self, tokens: Extent) -> tuple[int, int]:
        """The part of some tokens that lies in the picture; a part of its first or last token at least."""
        start = min(max(tokens.start, self.span.start), self.span.stop)
        return start, max(start, min(tokens.stop, self.span.stop))


def tick_lines(axis: Axis, y: float, page: int, ground: Ground) -> tuple[list[str], float]:
    """Positions along the axis, and the height below them."""
    step = nice_step(axis.span.size, max(1, int((axis.right - axis.left) / 70)))
    lines = []
    first = -(-axis.span.start // step) * step
    for token in range(first, axis.span.stop + 1, step):
        x = axis.x(token)
        lines.append(
            f'<text x="{x:.1f}" y="{y + 11:.1f}" class="s m c">{token:,}</text>'
            f'<path d="M{x:.1f} {y + 15:.1f}v5" class="l"/>'
        )
    pages = range(-(-axis.span.start // page) * page, axis.span.stop + 1, page) if page else range(0)
    if len(pages) <= 200:
        lines += [f'<path d="M{axis.x(token):.1f} {y + 13:.1f}v9" stroke="{GROUNDS[ground].text}"/>' for token in pages]
    return lines, y + 24


def nice_step(size: int, most: int) -> int:
    """The smallest round distance that gives at most `most` ticks: powers of two, as units and pages are."""
    step = 1
    while size // step > most:
        step *= 2
    return step


def mark_lines(
    marks: Sequence[tuple[int, str]], axis: Axis, y: float, ground: Ground
) -> tuple[Callable[[float], list[str]], float]:
    """What draws named positions down to a given height, and the height below their names."""
    ends: list[float] = []
    placed: list[tuple[float, float, str, int]] = []
    for token, name in marks:
        if not axis.span.start <= token <= axis.span.stop:
            continue
        words = fitted(f"{name} {token:,}", 60)
        wide = width_of(words, 10) + 10
        # A name at the right end stands left of its line.
        start = axis.x(token) if axis.x(token) + wide < axis.right + 60 else axis.x(token) - wide
        level = next((level for level, end in enumerate(ends) if end <= start), len(ends))
        if level >= MOST_LEVELS:
            continue
        ends[level : level + 1] = [start + wide]
        placed.append((axis.x(token), start, words, level))
    bottom = y + LEVEL * len(ends) + (6 if ends else 0)

    def draw(down_to: float) -> list[str]:
        muted = GROUNDS[ground].muted
        return [
            f'<path d="M{x:.1f} {y + LEVEL * level + 4:.1f}V{down_to:.1f}" stroke="{muted}" stroke-dasharray="2 4"/>'
            f'<text x="{start + 4:.1f}" y="{y + LEVEL * level + 12:.1f}" class="s">{text_of(words)}</text>'
            for x, start, words, level in placed
        ]

    return draw, bottom
