"""Plain forms of the ruler, diff, stress, pools and events."""

from collections.abc import Iterable, Iterator

from shadowviz.sources.selection_index import SelectionIndex
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.comparison import compared, prompt_of, rival_of
from shadowviz.tui.models.event_rows import EventRows
from shadowviz.tui.models.pool_history import PoolHistory
from shadowviz.tui.models.ruler_place import ZOOMS, RulerPlace
from shadowviz.tui.models.ruler_subject import subject_of
from shadowviz.tui.screens.ruler_inspector import ruler_paragraphs
from shadowviz.tui.screens.stress_inspector import legend
from shadowviz.tui.session import Session
from shadowviz.tui.stress_checks import StressChecks
from shadowviz.tui.stress_words import stand_of, stand_words
from shadowviz.tui.widgets.diff_lines import diff_lines, report_paragraphs
from shadowviz.tui.widgets.event_view import EventLines
from shadowviz.tui.widgets.event_view import header as event_header
from shadowviz.tui.widgets.lines import Line
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.pool_lines import PoolLines
from shadowviz.tui.widgets.ruler_rows import LABEL, RulerRows, RulerShown
from shadowviz.tui.widgets.stress_view import HEADS, StressPlace, StressRows
from shadowviz.tui.widgets.stress_view import ZOOMS as COLUMN_ZOOMS
from shadowviz.tui.widgets.text_pane import Paragraph

FOREVER = float("inf")


def ruler(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    """The whole prompt of what is selected, else of the newest request, at the zoom at which it fits."""
    from shadowviz.tokens.words import words_of

    subject = subject_of(session, frame.selection)
    if subject is None or frame.opened is None:
        yield "nothing with tokens is on record"
        return
    place, model = RulerPlace(), subject.model
    place.zoom = next((zoom for zoom in ZOOMS if model.length < zoom * (width - LABEL - 2)), ZOOMS[-1])
    place.move(model.cut, model.length, width - LABEL - 2)
    entries, layer, lane = None, -1, None
    if frame.opened.sidecar and subject.request:
        index = SelectionIndex(session.follower.path, frame.opened.sidecar)
        index.sync(FOREVER)
        layer = next(iter(index.layers(subject.request)), -1)
        if layer >= 0:
            entries = index.selected(subject.request, layer, place.token) or ()
            lane = min(model.lanes_of(layer), key=lambda one: (one.unit == 1, one.unit), default=None)
        index.close()
    shown = RulerShown(
        subject=subject,
        model=model,
        place=place,
        words=words_of(frame.opened),
        chosen=entries,
        chosen_layer=layer,
        chosen_lane=lane,
    )
    rows = RulerRows(shown, look, 0)
    yield f"{look.shown(subject.name)}  {place.zoom_words}  cut {model.cut:,} of {model.length:,}"
    yield from (_text(rows.draw(row, width - 2)) for row in range(len(rows.rows)))
    yield ""
    yield from paragraph_lines(ruler_paragraphs(rows, look), look)


def diff(session: Session, frame: Frame, _width: int, look: Look) -> Iterator[str]:
    """The newest request, or the selected one, beside what its lookup met."""
    b = frame.selection.request or next(iter(session.state.requests.names[-1:]), "")
    if not b or frame.opened is None:
        yield "there are no two requests on record"
        return
    a = rival_of(session, b, FOREVER)
    if not a.name:
        yield look.shown(f"B is {b}. {a.words}")
        return
    answer = compared(prompt_of(session, a.name), prompt_of(session, b), frame.opened.geometry)
    yield from paragraph_lines(report_paragraphs(answer.report, look), look)
    yield ""
    yield from (line.text for line in diff_lines(answer, look))


def stress(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    """The whole heat map, and the findings in words."""
    checks, whole = StressChecks(), StressChecks()
    checks.sync(session.follower, frame.at, None, FOREVER)
    grid, place = checks.grid, StressPlace()
    if grid is None or not grid.started:
        yield "no stress run is on this record"
        return
    if frame.at < frame.head:
        whole.sync(session.follower, frame.head, None, FOREVER)
    stand = stand_of(whole if frame.at < frame.head else checks, None, frame.log, frame.head)
    yield look.shown(stand_words(stand, "", "", ""))
    first, last = grid.lengths
    rows = StressRows(grid, place, look)
    columns = rows.columns(width - 2)
    place.zoom = next((zoom for zoom in COLUMN_ZOOMS if last - first < zoom * columns), COLUMN_ZOOMS[-1])
    place.first, place.length = first, -place.zoom
    yield f"{grid.num_checks:,} of {grid.total:,} checks, {grid.num_findings:,} findings, 1 column = {place.zoom:,}"
    yield from (_text(rows.draw(row, width - 2)) for row in range(HEADS + len(rows.rows)))
    for row in rows.rows:
        found = row.findings()
        if found:
            yield f"{look.shown(row.name)}: findings at {', '.join(f'{length:,}' for length in found[:20])}"
    yield from paragraph_lines(legend(grid, look), look)


def pools(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    """The pools, as the screen has them."""
    if session.state.opened is None:
        yield "the log was not opened"
        return
    history = PoolHistory(session.follower)
    history.sync(FOREVER)
    lines = PoolLines(session.state, frame, look, width - 3)
    yield from (line.text for line in lines.lines(session.timeline.chronicle, history))


def events(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    """Every event of the log."""
    rows, lines = EventRows(session.follower), EventLines(session, look)
    yield event_header(width)
    for row in range(len(rows)):
        yield "  " + _text(lines.draw(rows.at(row), frame.at, frozenset(), width - 2))


def _text(line: Line) -> str:
    return "".join(segment.text for segment in line)


def paragraph_lines(parts: Iterable[Paragraph], look: Look) -> Iterator[str]:
    """Paragraphs of an inspector, a line each."""
    return (look.shown(part.lead + part.text) for part in parts)
