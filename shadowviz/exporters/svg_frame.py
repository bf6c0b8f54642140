"""What stands around every SVG picture: above it what it shows, below it the legend."""

from collections.abc import Sequence
from typing import NamedTuple

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.roles import ORIGINS, PATH
from shadowviz.diagrams.theme import GROUNDS, Ground, Line, Pattern, Style
from shadowviz.exporters.svg_parts import ADVANCE, MARGIN, area, dashes, fitted, text_of, width_of, wrapped

WIDEST = 1400
"""Pixels that captions and legends fill; a picture may be much wider."""
NARROWEST = 760
SWATCH = 26
LEGEND_ROW = 20


class Block(NamedTuple):
    """Lines of SVG, and the height they take."""

    lines: list[str]
    height: float


class Entry(NamedTuple):
    """One entry of a legend: a swatch 26 x 14 at the origin, and what it means."""

    swatch: str
    text: str


def place_in_time(caption: Caption) -> str:
    """The event after which the state is shown."""
    if caption.last_seq < 0:
        return ""
    if caption.seq < 0:
        return f"before the first of {caption.last_seq + 1:,} events"
    return f"after event {caption.seq:,} of {caption.last_seq:,}"


def shown_of(caption: Caption) -> str:
    """How much of the whole is shown."""
    if caption.shown == caption.total:
        return f"{caption.total:,} {caption.unit}"
    return f"{caption.shown:,} of {caption.total:,} {caption.unit} shown"


def caption_lines(caption: Caption) -> list[str]:
    """Source, event, geometry, and counts: two lines below the title."""
    place = [caption.source, place_in_time(caption), caption.geometry]
    figures = [shown_of(caption), *(f"{name} {value}" for name, value in caption.counts)]
    return [" · ".join(filter(None, place)), " · ".join(figures)]


def caption_block(caption: Caption, width: float, ground: Ground, request: str = "") -> Block:
    """Title, source, event, geometry, counts, verdict and notes; begins at the top margin."""
    columns = int((min(width, WIDEST) - 2 * MARGIN) / (11 * ADVANCE))
    y = MARGIN + 14.0
    title = fitted(caption.title, int(columns * 11 / 16))
    lines = [f'<text x="{MARGIN}" y="{y:.0f}" font-size="16" font-weight="bold">{text_of(title)}</text>']
    for line in caption_lines(caption):
        for part in wrapped(line, columns):
            y += 17
            lines.append(f'<text x="{MARGIN}" y="{y:.0f}" class="m">{text_of(part)}</text>')
    if caption.verdict:
        y += 4
        top, paint = y + 6, PATH.paint(ground)
        verdict = f"{request}: {caption.verdict}" if request else caption.verdict
        for part in wrapped(verdict, int(columns * 11 / 12) - 2):
            y += 18
            lines.append(f'<text x="{MARGIN + 12}" y="{y:.0f}" class="h">{text_of(part)}</text>')
        lines.append(f'<rect x="{MARGIN}" y="{top:.0f}" width="4" height="{y - top + 4:.0f}" fill="{paint.stroke}"/>')
        y += 2
    for note in caption.notes[:12]:
        for part in wrapped(note, columns):
            y += 16
            lines.append(f'<text x="{MARGIN}" y="{y:.0f}" class="m i">{text_of(part)}</text>')
    return Block(lines, y + 16)


def paragraph(text: str, y: float, width: float, looks: str = "", most: int = 6) -> Block:
    """A text below what stands at `y`, wrapped to the picture; the height is that of its last line.

    Args:
        looks: attributes of each line, such as a class; a command is set off by them.
        most: lines at most.
    """
    lines = []
    for part in wrapped(text, int((width - 2 * MARGIN) / (11 * ADVANCE)), most):
        y += 16
        lines.append(f'<text x="{MARGIN}" y="{y:.1f}"{looks}>{text_of(part)}</text>')
    return Block(lines, y)


def legend_block(entries: Sequence[Entry], top: float, width: float) -> Block:
    """Entries beside each other, in as many rows as they need; the height does not hold `top`."""
    right = min(width, WIDEST) - MARGIN
    lines = [f'<path d="M{MARGIN} {top:.0f}H{right:.0f}" class="l"/>']
    x, y = float(MARGIN), top + 12
    for entry in entries:
        before = SWATCH + 6 if entry.swatch else 0
        wide = before + width_of(entry.text, 10) + 20
        if x > MARGIN and x + wide > right:
            x, y = float(MARGIN), y + LEGEND_ROW
        if entry.swatch:
            lines.append(f'<g transform="translate({x:.1f} {y:.1f})">{entry.swatch}</g>')
        lines.append(f'<text x="{x + before:.1f}" y="{y + 11:.1f}" class="s">{text_of(entry.text)}</text>')
        x += wide
    return Block(lines, y - top + LEGEND_ROW + MARGIN)


def meaning(style: Style) -> str:
    """Word and meaning of a style, for a legend."""
    return f"{style.word}: {style.meaning}" if style.meaning else style.word


def area_entry(style: Style, ground: Ground, text: str = "") -> Entry:
    """An area in colour and pattern."""
    outline = dashes(style.line) if style.pattern is Pattern.EMPTY else ""
    looks = f'fill="{area(style, ground)}" stroke="{style.paint(ground).stroke}"{outline}'
    return Entry(f'<rect width="{SWATCH}" height="13" {looks}/>', text or meaning(style))


def outline_entry(style: Style, ground: Ground, text: str = "") -> Entry:
    """An outline as it is drawn around boxes."""
    stroke = style.paint(ground).stroke
    inner = f'<rect x="3" y="3" width="{SWATCH - 6}" height="7" fill="none" stroke="{stroke}"/>'
    thick = ' stroke-width="3"' if style.line is Line.BOLD else ""
    swatch = (
        f'<rect width="{SWATCH}" height="13" fill="none" stroke="{stroke}"{thick}{dashes(style.line)}/>'
        f"{inner if style.line is Line.DOUBLE else ''}"
    )
    return Entry(swatch, text or meaning(style))


def glyph_entry(style: Style, ground: Ground, text: str = "") -> Entry:
    """A glyph in its colour."""
    stroke = style.paint(ground).stroke
    swatch = f'<text x="{SWATCH - 8}" y="11" font-size="12" style="fill:{stroke}" class="c">{style.glyph}</text>'
    return Entry(swatch, text or meaning(style))


def origin_entries(ground: Ground) -> list[Entry]:
    """How observed, derived and assumed figures are told apart."""
    stroke = GROUNDS[ground].text
    looks = {"derived": ' class="i"', "assumed": ""}
    return [
        Entry(
            f'<rect width="{SWATCH}" height="13" fill="none" stroke="{stroke}"{dashes(style.line)}/>'
            f'<text x="{SWATCH // 2}" y="10" font-size="9" text-anchor="middle"{looks.get(style.word, "")}>12</text>',
            meaning(style),
        )
        for style in ORIGINS.values()
    ]
