"""Parts of boxes that many boxes share, such as a frame or a cell: each is defined once and used by its name."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import ABSENT, LOCKED, NEXT_OUT, ORIGINS, PATH, TOMBSTONE, UNKNOWN, tier_style
from shadowviz.diagrams.theme import GROUNDS, Ground, Pattern, Style
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import STEPS, presence, steps
from shadowviz.exporters.svg_parts import area, dashes, text_of

HEAT_WIDTH = 5


class Sizes(NamedTuple):
    """Pixels of a box and of one cell in it."""

    width: float
    height: float
    cell_width: float
    cell_height: float


class Symbols:
    """Names of parts by what they show; `definitions` are those that were asked for."""

    sizes: Sizes

    def __init__(self, diagram: TreeDiagram, ground: Ground) -> None:
        self._ground, self._paint = ground, GROUNDS[ground]
        self.styles = kind_styles(diagram.kinds)
        self._names: dict[object, str] = {}
        self._made: list[str] = []
        self.examples: list[KindRows] = []
        """One of all rows that look alike, for each look that was drawn."""

    @property
    def definitions(self) -> str:
        """All parts that were asked for, in that order."""
        return "\n".join(self._made)

    def frame(self, box: Box) -> str:
        """Outline, ground and heat of a box."""
        heat = -1 if box.heat is None else min(STEPS, round(max(0.0, box.heat) * STEPS))
        key = (box.tier, box.locks > 0, box.tombstone, box.next_out, box.on_path, heat)
        return self._names.get(key) or self._define(key, "f", lambda: self._frame(box, heat))

    def root(self, box: Box) -> str:
        """Outline of the root of the whole tree, which stands for no tokens."""
        key = ("root", box.on_path)
        stroke = PATH.paint(self._ground).stroke if box.on_path else self._paint.muted
        looks = f'fill="{self._paint.background}" stroke="{stroke}" stroke-width="{3 if box.on_path else 1.5}"'
        return self._names.get(key) or self._define(
            key, "r", lambda: iter((f'<rect width="54" height="24" rx="12" {looks}/>',))
        )

    def cell(self, row: KindRows) -> str:
        """Ground, gauge and word of a kind."""
        key = (row.kind, row.owned > 0, steps(row), row.resident is None, row.origin)
        return self._names.get(key) or self._define(key, "c", lambda: self._cell(row))

    def strip(self, cells: tuple[str, ...]) -> str:
        """Cells beside each other, by the names that `cell` gave."""
        return self._names.get(cells) or self._define(cells, "s", lambda: self._strip(cells))

    def _define(self, key: object, prefix: str, content: Callable[[], Iterator[str]]) -> str:
        name = f"{prefix}{len(self._names)}"
        self._names[key] = name
        # Parts that this one is made of come first.
        made = "".join(content())
        self._made.append(f'<g id="{name}">{made}</g>')
        return name

    def _frame(self, box: Box, heat: int) -> Iterator[str]:
        width, height = self.sizes.width, self.sizes.height
        tier = tier_style(box.tier)
        paint, stroke = PATH.paint(self._ground), self._paint.muted
        if box.locks:
            yield _outline(-3, width, height, f'stroke="{LOCKED.paint(self._ground).stroke}" fill="none"')
        if box.tier != "device":
            stroke = tier.paint(self._ground).stroke
        fill = self._paint.background
        if box.on_path:
            stroke, fill = paint.stroke, paint.fill
        looks = f'stroke="{stroke}" fill="{fill}" stroke-width="{3 if box.on_path else 1.5}"'
        yield _outline(0, width, height, looks + dashes(tier.line))
        if box.next_out:
            looks = f'stroke="{NEXT_OUT.paint(self._ground).stroke}" fill="none"'
            yield _outline(3, width, height, looks + dashes(NEXT_OUT.line))
        if box.tombstone:
            yield f'<path d="M{width - 16:.0f} 0H{width:.0f}V16Z" fill="{TOMBSTONE.paint(self._ground).stroke}"/>'
        yield from self._heat(heat, height - 8)

    def _heat(self, heat: int, full: float) -> Iterator[str]:
        """A bar as long as the node is recent; dotted where that is not known."""
        if heat < 0:
            yield f'<path d="M4.5 4v{full:.0f}" stroke="{self._paint.muted}"{dashes(UNKNOWN.line)}/>'
            return
        yield f'<path d="M4.5 4v{full:.0f}" stroke="{self._paint.line}" stroke-width="4"/>'
        if heat:
            tall = full * heat / STEPS
            yield f'<path d="M4.5 {4 + full - tall:.1f}v{tall:.1f}" stroke="{self._paint.muted}" stroke-width="4"/>'

    def _cell(self, row: KindRows) -> Iterator[str]:
        style, there = self.styles[row.kind], presence(row)
        self.examples.append(row)
        height, small = self.sizes.cell_height, self.sizes.cell_height < 16
        yield from self._gauge(row, self.sizes.cell_width - 2, height, 3 if small else 4)
        unknown = "?" if small and there is UNKNOWN else ""
        size, y = (8, 7.5) if small else (10, 12)
        muted = ' class="m"' if there is None else ""
        yield f'<text x="4" y="{y}" font-size="{size}"{muted}>{unknown}{text_of(style.word)}</text>'

    def _strip(self, cells: Sequence[str]) -> Iterator[str]:
        for place, name in enumerate(cells):
            yield f'<use href="#{name}" x="{place * self.sizes.cell_width:.1f}"/>'

    def _gauge(self, row: KindRows, width: float, height: float, thin: float) -> Iterator[str]:
        """A cell whose ground and bar tell how many rows are there; one that is not known has neither."""
        style, there = self.styles[row.kind], presence(row)
        if there is None:
            return
        looks = UNKNOWN if there is UNKNOWN else style
        line = there.line if there in (UNKNOWN, ABSENT) else ORIGINS[row.origin].line
        filled = width * steps(row) / STEPS
        if filled:
            bar = area(visible(style), self._ground)
            yield f'<rect width="{filled:.1f}" height="{height}" fill="{style.paint(self._ground).fill}"/>'
            yield f'<rect y="{height - thin}" width="{filled:.1f}" height="{thin}" fill="{bar}"/>'
        outline = f'stroke="{looks.paint(self._ground).stroke}"{dashes(line)}'
        yield f'<rect width="{width:.1f}" height="{height}" fill="none" {outline}/>'


def visible(style: Style) -> Style:
    """A style whose area can be seen: a kind that is an outline by theme still shows how much is there."""
    return msgspec.structs.replace(style, pattern=Pattern.SOLID) if style.pattern is Pattern.EMPTY else style


def _outline(inset: float, width: float, height: float, looks: str) -> str:
    size = f'width="{width - 2 * inset:.1f}" height="{height - 2 * inset:.1f}"'
    return f'<rect x="{inset}" y="{inset}" {size} rx="3" {looks}/>'
