"""Parts of SVG pictures: safe text, text that fits, areas with a pattern, and the whole document."""

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.theme import GROUNDS, Ground, Line, Pattern, Style
from shadowviz.exporters.formats import Look
from shadowviz.tokens.inert import printable, shorten

FONTS: Final = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"
"""One width a character, so that what was measured here fits wherever the picture is opened."""
ADVANCE: Final = 0.604
"""Width of a character in ems: the widest of FONTS."""
MARGIN: Final = 16
DASHES: Final = {Line.DASHED: "5 3", Line.DOTTED: "1.5 2.5"}
_PATTERNS: Final = {
    Pattern.DIAGONAL: "M-1 1L1 -1M0 6L6 0M5 7L7 5",
    Pattern.BACK_DIAGONAL: "M-1 5L1 7M0 0L6 6M5 -1L7 1",
    Pattern.CROSS: "M0 6L6 0M0 0L6 6",
    Pattern.VERTICAL: "M1.5 0V6M4.5 0V6",
    Pattern.HORIZONTAL: "M0 1.5H6M0 4.5H6",
    Pattern.DOTS: "M1 2H3M4 5H6",
    Pattern.GRID: "M0 3H6M3 0V6",
}


def ground_of(look: Look) -> Ground:
    """What the picture is drawn on."""
    return Ground.DARK if look.dark else Ground.LIGHT


def text_of(text: str) -> str:
    """Text as XML may hold it: nothing in it is markup, a control character, or reorders its neighbours."""
    return escape(text if text.isprintable() else printable(text))


def width_of(text: str, size: float) -> float:
    """Pixels that a text takes in a font of `size` pixels."""
    return columns_of(text) * size * ADVANCE


def columns_of(text: str) -> int:
    """Columns that a text takes: East Asian wide characters have two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns_of_one, text))


def fitted(text: str, columns: int) -> str:
    """A text of at most `columns` columns; an ellipsis marks the cut."""
    if text.isascii() and len(text) <= columns and text.isprintable():
        return text
    # What cannot be shown is written out, and then is longer.
    text = printable(text[: 4 * columns + 4])
    if columns_of(text) <= columns and len(text) <= 2 * columns:
        return text
    kept, used = [], 0
    for character in text[: 2 * columns]:
        used += _columns_of_one(character)
        if used >= columns:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def wrapped(text: str, columns: int, most: int = 6) -> list[str]:
    """Lines of at most `columns` columns, at most `most` of them; the last shows that something was left out."""
    lines: list[str] = []
    line = ""
    for word in printable(text[: columns * most * 2]).split(" "):
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= columns:
            line = longer
            continue
        lines += [line] if line else []
        line = fitted(word, columns)
    lines += [line] if line else []
    if len(lines) > most or (lines and len(text) > columns * most * 2):
        lines = lines[:most]
        lines[-1] = fitted(lines[-1] + " …", columns)
    return lines


def area(style: Style, ground: Ground) -> str:
    """Value of `fill` for an area in the colour and pattern of a style; a pattern must be defined by `patterns`."""
    if style.pattern is Pattern.EMPTY:
        return "none"
    if style.pattern is Pattern.SOLID:
        return style.paint(ground).stroke
    return f"url(#{_pattern_name(style, ground)})"


def patterns(styles: Iterable[Style], ground: Ground) -> str:
    """Definitions of the patterns that areas of these styles use, each once."""
    made: dict[str, str] = {}
    for style in styles:
        lines = _PATTERNS.get(style.pattern)
        if lines is not None:
            name, paint = _pattern_name(style, ground), style.paint(ground)
            made[name] = (
                f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
                f'<rect width="6" height="6" fill="{paint.fill}"/>'
                f'<path d="{lines}" stroke="{paint.stroke}" stroke-width="1.6" fill="none"/></pattern>'
            )
    return "\n".join(made.values())


def dashes(line: Line) -> str:
    """The attribute that draws an outline as `line` says; empty for a solid one."""
    return f' stroke-dasharray="{DASHES[line]}"' if line in DASHES else ""


def document(width: float, height: float, caption: Caption, body: Sequence[str], look: Look, defs: str = "") -> bytes:
    """The whole file: its own ground, so that it is legible on any page, and a name for those who cannot see it."""
    name = f"{shorten(caption.title)}: {shorten(caption.source)}"
    ground = GROUNDS[ground_of(look)]
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONTS}" font-size="11">',
        f"<title>{text_of(name)}</title>",
        "<style>",
        f"text{{fill:{ground.text};white-space:pre}} .m{{fill:{ground.muted}}} .b{{font-weight:bold}}",
        ".s{font-size:10px} .h{font-size:12px;font-weight:bold} .i{font-style:italic}",
        f".l{{stroke:{ground.line}}} .e{{text-anchor:end}} .c{{text-anchor:middle}}",
        "</style>",
        f"<defs>{defs}</defs>",
        f'<rect width="100%" height="100%" fill="{ground.background}"/>',
        *body,
        "</svg>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _pattern_name(style: Style, ground: Ground) -> str:
    return f"{style.pattern.replace(' ', '-')}-{style.paint(ground).stroke[1:]}"


def _columns_of_one(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
