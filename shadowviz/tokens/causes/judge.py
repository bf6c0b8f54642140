"""The class of one differing stretch: the first judge that knows it."""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from shadowviz.tokens.causes.blanks import blank, blank_causes
from shadowviz.tokens.causes.characters import character_cause
from shadowviz.tokens.causes.clock import time_cause
from shadowviz.tokens.causes.edit import Edit, Judge, Named, Stretch
from shadowviz.tokens.causes.escapes import escaped_cause
from shadowviz.tokens.causes.identifiers import attribution_cause, identifier_cause, number_identifier
from shadowviz.tokens.causes.markers import marker_cause
from shadowviz.tokens.causes.numbers import counter_cause, counts_in_key, number_form
from shadowviz.tokens.causes.order import moved_items, moved_lines
from shadowviz.tokens.causes.structured import InJson
from shadowviz.tokens.finding import Cause

TOGETHER: Final = 64
"""Edits that are looked at to see whether something stands in another place."""

_SEEN_BLANKS: Final = frozenset({Cause.CRLF, Cause.LINE_SEPARATOR, Cause.TRAILING_SPACE, Cause.SPACE_KIND})
_VARYING: Final[tuple[Judge, ...]] = (time_cause, identifier_cause, counter_cause, number_identifier)


def judge(edits: Sequence[Edit]) -> tuple[int, list[Named]]:
    """What the first of some edits is, with what it takes along.

    Returns:
        how many edits are explained, and by which causes, the first of them leading.
    """
    edit = edits[0]
    if named := attribution_cause(edit) or marker_cause(edit):
        return 1, [named]
    if _groups_digits(edit) and (named := number_form(edit)):
        return 1, [named]
    if blanks := blank_causes(edit):
        return 1, _blanks_in_json(edit, blanks)
    in_json = InJson(edit)
    named = in_json.form() or character_cause(edit)
    if named:
        return 1, [named]
    if found := in_json.order():
        return _within(edits, found), [found]
    if taken := moved_lines(edits) or (None if in_json.inside else moved_items(edits)):
        return taken
    return 1, _other(edit, in_json)


def _groups_digits(edit: Edit) -> bool:
    """Whether something stands between two digits on one side, and nothing on the other."""
    return all(s.before.isdecimal() and s.behind.isdecimal() for s in edit) and not all(s.found for s in edit)


def _blanks_in_json(edit: Edit, blanks: list[Named]) -> list[Named]:
    if blanks[0].cause in _SEEN_BLANKS and not (blanks[0].cause is Cause.SPACE_KIND and _plain_blanks(edit)):
        return blanks
    in_json = InJson(edit)
    named = in_json.form()
    return [named] if named and named.cause is Cause.JSON_SPACING else blanks


def _plain_blanks(edit: Edit) -> bool:
    return (edit.a.found + edit.b.found).isascii()


def _within(edits: Sequence[Edit], found: Named) -> int:
    """How many edits lie in the stretches that a cause explains."""
    num = 1
    while num < len(edits) and found.edit.a.holds(edits[num].a) and found.edit.b.holds(edits[num].b):
        num += 1
    return num


def _other(edit: Edit, in_json: InJson) -> list[Named]:
    if named := number_form(edit) or escaped_cause(edit):
        return [named]
    for varying in _VARYING:
        named = varying(edit)
        if named and not (in_json.inside and named.cause is Cause.COUNTER and not _counts(named.edit)):
            return [named]
    if parts := _characters_apart(edit):
        return parts
    if named := in_json.value():
        return [named]
    return [Named(Cause.PUNCTUATION if _punctuation_alone(edit) else Cause.TEXT, edit)]


def _counts(edit: Edit) -> bool:
    return all(map(counts_in_key, edit))


def _characters_apart(edit: Edit) -> list[Named]:
    """Causes of each differing character of a word, where every one has a cause of its own."""
    a, b = edit.a.found, edit.b.found
    if not a or not b or max(len(a), len(b)) > 200:
        return []
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < 0.5:
        return []
    found: list[Named] = []
    for op, a0, a1, b0, b1 in matcher.get_opcodes():
        if op == "equal":
            continue
        part = Edit(
            Stretch(edit.a.text, edit.a.start + a0, edit.a.start + a1),
            Stretch(edit.b.text, edit.b.start + b0, edit.b.start + b1),
        )
        named = blank_causes(part) or [cause for cause in [character_cause(part)] if cause]
        if not named:
            return []
        found.extend(named)
    return found


def _punctuation_alone(edit: Edit) -> bool:
    return all(_is_punctuation(character) or blank(character) for character in edit.a.found + edit.b.found)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
