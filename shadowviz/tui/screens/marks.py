"""What the marks of a screen mean, for its help: the head of a list has no room for all of them."""

from collections.abc import Callable, Mapping
from typing import Final

from rich.style import Style as Ink

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.diagrams.roles import (
    CLIPPED,
    COMPUTED,
    CUT,
    HIT,
    LOCKED,
    MISS,
    NEEDED,
    NOT_KNOWN,
    OPEN,
    OUTCOMES,
    PARTIAL,
    REACHABLE,
    REUSED,
    SILENT,
    TERMINAL,
)
from shadowviz.diagrams.theme import Style
from shadowviz.tui.models.cells import BAR_MARKS
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.look import Look

Mark = tuple[str, Ink, str]
"""A mark as it is drawn, its ink, and what it means."""

_BAR: Final = (
    "reused: taken from the cache",
    "usable, not taken: what every kind of state accepts",
    "matched, not usable: equal after cap and page, but a kind of state is gone",
    "common, not matched: equal tokens that cap or page leave out",
    "the rest of the prompt",
)


def marks_of(screen: str, session: Session, look: Look) -> list[Mark]:
    """The marks of a screen by its name; none where words stand for themselves."""
    make = _MARKS.get(screen)
    return make(session, look) if make is not None else []


def _live(_session: Session, look: Look) -> list[Mark]:
    bar = [(mark, look.title, words) for mark, words in zip(BAR_MARKS[look.ascii], _BAR, strict=True)]
    return [*bar, *_styled((HIT, CLIPPED, MISS, NOT_KNOWN), look)]


def _tree(session: Session, look: Look) -> list[Mark]:
    return [*_kinds(session, look), *_styled((PARTIAL, TERMINAL, LOCKED, REACHABLE), look)]


def _ruler(session: Session, look: Look) -> list[Mark]:
    return [*_kinds(session, look), *_styled((CUT, REUSED, COMPUTED, NEEDED, OPEN), look)]


def _stress(_session: Session, look: Look) -> list[Mark]:
    return _styled((*OUTCOMES.values(), SILENT), look)


def _kinds(session: Session, look: Look) -> list[Mark]:
    opened = session.state.opened
    styles = [kind_style(kind.label) for kind in opened.geometry.kinds] if opened is not None else []
    return [(look.glyph(style), look.ink(style), f"rows of {look.shown(style.word)} are there") for style in styles]


def _styled(styles: tuple[Style, ...], look: Look) -> list[Mark]:
    return [(look.glyph(style), look.ink(style), f"{style.word}: {style.meaning}") for style in styles]


_MARKS: Final[Mapping[str, Callable[[Session, Look], list[Mark]]]] = {
    "live": _live,
    "tree": _tree,
    "ruler": _ruler,
    "stress": _stress,
}
