"""The ruler as SVG: tokens across, a lane a state kind, the cut where a hit ends."""

from collections.abc import Iterator
from typing import Final

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.lanes import Bar, DerivationDiagram, Lane
from shadowviz.diagrams.roles import ABSENT, COMPUTED, CUT, NEEDED, NEVER, OPEN, ORIGINS, REUSED, UNKNOWN
from shadowviz.diagrams.theme import GROUNDS, Ground, Line, Style
from shadowviz.exporters.box_words import missing
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_axis import Axis, mark_lines, tick_lines
from shadowviz.exporters.svg_frame import (
    SWATCH,
    Entry,
    area_entry,
    caption_block,
    legend_block,
    meaning,
    outline_entry,
)
from shadowviz.exporters.svg_parts import MARGIN, area, dashes, document, fitted, ground_of, patterns, text_of, width_of
from shadowviz.exporters.svg_shapes import visible
from shadowviz_engine.core.derive import Origin

LABELS: Final = 190
"""Pixels of the names at the left."""
ACROSS: Final = 1080
WIDEST_TOKEN: Final = 24.0
TEXT_TOKEN: Final = 11.0
"""Pixels of a token from which on its text is shown."""
TEXT_COLUMNS: Final = 14
LANE: Final = 36
NARROW: Final = 12.0
BAR: Final = 18
READS_MOST: Final = 40
"""Bars of a lane up to which each shows what it was made from; of more, only the needed ones at the cut."""


def render(diagram: DerivationDiagram, look: Look = LIGHT) -> Drawing:
    """The picture; the same bytes for the same diagram and look."""
    ground = ground_of(look)
    tokens = max(1, diagram.span.size)
    axis = Axis(MARGIN + LABELS, min(WIDEST_TOKEN, ACROSS / tokens), diagram.span)
    width = max(axis.right + 2 * MARGIN, 760.0)
    caption = caption_block(diagram.caption, width, ground)
    marks, y = mark_lines(diagram.marks, axis, caption.height, ground)
    texts, y = _texts(diagram, axis, y)
    ticks, y = tick_lines(axis, y, diagram.page_size, ground)
    body = [*caption.lines, *texts, *ticks, *_reuse(diagram, axis, y, ground)]
    top = y = y + LANE
    styles = kind_styles(lane.kind for lane in diagram.lanes)
    for lane in diagram.lanes:
        body += _lane(lane, styles[lane.kind], diagram, axis, y, ground)
        y += LANE
    body += marks(y)
    body += _cut(diagram, axis, top - LANE - 6, y, ground)
    legend = legend_block(_legend(diagram, ground), y + 26, width)
    defs = patterns(map(visible, styles.values()), ground)
    return Drawing(document(width, y + 26 + legend.height, diagram.caption, [*body, *legend.lines], look, defs))


def _texts(diagram: DerivationDiagram, axis: Axis, y: float) -> tuple[list[str], float]:
    """Tokens as text, upright where there is room for them."""
    if not diagram.text or axis.pixels < TEXT_TOKEN:
        return [], y
    words = [fitted(text, TEXT_COLUMNS) for text in diagram.text]
    bottom = y + max(width_of(word, 10) for word in words) + 8
    lines = [
        f'<text transform="translate({axis.x(diagram.span.start + place) + axis.pixels / 2 + 4:.1f} {bottom - 4:.1f}) '
        f'rotate(-90)" class="s">{text_of(word)}</text>'
        for place, word in enumerate(words)
    ]
    return lines, bottom


def _reuse(diagram: DerivationDiagram, axis: Axis, y: float, ground: Ground) -> Iterator[str]:
    """What is reused and what is computed, as one band."""
    span, cut = diagram.span, min(max(diagram.cut, diagram.span.start), diagram.span.stop)
    yield f'<text x="{MARGIN}" y="{y + 13:.1f}" class="b">tokens</text>'
    for start, stop, style in ((span.start, cut, REUSED), (cut, span.stop, COMPUTED)):
        if stop <= start:
            continue
        wide, paint = (stop - start) * axis.pixels, style.paint(ground)
        fill = paint.fill if style is REUSED else area(style, ground)
        yield (
            f'<rect x="{axis.x(start):.1f}" y="{y:.1f}" width="{wide:.1f}" height="{BAR}" fill="{fill}" '
            f'stroke="{paint.stroke}"{dashes(style.line)}/>'
        )
        words = fitted(f"{style.word} {stop - start:,}", int((wide - 8) / 6.1))
        if len(words) > 3:
            yield _on_bar(words, axis.x(start) + wide / 2, y, ground)


