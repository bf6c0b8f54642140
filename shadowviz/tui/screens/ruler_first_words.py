"""What the inspector of the ruler says first: whether the cut is one at all, and of which moment the rows are."""

from collections.abc import Iterable

import msgspec

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.diagrams.roles import CUT
from shadowviz.tui.models.ruler_model import Blocking
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ruler_rows import CHOSEN_MARK, IMPOSSIBLE, RulerShown
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.spans import total


class RulerKeys(msgspec.Struct, frozen=True):
    """Keys of the ruler, as the foot writes them; empty = there is none to press."""

    lookup: str = ""
    zoom_in: str = ""
    back: str = ""
    """Gives the moment back that was shown before that of the lookup."""


def first_words(shown: RulerShown, keys: RulerKeys, look: Look) -> list[Paragraph]:
    """Whatever would mislead if it were not known first."""
    parts = [*_impossible(shown, look), *_moment(shown, keys, look)]
    finding = shown.subject.finding
    if finding is not None:
        parts.append(Paragraph(finding.words, look.warning, f"{look.pick(*CHOSEN_MARK)} found  ", look.warning))
    return parts


def _impossible(shown: RulerShown, look: Look) -> list[Paragraph]:
    """The user's cut, or the length that the lookup matched, where nothing could go on."""
    model, lookup = shown.model, shown.subject.lookup
    cross = look.pick(*IMPOSSIBLE)
    if shown.is_impossible:
        words = f"could not be gone on from here: {_missing(model.blocking(), look)} (derived)"
        return [Paragraph(words, look.warning, f"{cross} your cut {model.cut:,}  ", look.warning)]
    is_met = shown.place.own_cut is None and shown.subject.shown_at < 0 and not model.is_arithmetic
    if lookup is None or not is_met or lookup.reused >= lookup.matched:
        return []
    missing = _missing(model.blocking_at(lookup.matched), look)
    if not missing:
        return []
    words = f"matched, but could not be gone on from there: {missing} (derived)"
    return [Paragraph(words, look.warning, f"{cross} {lookup.matched:,}  ", look.warning)]


def _missing(blocking: Iterable[Blocking], look: Look) -> str:
    parts = [
        f"{total(found.missing):,} of {found.needed.size:,} rows of {look.shown(kind_style(found.kind).word)}"
        for found in blocking
        if found.missing
    ]
    return f"{', '.join(parts)} are missing" if parts else ""


def _moment(shown: RulerShown, keys: RulerKeys, look: Look) -> list[Paragraph]:
    subject, lookup = shown.subject, shown.subject.lookup
    if lookup is None or subject.shown_at < 0:
        return []
    words = f"as they are at e{subject.shown_at:,}, not at its lookup, e{lookup.seq:,}"
    words += f": {keys.lookup} goes there" if keys.lookup else ""
    return [Paragraph(words, look.warning, "rows   ", look.title)]


def cut_words(shown: RulerShown, look: Look) -> Paragraph:
    """What the cut parts, and what else the lookup came to."""
    model, subject = shown.model, shown.subject
    own, cut, length = shown.place.own_cut is not None, model.cut, model.length
    if shown.is_impossible:
        glyph, words = look.pick(*IMPOSSIBLE), f"{cut:,} of {length:,}: nothing left of it could be reused from here"
    else:
        glyph, words = look.glyph(CUT), f"{cut:,} of {length:,}: {_parted(cut, length)}"
        # That of a lookup on record was observed.
        words += " (derived)" if own or subject.origin is not Origin.OBSERVED else ""
    if subject.lookup is not None and (found := _found(subject.lookup, cut)):
        words += f"; the lookup found {found}" if subject.origin is Origin.OBSERVED else f"; a lookup finds {found}"
    return Paragraph(words, look.text, f"{glyph} {'your cut' if own else 'cut'}  ", look.title)


def _parted(cut: int, length: int) -> str:
    if not cut:
        return f"nothing is reused, {length:,} computed"
    return f"{cut:,} reused to the left, {length - cut:,} computed to the right"


def _found(lookup: LookupDone, cut: int) -> str:
    """Its lengths, those that are not the cut: the longest first."""
    names: dict[int, list[str]] = {}
    for name in ("common", "matched", "usable", "reused"):
        names.setdefault(getattr(lookup, name), []).append("in common" if name == "common" else name)
    return ", ".join(f"{length:,} {' and '.join(words)}" for length, words in names.items() if length != cut)
