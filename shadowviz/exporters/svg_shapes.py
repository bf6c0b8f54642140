"""What a box is made of, without its words: shapes from its left upper corner on."""

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import msgspec

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import ABSENT, LOCKED, NEXT_OUT, ORIGINS, PATH, TOMBSTONE, UNKNOWN, tier_style
from shadowviz.diagrams.theme import GROUNDS, Ground, Pattern, Style
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import STEPS, presence, steps
from shadowviz.exporters.svg_parts import area, dashes

GAP_X, GAP_Y = 34, 12
"""Pixels between boxes."""
HEAT_WIDTH = 5
ROOT_WIDTH, ROOT_HEIGHT = 54.0, 24.0
CORNER = 3
"""Radius of the corners of an outline."""


class Level(IntEnum):
    """What covers what where shapes of one box overlap."""

    GROUND = 0
    BAR = 1
    LINE = 2


class Shape(NamedTuple):
    """A line or an area that begins at a place in its box, and how it looks."""

    level: Level
    x: float
    y: float
    data: str
    """Path data from the place on, without the move to it; relative."""
    looks: str
    """Attributes."""

    @property
    def path(self) -> str:
        """The shape as an element of its own."""
        return f'<path d="M{figure(self.x)} {figure(self.y)}{self.data}" {self.looks}/>'


class Sizes(NamedTuple):
    """Pixels of a box and of one cell in it."""

    width: float
    height: float
    cell_width: float
    cell_height: float


class Shapes:
    """Shapes of the boxes of one diagram."""

    sizes: Sizes

    def __init__(self, diagram: TreeDiagram, ground: Ground) -> None:
        self._ground, self._paint = ground, GROUNDS[ground]
        self.styles = kind_styles(diagram.kinds)
        self.examples: dict[object, KindRows] = {}
        """One of all rows that look alike, for each look that was drawn."""

    def frame_key(self, box: Box) -> tuple[object, ...]:
        """The same for boxes whose frames and marks look alike."""
        return (box.tier, box.locks > 0, box.tombstone, box.next_out, box.on_path, _heat_of(box.heat))

    def frame_looks(self, box: Box) -> str:
        """How the outline and ground of a box look."""
        tier = tier_style(box.tier)
        stroke, fill = self._paint.muted, self._paint.background
        if box.tier != "device":
            stroke = tier.paint(self._ground).stroke
        if box.on_path:
            stroke, fill = PATH.paint(self._ground).stroke, PATH.paint(self._ground).fill
        return f'stroke="{stroke}" fill="{fill}" stroke-width="{3 if box.on_path else 1.5}"{dashes(tier.line)}'

    def marks(self, box: Box) -> Iterator[Shape]:
        """Lock, next to leave, tombstone and heat: around and upon the frame."""
        width, height = self.sizes.width, self.sizes.height
        if box.locks:
            yield outline(-3, width, height, f'stroke="{LOCKED.paint(self._ground).stroke}" fill="none"')
        if box.next_out:
            looks = f'stroke="{NEXT_OUT.paint(self._ground).stroke}" fill="none"'
            yield outline(3, width, height, looks + dashes(NEXT_OUT.line))
        if box.tombstone:
            looks = f'fill="{TOMBSTONE.paint(self._ground).stroke}"'
            yield Shape(Level.LINE, width - 16, 0, "h16v16z", looks)
        yield from self._heat(_heat_of(box.heat), height - 8)

    def root(self, box: Box) -> Shape:
        """Outline of the root of the whole tree, which stands for no tokens."""
        stroke = PATH.paint(self._ground).stroke if box.on_path else self._paint.muted
        looks = f'fill="{self._paint.background}" stroke="{stroke}" stroke-width="{3 if box.on_path else 1.5}"'
        return outline(0, ROOT_WIDTH, ROOT_HEIGHT, looks, ROOT_HEIGHT / 2)

    def cell_key(self, row: KindRows) -> tuple[object, ...]:
        """The same for rows whose cells look alike."""
        return (row.kind, row.owned > 0, steps(row), row.resident is None, row.origin)

    def cell(self, row: KindRows, x: float, y: float) -> Iterator[Shape]:
        """Ground, gauge and outline of a cell; one that is not known has an outline alone, one of no rows nothing."""
        self.examples.setdefault(self.cell_key(row), row)
        style, there = self.styles[row.kind], presence(row)
        if there is None:
            return
        width, height = self.sizes.cell_width - 2, self.sizes.cell_height
        looks = UNKNOWN if there is UNKNOWN else style
        line = there.line if there in (UNKNOWN, ABSENT) else ORIGINS[row.origin].line
        filled = width * steps(row) / STEPS
        if filled:
            thin = 3 if height < 16 else 4
            bar = area(visible(style), self._ground)
            ground = style.paint(self._ground).fill
            yield Shape(Level.GROUND, x, y, box_data(filled, height), f'fill="{ground}"')
            yield Shape(Level.BAR, x, y + height - thin, box_data(filled, thin), f'fill="{bar}"')
        drawn = f'fill="none" stroke="{looks.paint(self._ground).stroke}"{dashes(line)}'
        yield Shape(Level.LINE, x, y, box_data(width, height), drawn)

    def _heat(self, heat: int, full: float) -> Iterator[Shape]:
        """A bar as long as the node is recent; dotted where that is not known."""
        if heat < 0:
            yield Shape(Level.LINE, 4.5, 4, f"v{figure(full)}", f'stroke="{self._paint.muted}"{dashes(UNKNOWN.line)}')
            return
        yield Shape(Level.GROUND, 4.5, 4, f"v{figure(full)}", f'stroke="{self._paint.line}" stroke-width="4"')
        if heat:
            tall = full * heat / STEPS
            looks = f'stroke="{self._paint.muted}" stroke-width="4"'
            yield Shape(Level.BAR, 4.5, 4 + full - tall, f"v{figure(tall)}", looks)


def visible(style: Style) -> Style:
    """A style whose area can be seen: a kind that is an outline by theme still shows how much is there."""
    return msgspec.structs.replace(style, pattern=Pattern.SOLID) if style.pattern is Pattern.EMPTY else style


def outline(inset: float, width: float, height: float, looks: str, radius: float = CORNER) -> Shape:
    """A frame with round corners, so far within one of this size."""
    across, down = figure(width - 2 * inset - 2 * radius), figure(height - 2 * inset - 2 * radius)
    end = figure(radius)
    turn = f"a{end} {end} 0 0 1"
    right = f"h{across}{turn} {end} {end}v{down}{turn}-{end} {end}"
    left = f"h-{across}{turn}-{end}-{end}v-{down}{turn} {end}-{end}"
    return Shape(Level.LINE, inset + radius, inset, f"{right}{left}z", looks)


@lru_cache(4096)
def box_data(width: float, height: float) -> str:
    """Path data of a rectangle, clockwise; ends where it begins."""
    return f"h{figure(width)}v{figure(height)}h-{figure(width)}z"


@lru_cache(4096)
def figure(value: float) -> str:
    """A length as short as it can be written, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def _heat_of(heat: float | None) -> int:
    return -1 if heat is None else min(STEPS, round(max(0.0, heat) * STEPS))
