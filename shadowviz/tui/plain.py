"""What a screen shows as plain text: for pipes, for terminals that can do no more, and for screen readers."""

from collections.abc import Callable, Iterator

from textual.theme import BUILTIN_THEMES

from shadowviz.tokens.inert import shorten
from shadowviz.tui import twins
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.models.span_facts import SpanFacts
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz.tui.models.tree_search import node_of_request
from shadowviz.tui.screens.request_inspector import request_paragraphs
from shadowviz.tui.screens.span_inspector import span_paragraphs
from shadowviz.tui.session import Session
from shadowviz.tui.twins import paragraph_lines
from shadowviz.tui.widgets.head import pool_words
from shadowviz.tui.widgets.look import Look, look_of
from shadowviz.tui.widgets.request_view import header as request_header
from shadowviz.tui.widgets.request_view import request_line
from shadowviz.tui.widgets.tree_view import TreeRows, TreeShown
from shadowviz.tui.widgets.tree_view import header as tree_header
from shadowviz_engine.core.errors import InputError

Twin = Callable[[Session, Frame, int, Look], Iterator[str]]


def choose(session: Session, screen: str, request: str, node: int) -> None:
    """Select what the plain form of a screen is to be about; neither a request nor a node = as the screen chooses.

    Raises:
        InputError: the screen is about none, or there is none of that name or number at the moment asked for.
    """
    asked = f"--request {shorten(request, 60)!r}" if request else f"--node {node}"
    if not request and not node:
        return
    known = _ABOUT_REQUESTS if request else _ABOUT_NODES
    if screen not in known:
        raise InputError(f"{asked} means nothing for --screen {screen}: it is for {', '.join(known)}")
    session.settle()
    state = session.state
    if request and request not in state.requests.index:
        names = ", ".join(map(shorten, state.requests.names[:3])) or "none, since the run has no request yet"
        raise InputError(f"{asked}: the run has no such request at this moment: expected one such as {names}")
    if node and not (node < len(state.nodes) and state.nodes.alive[node]):
        raise InputError(f"{asked}: the tree has no such node at this moment: --screen tree lists them")
    session.selection.select(request=request, node=node)


def plain_lines(session: Session, screen: str, width: int, ascii_only: bool) -> Iterator[str]:
    """The lines of a screen, all of its rows, at the moment asked for, else at the end of the log.

    Raises:
        InputError: there is no such screen.
    """
    twin = TWINS.get(screen)
    if twin is None:
        raise InputError(f"--screen {screen!r} has no plain form: expected one of {', '.join(TWINS)}")
    frame = session.settle()
    look = look_of(BUILTIN_THEMES["textual-dark"], ascii_only)
    yield _head(frame, look)
    if frame.log_words:
        yield look.shown(frame.log_words)
    yield ""
    for line in twin(session, frame, width, look):
        yield line.rstrip()


def _head(frame: Frame, look: Look) -> str:
    hit = frame.hit
    rate = f"hit {hit.rate:.1%} ({hit.reused_tokens:,} of {hit.prompt_tokens:,} prompt tokens)"
    parts = [look.shown(frame.moment_words), rate, *(pool_words(pool) for pool in frame.pools)]
    return "  ".join(parts)


def _live(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    rows = RequestRows()
    rows.sort = "oldest"
    rows.sync(session, frame)
    yield request_header(width, look)
    for place in range(len(rows)):
        row = rows.at(place)
        lookup = session.request(row).lookup
        if lookup is not None:
            # As the log is short of nothing here, neither is the verdict.
            session.explain(lookup.seq, float("inf"))
        yield "  " + "".join(segment.text for segment in request_line(session, row, width - 2, look))
    chosen = session.state.requests.index.get(frame.selection.request)
    if chosen is not None:
        yield ""
        yield from paragraph_lines(request_paragraphs(session, session.request(chosen), look, float("inf"))[0], look)


def _tree(session: Session, frame: Frame, width: int, look: Look) -> Iterator[str]:
    from shadowviz.tokens.words import words_of

    state = session.state
    if state.opened is None:
        yield "the log was not opened"
        return
    shown = TreeShown(
        state, TreeIndex(state.nodes), SpanFacts(state, state.opened), words_of(state.opened), frozenset()
    )
    kinds = "  ".join(f"{look.glyph(style)} {style.word}" for style in shown.kinds.values())
    yield f"there: {kinds}"
    yield tree_header(width, len(shown.kinds))
    rows = TreeRows(shown, look)
    for row in range(len(shown.index)):
        yield "  " + "".join(segment.text for segment in rows.draw(row, width - 2))
    chosen = frame.selection.node or node_of_request(state, frame.selection.request)
    if chosen:
        yield ""
        yield from paragraph_lines(span_paragraphs(shown, chosen, look), look)


_ABOUT_REQUESTS = ("live", "tree", "ruler", "diff")
_ABOUT_NODES = ("tree", "ruler")
"""Screens that one can be chosen for."""
TWINS: dict[str, Twin] = {
    "live": _live,
    "tree": _tree,
    "ruler": twins.ruler,
    "diff": twins.diff,
    "stress": twins.stress,
    "pools": twins.pools,
    "events": twins.events,
}
"""By name of the screen."""
