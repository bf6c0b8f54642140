"""What a screen shows as plain text: for pipes, for terminals that can do no more, and for screen readers."""

from collections.abc import Callable, Iterator

from textual.theme import BUILTIN_THEMES

from shadowviz.tui import twins
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.models.span_facts import SpanFacts
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.head import pool_words
from shadowviz.tui.widgets.look import Look, look_of
from shadowviz.tui.widgets.request_view import header as request_header
from shadowviz.tui.widgets.request_view import request_line
from shadowviz.tui.widgets.tree_view import TreeRows, TreeShown
from shadowviz.tui.widgets.tree_view import header as tree_header
from shadowviz_engine.core.errors import InputError

Twin = Callable[[Session, Frame, int, Look], Iterator[str]]


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


def _tree(session: Session, _frame: Frame, width: int, look: Look) -> Iterator[str]:
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
