"""What the marks of a screen mean, for its help: the head of a list has no room for all of them."""

from collections.abc import Callable, Mapping
from typing import Final

from rich.style import Style as Ink

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.diagrams.roles import (
    ABSENT,
    CLIPPED,
    COMPUTED,
    CUT,
    HIT,
    LOCKED,
    MISS,
    NEEDED,
    NEXT_OUT,
    NOT_KNOWN,
    OUTCOMES,
    PARTIAL,
    REACHABLE,
    REUSED,
    SILENT,
    TERMINAL,
    UNKNOWN,
)
from shadowviz.diagrams.theme import Style
from shadowviz.tui.models.cells import BAR_MARKS
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ruler_rows import CHOSEN_MARK, legend

Mark = tuple[str, Ink, str]
"""A mark as it is drawn, its ink, and what it means."""

LENGTHS: Final = ("reused", "usable", "matched", "common")
"""Of a lookup, as the row of the cut marks them."""
_BAR: Final = (
    "reused: taken from the cache",
    "usable, not taken: what every kind of state accepts",
    "matched, not usable: equal after cap and page, but a kind of state is gone",
    "common, not matched: equal tokens that cap or page leave out",
    "the rest of the prompt",
)

_MADE_FROM: Final = (
    (("═", "="), "made from: the tokens of the row at the cursor"),
    (("╌", "-"), "made from: tokens before it that go into it"),
    (CHOSEN_MARK, "selected: entries that the indexer chose for the token at the cursor"),
)


def marks_of(screen: str, session: Session, look: Look) -> list[Mark]:
    """The marks of a screen by its name; none where words stand for themselves."""
    make = _MARKS.get(screen)
    return make(session, look) if make is not None else []


def _live(_session: Session, look: Look) -> list[Mark]:
    bar = [(mark, look.title, words) for mark, words in zip(BAR_MARKS[look.ascii], _BAR, strict=True)]
    verdicts = [
        (look.pick("…", "..."), look.muted, "in the place of a verdict: it is being worked out"),
        ("?", look.muted, "behind a verdict: the source does not say whether another one is behind it"),
    ]
    return [*bar, *_styled((HIT, CLIPPED, MISS, NOT_KNOWN), look), *verdicts]


def _tree(session: Session, look: Look) -> list[Mark]:
    styles = (PARTIAL, ABSENT, UNKNOWN, TERMINAL, LOCKED, NEXT_OUT, REACHABLE)
    return [*_kinds(session, look), *_styled(styles, look)]


def _ruler(session: Session, look: Look) -> list[Mark]:
    lengths = [(name[0].upper(), look.strong, f"{name} tokens of the lookup end here") for name in LENGTHS]
    # What has no glyph of its own is no mark.
    states = [(mark, look.text, words) for mark, words in legend(look) if not mark.isalpha()]
    made = [(look.pick(*glyphs), look.title, words) for glyphs, words in _MADE_FROM]
    return [*_kinds(session, look), *_styled((CUT, REUSED, COMPUTED, NEEDED), look), *lengths, *states, *made]


def _events(_session: Session, look: Look) -> list[Mark]:
    return [
        (look.pick("◆", "@"), look.title, "the state shown is the one after this event"),
        (look.pick("■", "#"), look.title, "a breakpoint is on events of this kind"),
    ]


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
    "events": _events,
}
