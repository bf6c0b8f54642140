"""Builds the diagram that `shadowviz export` was asked for."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import TypeVar

import msgspec

from shadowviz.cli.export_source import Recording, named
from shadowviz.cli.show import write_progress
from shadowviz.diagrams.boundary import ALL_CHECKS, BoundaryOptions, boundary_diagram
from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import state_caption
from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.derivation_of import View, length_diagram, path_diagram, request_diagram
from shadowviz.exporters.formats import Diagram, DiagramName
from shadowviz.replay.moment import Moment, Wanted, everything, lookup_of, moment_at, of_request, state_at
from shadowviz.replay.tree_moment import request_tree_at, tree_at, trees_at
from shadowviz.tokens.inert import shorten
from shadowviz.tokens.words import words_of
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.geometry import Geometry

Read = TypeVar("Read")


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run is to be shown."""

    at: int | None = None
    request: str = ""
    tree: TreeOptions = TreeOptions()
    view: View = View()
    row_format: str = ""
    """How rows are stored, for their bytes; empty = as the geometry says."""
    boundary: BoundaryOptions = ALL_CHECKS
    most_lookups: int | None = None
    """Lookups that a table lists at most; None = all."""


def diagram_of(name: DiagramName, run: Recording, ask: Ask) -> Diagram:
    """The diagram, worked out from the run.

    Raises:
        LogError: the record contradicts itself.
        InputError: the run has no such event, request or node.
    """
    try:
        return _BUILDERS[name](run, ask)
    except LogError as error:
        raise named(error, run.name) from error
    finally:
        write_progress("")


def length_only(geometry: Geometry, view: View) -> Diagram:
    """The ruler of a span without a run.

    Raises:
        InputError: there is no span to show.
    """
    if view.span is None:
        raise InputError("expected a source, or --span with a length such as 1000 or a range such as 256:1000")
    return length_diagram(geometry, view.span, view.cut)


def changes_of(before: Recording, after: Recording) -> Diagram:
    """What differs between two runs, each at the event that its name asks for or at its end.

    Raises:
        LogError: a record contradicts itself.
        InputError: a run has no such event, or the two are of different models.
    """
    from shadowviz.diagrams.changes_of import Side, changes_diagram

    moments: tuple[Moment, Moment]
    if before.log is not None and before.name == after.name:
        before = msgspec.structs.replace(after, at=before.at)
        moments = _told_by_name(after, lambda: trees_at(after, before.at, after.at))
    else:
        moments = _end_or_named(before), _end_or_named(after)
    title = _changed(before, after, *(moment.seq for moment in moments))
    first, second = (
        Side(_caption(title, run, moment), moment.state, words_of(run.opened))
        for run, moment in zip((before, after), moments, strict=True)
    )
    return changes_diagram(first, second)


def _end_or_named(run: Recording) -> Moment:
    return _told_by_name(run, lambda: tree_at(run, run.at))


def _told_by_name(run: Recording, read: Callable[[], Read]) -> Read:
    try:
        return read()
    except LogError as error:
        raise named(error, run.name) from error
    finally:
        write_progress("")


def _changed(before: Recording, after: Recording, start: int, stop: int) -> str:
    if before.name == after.name:
        return f"What changed from event {start:,} to event {stop:,}"
    return f"What changed from {shorten(before.name, 40)} to {shorten(after.name, 40)}"


def _tree(run: Recording, ask: Ask) -> Diagram:
    from shadowviz.diagrams.tree_of import tree_diagram

    words = words_of(run.opened)
    if ask.request:
        moment = request_tree_at(run, words, ask.request, ask.at)
    else:
        moment = tree_at(run, ask.at)
    explanation = moment.explanations[0] if moment.explanations else None
    return tree_diagram(_caption("Radix tree", run, moment), moment.state, ask.tree, explanation, words)


def _derivation(run: Recording, ask: Ask) -> Diagram:
    if not ask.request and ask.tree.root:
        return _path_ruler(run, ask)
    if not ask.request:
        raise InputError(
            "a ruler of a run is that of one prompt: expected --request with its name, or --root with a node"
        )
    at = ask.at
    if at is None:
        # What the lookup met is what its verdict speaks of; behind it the request has filled the gaps.
        at = lookup_of(run.events(), ask.request).seq
    moment = _moment(run, msgspec.structs.replace(ask, at=at), of_request(ask.request))
    diagram = request_diagram(moment, run.name, ask.request, words_of(run.opened), ask.view)
    return msgspec.structs.replace(diagram, caption=_with_gaps(diagram.caption, run))


def _path_ruler(run: Recording, ask: Ask) -> Diagram:
    moment = state_at(run.events(), ask.at)
    diagram = path_diagram(moment, run.name, ask.tree.root, words_of(run.opened), ask.view)
    return msgspec.structs.replace(diagram, caption=_with_gaps(diagram.caption, run))


def _lookups(run: Recording, ask: Ask) -> Diagram:
    from shadowviz.diagrams.lookups import lookups_diagram

    moment = _moment(run, ask, of_request(ask.request) if ask.request else everything)
    if ask.request and not moment.explanations:
        raise InputError(f"{run.name} has no lookup of request {ask.request!r} up to event {moment.seq}")
    return lookups_diagram(_caption("Lookups", run, moment), moment.explanations, ask.most_lookups)


def _memory(run: Recording, ask: Ask) -> Diagram:
    from shadowviz.diagrams.memory_of import memory_diagram

    moment = tree_at(run, ask.at)
    caption = _caption("Bytes by kind and node", run, moment)
    return memory_diagram(caption, moment.state, words_of(run.opened), ask.tree, ask.row_format)


def _boundary(run: Recording, ask: Ask) -> Diagram:
    return boundary_diagram(run.events, run.name, ask.boundary)


def _events(run: Recording, ask: Ask) -> Diagram:
    from shadowviz.diagrams.events import EventsDiagram

    # Replayed once, so that events which contradict each other are told before anything is written.
    moment = state_at(run.events(), ask.at)

    def read() -> Iterable[Event]:
        return takewhile(lambda event: event.seq <= moment.seq, run.events())

    caption = msgspec.structs.replace(
        _caption("Events", run, moment), shown=moment.seq + 1, total=moment.last_seq + 1, unit="events"
    )
    return EventsDiagram(caption, read)


def _moment(run: Recording, ask: Ask, wanted: Wanted) -> Moment:
    return moment_at(run.events(), words_of(run.opened), ask.at, wanted)


def _caption(title: str, run: Recording, moment: Moment) -> Caption:
    return _with_gaps(state_caption(title, run.name, moment.state, moment.last_seq), run)


def _with_gaps(caption: Caption, run: Recording) -> Caption:
    lacks = run.tell()
    return msgspec.structs.replace(caption, notes=(*caption.notes, lacks)) if lacks else caption


_BUILDERS: dict[DiagramName, Callable[[Recording, Ask], Diagram]] = {
    DiagramName.TREE: _tree,
    DiagramName.DERIVATION: _derivation,
    DiagramName.LOOKUPS: _lookups,
    DiagramName.MEMORY: _memory,
    DiagramName.BOUNDARY: _boundary,
    DiagramName.EVENTS: _events,
}
