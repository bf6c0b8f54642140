"""Legends of HTML pages: swatches for both grounds, of which the page shows one."""

from collections.abc import Iterable
from typing import NamedTuple

from shadowviz.diagrams.theme import Ground, Pattern, Style
from shadowviz.exporters.svg_frame import SWATCH, area_entry, glyph_entry, meaning, outline_entry

_SHAPES = {
    Pattern.DIAGONAL: "/",
    Pattern.BACK_DIAGONAL: "\\",
    Pattern.CROSS: "x",
    Pattern.VERTICAL: "|",
    Pattern.HORIZONTAL: "-",
    Pattern.DOTS: ".",
    Pattern.GRID: "+",
}
"""What Plotly calls a pattern."""


class Entry(NamedTuple):
    """One entry: drawings 26 x 13 for both grounds, and what they mean."""

    light: str
    dark: str
    text: str


def area(style: Style, text: str = "") -> Entry:
    """An area in colour and pattern, with its glyph named."""
    light, dark = (_area(style, ground) for ground in Ground)
    return Entry(light, dark, text or f"{style.glyph} {meaning(style)}")


def _area(style: Style, ground: Ground) -> str:
    if style.pattern is not Pattern.SOLID:
        return area_entry(style, ground).swatch
    # Text stands on it in the picture, so it has the pale colour.
    paint = style.paint(ground)
    return f'<rect width="{SWATCH}" height="13" fill="{paint.fill}" stroke="{paint.stroke}"/>'


def letter(style: Style) -> Entry:
    """A cell of a heat map: its colour, and its letter on it."""
    light, dark = (_letter(style, ground) for ground in Ground)
    return Entry(light, dark, meaning(style))


def _letter(style: Style, ground: Ground) -> str:
    paint = style.paint(ground)
    fill = {Pattern.EMPTY: "none", Pattern.SOLID: paint.fill}.get(style.pattern, cell_colour(style, ground))
    outline = f'<rect width="{SWATCH}" height="13" fill="{fill}" stroke="{paint.stroke}"/>'
    return f'{outline}<text x="{SWATCH // 2}" y="11" font-size="12" class="c">{style.glyph}</text>'


def line(style: Style) -> Entry:
    """A thick line."""
    light, dark = (
        f'<path d="M0 7H{SWATCH}" stroke="{style.paint(ground).stroke}" stroke-width="4"/>' for ground in Ground
    )
    return Entry(light, dark, meaning(style))


def outline(style: Style, text: str = "") -> Entry:
    """An outline."""
    light, dark = (outline_entry(style, ground).swatch for ground in Ground)
    return Entry(light, dark, text or f"{style.glyph} {meaning(style)}")


def glyph(style: Style, text: str = "") -> Entry:
    """A glyph."""
    light, dark = (glyph_entry(style, ground).swatch for ground in Ground)
    return Entry(light, dark, text or meaning(style))


class Styles:
    """Styles that a page's script uses, by number."""

    def __init__(self) -> None:
        self._numbers: dict[Style, int] = {}

    def number(self, style: Style) -> int:
        """Of a style, the same for equal ones."""
        return self._numbers.setdefault(style, len(self._numbers))

    def numbers(self, styles: Iterable[Style]) -> list[int]:
        """Of several."""
        return [self.number(style) for style in styles]

    def used(self) -> tuple[Style, ...]:
        """All of them."""
        return tuple(self._numbers)

    def data(self) -> list[dict[str, object]]:
        """For the script: word, glyph, Plotly's name of the pattern, and colours for both grounds."""
        return [_data(style) for style in self._numbers]


def _data(style: Style) -> dict[str, object]:
    paints = {
        ground.value: {
            "stroke": style.paint(ground).stroke,
            "fill": style.paint(ground).fill,
            "text": style.paint(ground).text,
            "cell": cell_colour(style, ground),
            "faint": _between(style.paint(ground).fill, style.paint(ground).stroke),
        }
        for ground in Ground
    }
    return {
        "word": style.word,
        "glyph": style.glyph,
        "shape": _SHAPES.get(style.pattern, ""),
        "empty": style.pattern is Pattern.EMPTY,
        **paints,
    }


def cell_colour(style: Style, ground: Ground) -> str:
    """Of a cell that catches the eye, and still lets its letter be read."""
    return _between(style.paint(ground).fill, style.paint(ground).stroke, 0.6)


def _between(fill: str, stroke: str, part: float = 0.45) -> str:
    """A colour between two, for lines below text."""
    pairs = zip(bytes.fromhex(fill[1:]), bytes.fromhex(stroke[1:]), strict=True)
    return "#" + bytes(round(low + (high - low) * part) for low, high in pairs).hex()
