"""Looks that every picture and the terminal share: grounds, hues, and a style with colour, glyph, word and pattern.

No meaning hangs on colour alone: a style has a word, a glyph, an ASCII glyph, a fill pattern and a line as well. Hues
were chosen by search: for eyes without red, green or blue cones any two keep apart, those of DeepSeek-V4's kinds most.
"""

from enum import StrEnum

import msgspec


class Ground(StrEnum):
    """What a picture is drawn on."""

    LIGHT = "light"
    DARK = "dark"


class Pattern(StrEnum):
    """How an area is filled, for readers without colour."""

    SOLID = "solid"
    DIAGONAL = "diagonal"
    """Lines that rise to the right."""
    BACK_DIAGONAL = "back diagonal"
    CROSS = "cross"
    """Both diagonals."""
    VERTICAL = "vertical"
    HORIZONTAL = "horizontal"
    DOTS = "dots"
    GRID = "grid"
    EMPTY = "empty"
    """An outline alone."""


class Line(StrEnum):
    """How an outline is drawn."""

    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    DOUBLE = "double"
    BOLD = "bold"


class Paint(msgspec.Struct, frozen=True):
    """Colours on one ground, each as #rrggbb."""

    stroke: str
    """Lines and bars; stands out from the ground, and may be the colour of a word."""
    fill: str
    """Areas that carry text."""
    text: str
    """Text on `fill`."""


class Hue(msgspec.Struct, frozen=True):
    """One colour on both grounds."""

    light: Paint
    dark: Paint


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How one kind, tier, mark or verdict looks."""

    word: str
    """What a reader sees written, always."""
    glyph: str
    """One cell wide."""
    ascii: str
    """The same where only ASCII can be shown."""
    hue: Hue
    pattern: Pattern = Pattern.SOLID
    line: Line = Line.SOLID
    meaning: str = ""
    """One phrase for the legend."""

    def paint(self, ground: Ground) -> Paint:
        """Its colours on `ground`."""
        return self.hue.light if ground is Ground.LIGHT else self.hue.dark


class GroundPaint(msgspec.Struct, frozen=True):
    """Colours of everything that has no style of its own."""

    background: str
    text: str
    muted: str
    """Captions, counts, edges."""
    line: str
    """Guides and frames that must not catch the eye."""


GROUNDS: dict[Ground, GroundPaint] = {
    Ground.LIGHT: GroundPaint("#ffffff", "#1b1f24", "#555d66", "#c9ced4"),
    Ground.DARK: GroundPaint("#14181d", "#eef1f4", "#a3acb6", "#3b434c"),
}

_ON_LIGHT, _ON_DARK = GROUNDS[Ground.LIGHT].text, GROUNDS[Ground.DARK].text


def _hue(stroke: str, fill: str, dark_stroke: str, dark_fill: str) -> Hue:
    return Hue(Paint(stroke, fill, _ON_LIGHT), Paint(dark_stroke, dark_fill, _ON_DARK))


BLUE = _hue("#256cc1", "#d3e3f8", "#7ba3f4", "#1c3358")
TEAL = _hue("#11414b", "#c9e8ec", "#2dc2d6", "#0b3a42")
ORANGE = _hue("#99581d", "#fae1c8", "#c67530", "#43260c")
PURPLE = _hue("#471c72", "#e6dbf2", "#af6fa3", "#3a1f36")
YELLOW = _hue("#523f00", "#f5ecb8", "#f4dd50", "#4a4008")
ROSE = _hue("#99323f", "#f7d6da", "#f27b99", "#561f30")
GREY = _hue("#5e646c", "#e4e6ea", "#c3c7cb", "#3f454c")
INK = _hue("#1b1f24", "#ffffff", "#eef1f4", "#14181d")
"""The colour of text, for marks that are lines and no areas."""
