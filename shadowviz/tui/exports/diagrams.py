"""Diagrams of a log at one event, in every format that has them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, takewhile
from pathlib import Path

import msgspec

from shadowviz.diagrams.boundary import BoundaryOptions, boundary_diagram
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import state_caption
from shadowviz.diagrams.collapse import MAX_BOXES, TreeOptions
from shadowviz.diagrams.events import EventsDiagram
from shadowviz.exporters.formats import LIGHT, Diagram, DiagramName, Format, formats_of
from shadowviz.replay import tree_moment
from shadowviz.replay.counts import counted
from shadowviz.replay.moment import Moment, moment_at, state_at
from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.inert import printable
from shadowviz.tokens.words import words_of
from shadowviz.tui.exporting import Content, Exportable, Make
from shadowviz_engine.core.events import Event, LookupDone

MAX_LOOKUPS = 2_000
"""Lookups that a table lists at most, the dearest; JSON has all."""

_STEMS = {DiagramName.DERIVATION: "ruler", DiagramName.BOUNDARY: "heat-map"}
"""What files of a diagram are called, where it has another name on the screen."""

Build = Callable[[LogFile, Format], Diagram]


def drawn(what: str, name: DiagramName, build: Build) -> Exportable:
    """A diagram, by the endings of all formats that show it."""
    makers = {ending: _maker(form, name, build) for form in formats_of(name) for ending in form.endings}
    ending = ".svg" if ".svg" in makers else next(iter(makers))
    return Exportable(what, makers, f"{_STEMS.get(name, name)}{ending}")


def _maker(form: Format, name: DiagramName, build: Build) -> Make:
    def make(log: Path) -> Content:
        # Its module is loaded before anything long begins: what it lacks is said at once.
        render = form.renderer(name)
        shown = build(LogFile(log), form)
        drawing = render(shown, LIGHT)
        caption = shown.caption
        words = f"{caption.shown:,} of {caption.total:,} {caption.unit} shown"
        return Content(chain((drawing.data,), drawing.parts), words, drawing.notes)

    return make


def lookups_at(seq: int, only: frozenset[str] | None = None, pattern: str = "") -> Exportable:
    """The table of lookups up to an event; `only` are the requests that a filter named `pattern` lets through."""

    def build(log: LogFile, form: Format) -> Diagram:
        from shadowviz.diagrams.lookups import lookups_diagram

        def wanted(lookup: LookupDone) -> bool:
            return only is None or lookup.request in only

        moment = moment_at(log.events(), words_of(log.opened), seq, wanted)
        caption = caption_at("Lookups", log, moment)
        if only is not None:
            caption = noted(caption, f"Only requests that the filter {printable(pattern)!r} lets through.")
        return lookups_diagram(caption, moment.explanations, None if form.name == "json" else MAX_LOOKUPS)

    return drawn("the lookups", DiagramName.LOOKUPS, build)


def tree_at(seq: int, root: int, request: str, folded: Sequence[int] = ()) -> Exportable:
    """The tree after an event, or the part of it below `root`, with the path of a request if there is one.

    Args:
        folded: Nodes of which nothing below is shown.
    """

    def build(log: LogFile, form: Format) -> Diagram:
        from shadowviz.diagrams.tree_of import tree_diagram

        words = words_of(log.opened)
        moment = tree_moment.request_tree_at(log, words, request, seq) if request else tree_moment.tree_at(log, seq)
        options = TreeOptions(
            root=root,
            request=request,
            folded=tuple(folded),
            collapse_above=form.most_boxes,
            max_boxes=form.most_boxes or MAX_BOXES,
        )
        explanation = moment.explanations[0] if moment.explanations else None
        fold = f"{counted(len(folded), 'node')} folded: what is below is counted in stubs." if folded else ""
        caption = noted(caption_at("Radix tree", log, moment), fold)
        return tree_diagram(caption, moment.state, options, explanation, words)

    return drawn("the tree", DiagramName.TREE, build)


def memory_at(seq: int) -> Exportable:
    """Bytes by kind and node after an event."""

    def build(log: LogFile, _form: Format) -> Diagram:
        from shadowviz.diagrams.memory_of import memory_diagram

        moment = tree_moment.tree_at(log, seq)
        return memory_diagram(caption_at("Bytes by kind and node", log, moment), moment.state, words_of(log.opened))

    return drawn("bytes by kind and node", DiagramName.MEMORY, build)


def boundary_at(seq: int, rows: RowsBy | None) -> Exportable:
    """The heat map of all lengths that were checked up to an event."""

    def build(log: LogFile, _form: Format) -> Diagram:
        return boundary_diagram(lambda: _up_to(log, seq), str(log.path), BoundaryOptions(rows=rows))

    return drawn("the heat map", DiagramName.BOUNDARY, build)


def trace_at(seq: int) -> Exportable:
    """All events up to one, as traces and logs for other tools."""

    def build(log: LogFile, _form: Format) -> Diagram:
        # Replayed once, so that events which contradict each other are told before anything is written.
        moment = state_at(log.events(), seq)
        caption = msgspec.structs.replace(
            caption_at("Events", log, moment), shown=moment.seq + 1, total=moment.last_seq + 1, unit="events"
        )
        return EventsDiagram(caption, lambda: _up_to(log, moment.seq))

    return drawn("the events", DiagramName.EVENTS, build)


def _up_to(log: LogFile, seq: int) -> Iterable[Event]:
    return takewhile(lambda event: event.seq <= seq, log.events())


def caption_at(title: str, log: LogFile, moment: Moment) -> Caption:
    """The caption of a diagram of a log at one moment."""
    return noted(state_caption(title, str(log.path), moment.state, moment.last_seq), _gaps(log))


def noted(caption: Caption, note: str) -> Caption:
    """The caption with a note more; an empty one changes nothing."""
    return msgspec.structs.replace(caption, notes=(*caption.notes, note)) if note else caption


def _gaps(log: LogFile) -> str:
    lost = log.summary.lost
    return f"The record is not whole: {printable(lost)}." if lost else ""