def _on_bar(words: str, x: float, y: float, ground: Ground) -> str:
    """Words on a ground of their own, so that a pattern below does not cross them."""
    wide = width_of(words, 10) + 6
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y + 3:.1f}" width="{wide:.1f}" height="{BAR - 6}" '
        f'fill="{GROUNDS[ground].background}"/><text x="{x:.1f}" y="{y + 13:.1f}" class="s c">{text_of(words)}</text>'
    )


def _lane(lane: Lane, style: Style, diagram: DerivationDiagram, axis: Axis, y: float, ground: Ground) -> Iterator[str]:
    unit = f"1 row = {lane.unit:,} tokens" if lane.unit > 1 else "1 row a token"
    if _is_snapshots(lane):
        unit = f"every {lane.unit:,} tokens"
    layers = f", {len(lane.layers)} layers" if lane.layers else ""
    yield (
        f'<text x="{MARGIN}" y="{y + 9:.1f}" class="b">{text_of(fitted(style.word, 24))}</text>'
        f'<text x="{MARGIN}" y="{y + 21:.1f}" class="s m">{unit}{layers}</text>'
        f'<path d="M{axis.left:.1f} {y + BAR:.1f}H{axis.right:.1f}" class="l"/>'
    )
    has_source = diagram.caption.last_seq >= 0
    for bar in lane.bars:
        yield from _bar(bar, style, axis, y, ground, has_source)
    read = lane.bars if len(lane.bars) <= READS_MOST else [bar for bar in lane.bars if bar.needed][-1:]
    muted = GROUNDS[ground].muted
    for bar in read:
        start = max(bar.reads.start, diagram.span.start)
        # What a row reads of its own range is its own place; the rest is its overlap.
        if bar.rows.size == 1 and lane.unit > 1 and start < bar.tokens.start and not _is_snapshots(lane):
            # Those of neighbours overlap: at one height they would run together.
            above = 3 if bar.rows.start % 2 else 7
            yield (
                f'<path d="M{axis.x(start) + 1:.1f} {y - above:.1f}v3H{axis.x(bar.tokens.start) + 2:.1f}" '
                f'fill="none" stroke="{muted}"/>'
            )


def _bar(bar: Bar, style: Style, axis: Axis, y: float, ground: Ground, has_source: bool) -> Iterator[str]:
    start, stop = axis.clipped(bar.tokens)
    wide = max(0.5, (stop - start) * axis.pixels - (1 if axis.pixels * (stop - start) > 4 else 0))
    fill, stroke, line = _bar_looks(bar, style, ground, has_source)
    # Around a narrow bar dashes would be noise.
    looks = f'stroke="{stroke}"{dashes(line) if wide >= NARROW else ""}'
    x = axis.x(start)
    yield f"<g><title>{text_of(_bar_words(bar, style, has_source))}</title>"
    yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{BAR}" fill="{fill}" {looks}/>'
    if bar.resident or (bar.resident is None and not bar.open and not has_source):
        yield (
            f'<rect x="{x:.1f}" y="{y + BAR - 4:.1f}" width="{wide:.1f}" height="4" '
            f'fill="{area(visible(style), ground)}"/>'
        )
    if bar.needed:
        yield (
            f'<path d="M{x:.1f} {y + BAR + 3:.1f}h{wide:.1f}" stroke="{NEEDED.paint(ground).stroke}" stroke-width="3"/>'
        )
    words = _rows_words(bar)
    if wide < NARROW and not bar.open and bar.resident is None and has_source:
        # Too narrow for the dots that say so.
        yield f'<text x="{x + wide / 2:.1f}" y="{y - 2:.1f}" font-size="9" class="c b">{UNKNOWN.glyph}</text>'
    if width_of(words, 9) < wide - 2:
        yield f'<text x="{x + wide / 2:.1f}" y="{y + 11:.1f}" font-size="9" class="c">{words}</text>'
    yield "</g>"


def _bar_looks(bar: Bar, style: Style, ground: Ground, has_source: bool) -> tuple[str, str, Line]:
    if bar.open:
        return "none", OPEN.paint(ground).stroke, OPEN.line
    if bar.resident is None and has_source:
        return "none", UNKNOWN.paint(ground).stroke, UNKNOWN.line
    if bar.resident is False:
        # What never was must not catch the eye as what is missing does.
        return "none", ABSENT.paint(ground).stroke if bar.once else GROUNDS[ground].line, missing(bar).line
    line = ORIGINS[Origin.OBSERVED if has_source else Origin.DERIVED].line
    return style.paint(ground).fill, style.paint(ground).stroke, line


