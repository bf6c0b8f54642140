"""What the inspector says beside the ruler: the token, the row at the cursor, and what the cut depends on."""

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.replay.counts import tokens
from shadowviz.tui.models.ruler_model import Blocking, CellState, RulerLane
from shadowviz.tui.screens.ruler_first_words import RulerKeys, cut_words, first_words
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ruler_rows import RulerRows, RulerShown, legend
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.spans import Extent, total

MAX_CHOSEN = 48
"""Selected entries that are written out."""
MAX_MISSING = 3
"""Stretches of missing rows that are written out."""
NO_KEYS = RulerKeys()

_SAYS = {
    CellState.EMPTY: "no row belongs to this token",
    CellState.OPEN: "its window is still open: no entry yet",
    CellState.ABSENT: "not there, and not read at the cut",
    CellState.SPARE: "there, not read at the cut",
    CellState.HELD: "there, and read at the cut",
    CellState.MISSING: "read at the cut, but not there",
    CellState.UNKNOWN: "no event says whether it is there",
}


def ruler_paragraphs(rows: RulerRows, look: Look, keys: RulerKeys = NO_KEYS) -> list[Paragraph]:
    """What must be known first, then the token and the row at the cursor, the cut and what it reads, and the marks."""
    shown = rows.shown
    blocking = sorted(shown.model.blocking(shown.place.layer), key=_urgency)
    parts = [
        *first_words(shown, keys, look),
        _token(shown, look),
        _row(rows, look),
        *_selected(shown, look),
        cut_words(shown, look),
        *(_blocking(one, shown.model.is_arithmetic, look) for one in blocking),
    ]
    if keys.back:
        parts.append(Paragraph(f"{keys.back} gives the moment back that was shown before", look.muted))
    if shown.subject.note:
        parts.append(Paragraph(shown.subject.note, look.muted))
    parts += [Paragraph(words, look.muted, f"{mark:<8}", look.strong) for mark, words in legend(look)]
    return parts


def _urgency(blocking: Blocking) -> int:
    """What is missing stands first, then what is not known."""
    return 0 if blocking.missing else 1 if not blocking.known else 2


def _token(shown: RulerShown, look: Look) -> Paragraph:
    token, ids = shown.place.token, shown.subject.tokens
    if token >= shown.model.length:
        return Paragraph(f"the end, behind {tokens(shown.model.length)}", look.text, "token  ", look.title)
    words = f"{token:,} of {shown.model.length:,}"
    if ids is not None:
        text = f" '{shown.words.text([ids[token]])}'" if shown.words is not None else ""
        words += f", id {ids[token]}{text}"
    here = next((names for position, names in shown.subject.marks if position == token), "")
    words += f"; {_side(shown, token)}"
    return Paragraph(f"{words}; here: {here}" if here else words, look.text, "token  ", look.title)


def _side(shown: RulerShown, token: int) -> str:
    if token >= shown.model.cut:
        return "computed"
    return "not reused" if shown.is_impossible else "reused"


def _row(rows: RulerRows, look: Look) -> Paragraph:
    shown, lane = rows.shown, rows.lane
    if lane is None:
        return Paragraph("this layer has no state of its own", look.muted)
    style = kind_style(lane.kind.label)
    token = min(shown.place.token, max(0, shown.model.length - 1))
    state = lane.cells(shown.model.edges(token, 1, 1))[0]
    lead = f"{look.glyph(style)} {look.shown(style.word)}  "
    return Paragraph(f"{_place(lane, token, state)}; {_SAYS[state]}", look.text, lead, look.ink(style))


def _place(lane: RulerLane, token: int, state: CellState) -> str:
    if lane.kind.shape is not Shape.RANGE or state is CellState.OPEN:
        return f"token {token:,}"
    row = lane.row_at(token)
    own, reads = lane.own(row), lane.reads(row)
    words = f"entry {row:,}: own tokens {_range(own)}"
    before = own.start - reads.start
    words += f", made from {_range(reads)}, so {before:,} before its own" if before else ""
    return f"{words} (derived)"


def _range(extent: Extent) -> str:
    return f"[{extent.start:,}..{extent.stop:,})"


def _selected(shown: RulerShown, look: Look) -> list[Paragraph]:
    if shown.chosen is None or shown.chosen_lane is None:
        return []
    chosen = shown.chosen
    listed = ", ".join(f"{entry:,}" for entry in chosen[:MAX_CHOSEN]) + (" ..." if len(chosen) > MAX_CHOSEN else "")
    layer = f"layer {shown.chosen_layer}, "
    words = f"{layer}query {shown.place.token:,}: {len(chosen):,} entries: {listed}" if chosen else f"{layer}{NO_QUERY}"
    return [Paragraph(words, look.text, "selected  ", look.title)]


NO_QUERY = "no query here is on record: reused, not computed yet, or before the first entry"


def _blocking(blocking: Blocking, is_arithmetic: bool, look: Look) -> Paragraph:
    style = kind_style(blocking.kind)
    lead = f"{look.glyph(style)} {look.shown(style.word)}  "
    need = f"rows {_range(blocking.needed)}"
    if is_arithmetic:
        return Paragraph(f"reads {need} (derived)", look.text, lead, look.ink(style))
    if not blocking.known:
        return Paragraph(f"no event says whether {need} are there", look.muted, lead, look.ink(style))
    if not blocking.missing:
        return Paragraph(f"yes: {need} are all there", look.text, lead, look.ink(style))
    stretches = ", ".join(_range(extent) for extent in blocking.missing[:MAX_MISSING])
    more = " and more" if len(blocking.missing) > MAX_MISSING else ""
    num = f"{total(blocking.missing):,} of {blocking.needed.size:,}"
    return Paragraph(f"NO: of {need} {num} are missing: {stretches}{more}", look.warning, lead, look.ink(style))
