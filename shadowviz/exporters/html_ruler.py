"""The ruler as an HTML page: a lane for each state kind over the tokens, the cut, and what each row was made from."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.lanes import Bar, DerivationDiagram, Lane
from shadowviz.diagrams.roles import ABSENT, COMPUTED, CUT, NEEDED, NEVER, OPEN, REUSED, UNKNOWN
from shadowviz.diagrams.theme import GREY, Pattern, Style
from shadowviz.exporters.box_words import missing
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_legend import Entry, Styles, area, glyph, line, outline
from shadowviz.exporters.html_page import Page, drawn_by, rendered, swatches
from shadowviz.exporters.html_text import Pool, harmless
from shadowviz.exporters.svg_frame import meaning
from shadowviz.replay.counts import counted
from shadowviz_engine.core.spans import Extent

MADE_FROM = Style(word="made from", glyph="─", ascii="-", hue=GREY, meaning="tokens that a row was made from, below it")
_UNKNOWN = replace(UNKNOWN, pattern=Pattern.DOTS)
_OPEN = replace(OPEN, pattern=Pattern.GRID)
_COLUMNS = ("there", "gone", "unknown", "open", "never")
"""What a bar's state is called in the table below."""


def render(diagram: DerivationDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    styles, pool = Styles(), Pool()
    kinds = kind_styles(lane.kind for lane in diagram.lanes)
    looks = {lane.kind: _looks(diagram, kinds[lane.kind]) for lane in diagram.lanes}
    lanes = [_lane(lane, kinds[lane.kind], looks[lane.kind], styles, pool) for lane in diagram.lanes]
    data = {
        "span": list(diagram.span),
        "cut": diagram.cut,
        "page": diagram.page_size,
        "lanes": lanes,
        "marks": [[position, harmless(name)] for position, name in diagram.marks],
        "text": [harmless(text) for text in diagram.text],
        "reused": styles.number(REUSED),
        "computed": styles.number(COMPUTED),
        "madeFrom": styles.number(MADE_FROM),
        "pool": pool.texts,
        "styles": styles.data(),
    }
    page = Page(
        template="ruler",
        script="ruler",
        caption=diagram.caption,
        values={
            "legend": swatches(_legend(diagram, kinds)),
            "lanes": [_row(lane, kinds[lane.kind]) for lane in diagram.lanes],
            "cut": diagram.cut,
            "page": diagram.page_size,
        },
        data=data,
        styles=(*styles.used(), *kinds.values()),
    )
    return Drawing(rendered(page), drawn_by())


def has_state(diagram: DerivationDiagram) -> bool:
    """Whether the picture is of a run; without one, every row is shown that arithmetic asks for."""
    return diagram.caption.last_seq >= 0


def _looks(diagram: DerivationDiagram, kind: Style) -> tuple[Style, ...]:
    """A bar that is there, is gone, is not known, is open, never was."""
    there = replace(kind, pattern=Pattern.SOLID)
    return there, ABSENT, _UNKNOWN if has_state(diagram) else there, _OPEN, NEVER


def _state(bar: Bar) -> int:
    if bar.open:
        return 3
    if bar.resident is False:
        return 1 if bar.once else 4
    return 2 if bar.resident is None else 0


def _lane(lane: Lane, kind: Style, looks: tuple[Style, ...], styles: Styles, pool: Pool) -> dict[str, Any]:
    told = looks[2] is not looks[0]
    return {
        "name": f"{kind.glyph} {kind.word}",
        "looks": styles.numbers(looks),
        "bars": [
            [
                *bar.tokens,
                *bar.reads,
                _state(bar),
                int(bar.needed),
                pool.number(_rows(bar.rows)),
                *_facts(bar, lane, kind, told, pool),
            ]
            for bar in lane.bars
        ],
    }


def _rows(rows: Extent) -> str:
    return f"{rows.start:,}" if rows.size == 1 else f"{rows.start:,}..{rows.stop - 1:,}"


def _facts(bar: Bar, lane: Lane, kind: Style, told: bool, pool: Pool) -> Iterator[list[int]]:
    """Everything that is known of a bar, as numbers of lines."""
    several = bar.rows.size != 1
    lines = [f"{kind.word} {'rows' if several else 'row'} {_rows(bar.rows)}"]
    if several:
        lines.append(counted(bar.rows.size, "row"))
    lines.append(f"tokens {bar.tokens}")
    if bar.reads != bar.tokens:
        lines.append(f"made from tokens {bar.reads}")
    if bar.open:
        lines.append(f"{OPEN.word}: {OPEN.meaning}")
    elif told or bar.resident is not None:
        there = {True: "resident", False: meaning(missing(bar)), None: f"unknown: {UNKNOWN.meaning}"}
        lines.append(there[bar.resident])
    lines.append(f"{NEEDED.word}: {NEEDED.meaning}" if bar.needed else "going on at the cut does not read it")
    lines.append(f"in {counted(len(lane.layers), 'layer')}")
    yield pool.numbers(lines)


def _legend(diagram: DerivationDiagram, kinds: dict[str, Style]) -> list[Entry]:
    bars = [bar for lane in diagram.lanes for bar in lane.bars]
    states = {_state(bar) for bar in bars}
    entries = [
        *((area(replace(style, pattern=Pattern.SOLID)), True) for style in kinds.values()),
        (area(ABSENT), 1 in states),
        (area(NEVER), 4 in states),
        (area(_UNKNOWN), 2 in states and has_state(diagram)),
        (area(_OPEN), 3 in states),
        (outline(NEEDED), any(bar.needed for bar in bars)),
        (line(MADE_FROM), any(bar.reads != bar.tokens for bar in bars)),
        (area(REUSED), True),
        (area(COMPUTED), True),
        (glyph(CUT, f"{CUT.word} at {diagram.cut:,}: {CUT.meaning}"), True),
    ]
    return [entry for entry, is_there in entries if is_there]


def _row(lane: Lane, kind: Style) -> dict[str, Any]:
    """A lane in figures."""
    sums = dict.fromkeys(("rows", "needed", *_COLUMNS), 0)
    for bar in lane.bars:
        if bar.open:
            continue
        sums["rows"] += bar.rows.size
        sums["needed"] += bar.rows.size * bar.needed
        sums[_COLUMNS[_state(bar)]] += bar.rows.size
    return {"name": kind.word, "meaning": kind.meaning, "unit": lane.unit, "layers": len(lane.layers), **sums}