def _is_snapshots(lane: Lane) -> bool:
    """Whether each row is the state after one token, made from all before it."""
    return lane.unit > 1 and bool(lane.bars) and all(bar.tokens.size == 1 and bar.rows.size == 1 for bar in lane.bars)


def _rows_words(bar: Bar) -> str:
    return f"{bar.rows.start}" if bar.rows.size == 1 else f"{bar.rows.start}..{bar.rows.stop - 1}"


def _bar_words(bar: Bar, style: Style, has_source: bool) -> str:
    """All of a bar, for a reader who points at it."""
    if bar.open:
        there = OPEN.meaning
    elif bar.resident is None:
        there = f"{UNKNOWN.word}: {UNKNOWN.meaning}" if has_source else ORIGINS[Origin.DERIVED].meaning
    else:
        there = "there" if bar.resident else meaning(missing(bar))
    needed = f", {NEEDED.meaning}" if bar.needed else ""
    return f"{style.word} rows {_rows_words(bar)}: tokens {bar.tokens}, made from {bar.reads}; {there}{needed}"


def _cut(diagram: DerivationDiagram, axis: Axis, top: float, bottom: float, ground: Ground) -> Iterator[str]:
    if not diagram.span.start <= diagram.cut <= diagram.span.stop:
        return
    x, paint = axis.x(diagram.cut), CUT.paint(ground)
    yield f'<path d="M{x:.1f} {top:.1f}V{bottom + 4:.1f}" stroke="{paint.stroke}" stroke-width="2.5"/>'
    words = f"{CUT.glyph} cut {diagram.cut:,}"
    at = min(max(x, axis.left + 40), axis.right - 40)
    yield f'<text x="{at:.1f}" y="{bottom + 16:.1f}" class="b c">{words}</text>'


def _legend(diagram: DerivationDiagram, ground: Ground) -> list[Entry]:
    styles = kind_styles(lane.kind for lane in diagram.lanes)
    bars = [bar for lane in diagram.lanes for bar in lane.bars]
    has_source = diagram.caption.last_seq >= 0
    cut = min(max(diagram.cut, diagram.span.start), diagram.span.stop)
    fill = REUSED.paint(ground)
    reused = f'<rect width="{SWATCH}" height="13" fill="{fill.fill}" stroke="{fill.stroke}"/>'
    entries = [Entry(reused, meaning(REUSED))] if cut > diagram.span.start else []
    entries += [area_entry(COMPUTED, ground)] if cut < diagram.span.stop else []
    entries += [area_entry(visible(style), ground, meaning(style)) for style in styles.values()]
    stroke = NEEDED.paint(ground).stroke
    if any(bar.needed for bar in bars):
        entries.append(Entry(f'<path d="M0 8H{SWATCH}" stroke="{stroke}" stroke-width="3"/>', meaning(NEEDED)))
    absent = {missing(bar) for bar in bars if bar.resident is False}
    if ABSENT in absent:
        entries.append(outline_entry(ABSENT, ground))
    if NEVER in absent:
        pale = f'<rect x="0.5" y="0.5" width="{SWATCH - 1}" height="13" fill="none" stroke="{GROUNDS[ground].line}"/>'
        entries.append(Entry(pale, meaning(NEVER)))
    if has_source and any(bar.resident is None and not bar.open for bar in bars):
        entries.append(outline_entry(UNKNOWN, ground, f"{UNKNOWN.glyph} {meaning(UNKNOWN)}"))
    if not has_source:
        entries.append(outline_entry(ORIGINS[Origin.DERIVED], ground))
    if any(bar.open for bar in bars):
        entries.append(outline_entry(OPEN, ground))
    reading = [bar for lane in diagram.lanes if not _is_snapshots(lane) for bar in lane.bars if not bar.open]
    if any(bar.reads.start < bar.tokens.start and bar.rows.size == 1 for bar in reading):
        bracket = f'<path d="M1 4v5H{SWATCH}" fill="none" stroke="{GROUNDS[ground].muted}"/>'
        entries.append(Entry(bracket, "tokens before its own range that a row was made from"))
    pages = [Entry("", f"long ticks: pages of {diagram.page_size:,} tokens")] if diagram.page_size > 1 else []
    return [*entries, Entry("", meaning(CUT)), *pages]
