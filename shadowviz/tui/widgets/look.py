"""How things look in the terminal: rich styles for the shared roles and kinds, under the theme that is on."""

import msgspec
from rich.style import Style as Ink
from textual.theme import Theme

from shadowviz.diagrams.theme import (
    BLUE,
    GREY,
    GROUNDS,
    INK,
    ORANGE,
    PURPLE,
    ROSE,
    TEAL,
    YELLOW,
    Ground,
    Hue,
    Style,
)
from shadowviz.tui.models.cells import steady

HIGH_CONTRAST = "high-contrast"

CONTRAST_THEME = Theme(
    name=HIGH_CONTRAST,
    primary="#ffff00",
    secondary="#00ffff",
    accent="#ffff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#000000",
    warning="#ffff00",
    error="#ff8080",
    success="#00ffff",
    dark=True,
)

_ANSI: dict[Hue, str] = {
    BLUE: "blue",
    TEAL: "cyan",
    ORANGE: "yellow",
    PURPLE: "magenta",
    YELLOW: "bright_yellow",
    ROSE: "red",
    GREY: "bright_black",
    INK: "default",
}


class Look(msgspec.Struct, frozen=True):
    """Inks of one theme; an ink sets the colour of text alone, and lies on whatever a widget stands on."""

    ascii: bool
    ground: Ground
    ansi: bool
    contrast: bool
    text: Ink
    muted: Ink
    strong: Ink
    title: Ink
    cursor: Ink
    """Of the row that the cursor is in, under its other inks."""
    warning: Ink

    def ink(self, style: Style, *, bold: bool = False) -> Ink:
        """Ink of a role or a kind."""
        if self.ansi:
            return Ink(color=_ANSI[style.hue], bold=bold or None)
        if self.contrast:
            return Ink(bold=True)
        return Ink(color=style.paint(self.ground).stroke, bold=bold or None)

    def glyph(self, style: Style) -> str:
        """Mark of a role or a kind."""
        return style.ascii if self.ascii else style.glyph

    def shown(self, text: str) -> str:
        """Text from anywhere, made harmless, with the same width in every terminal."""
        text = steady(text)
        return text.replace("…", "...").encode("ascii", "backslashreplace").decode() if self.ascii else text

    def pick(self, glyphs: str, plain: str) -> str:
        """`glyphs`, or `plain` where only ASCII can be shown."""
        return plain if self.ascii else glyphs


def look_of(theme: Theme, ascii_only: bool) -> Look:
    """The look under a theme."""
    ground = Ground.DARK if theme.dark else Ground.LIGHT
    contrast = theme.name == HIGH_CONTRAST
    paints = GROUNDS[ground]
    if theme.ansi:
        cursor, muted, title, warning = Ink(reverse=True), Ink(dim=True), Ink(bold=True), Ink(bold=True)
    elif contrast:
        cursor, muted = Ink(reverse=True, bold=True), Ink()
        title, warning = Ink(color="#ffff00", bold=True), Ink(color="#ffff00", bold=True)
    else:
        paint = BLUE.dark if theme.dark else BLUE.light
        cursor, muted = Ink(bgcolor=paint.fill, bold=True), Ink(color=paints.muted)
        title = Ink(color=paint.stroke, bold=True)
        warning = Ink(color=(ORANGE.dark if theme.dark else ORANGE.light).stroke, bold=True)
    return Look(
        ascii=ascii_only,
        ground=ground,
        ansi=theme.ansi,
        contrast=contrast,
        text=Ink(),
        muted=muted,
        strong=Ink(bold=True),
        title=title,
        cursor=cursor,
        warning=warning,
    )
