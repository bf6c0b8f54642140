"""The line that says what was found, with both sides."""

import unicodedata
from typing import Final

from shadowviz.tokens.causes.blanks import LINE_ENDS, blank
from shadowviz.tokens.causes.characters import hidden, is_mark
from shadowviz.tokens.causes.edit import Edit, Named
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert, printable

SHOWN: Final = 60
"""Characters of a stretch that a line shows."""

_SHORT_NAMES: Final = {"\r\n": "CR LF", "\n": "LF", "\r": "CR", "\t": "a tab", " ": "a blank", "": "nothing"}
_CONTROLS: Final = {"\v": "LINE TABULATION", "\f": "FORM FEED", "\x85": "NEXT LINE", "\0": "NULL"}
_BY_CHARACTER: Final = frozenset(
    {
        Cause.UNICODE_FORM,
        Cause.SPACE_KIND,
        Cause.ZERO_WIDTH,
        Cause.BIDI_MARK,
        Cause.BOM,
        Cause.QUOTE,
        Cause.DASH,
        Cause.HOMOGLYPH,
        Cause.FULL_WIDTH,
        Cause.EMOJI,
        Cause.LINE_SEPARATOR,
    }
)


def all_tokens(count: int) -> str:
    """All tokens of a prompt as a sentence names them, such as `all 2 tokens`."""
    return "the only token" if count == 1 else f"all {count:,} tokens"


def detail_of(named: Named, edit: Edit, names: tuple[str, str]) -> str:
    """One printable line: what is in B where A has something else.

    Args:
        edit: the characters that differ; the cause may show more around them.
        names: of the two sides.
    """
    a, b = (inert(name) for name in names)
    if named.cause is Cause.REORDERED:
        what = named.subject or "lines or items"
        in_a, in_b = _quoted(named.edit.a.found), _quoted(named.edit.b.found)
        return f"the same {what} in another order: {in_a} in {a}, {in_b} in {b}"
    if named.cause is Cause.CRLF:
        return f"{_line_end(named.edit.b.found)} in {b} where {a} has {_line_end(named.edit.a.found)}"
    if all(map(blank, edit.a.found + edit.b.found)):
        return f"{_blanks(named.edit.b.found)} in {b} where {a} has {_blanks(named.edit.a.found)}"
    if named.cause in _BY_CHARACTER:
        return f"{_characters(edit.b.found)} in {b} where {a} has {_characters(edit.a.found)}"
    return f"{_quoted(named.edit.b.found)} in {b} where {a} has {_quoted(named.edit.a.found)}"


def _line_end(text: str) -> str:
    ends = "".join(character for character in text if character in "\r\n")
    first = "\r\n" if ends.startswith("\r\n") else ends[:1]
    return _SHORT_NAMES[first]


def _blanks(text: str) -> str:
    """A run of blanks, counted by kind."""
    if text in _SHORT_NAMES:
        return _SHORT_NAMES[text]
    parts: list[tuple[str, int]] = []
    rest = text[:SHOWN].replace("\r\n", "\r")
    for character in rest:
        name = "CR LF" if character == "\r" and "\r\n" in text else _name(character)
        if parts and parts[-1][0] == name:
            parts[-1] = name, parts[-1][1] + 1
        else:
            parts.append((name, 1))
    return ", ".join(_counted(name, num) for name, num in parts[:6]) + ("..." if len(parts) > 6 else "")


def _counted(name: str, num: int) -> str:
    if num == 1:
        return name
    plain = name.removeprefix("a ")
    return f"{num} {plain}s" if plain != name else f"{num} x {name}"


def _characters(text: str) -> str:
    """Characters by code point and name, where there are few; else quoted."""
    if not text:
        return "nothing"
    if len(text) > 4:
        return _quoted(text)
    return ", ".join(_name(character) for character in text)


def _name(character: str) -> str:
    if character in _SHORT_NAMES:
        return _SHORT_NAMES[character]
    name = unicodedata.name(character, _CONTROLS.get(character, ""))
    shown = "" if hidden(character) or is_mark(character) or blank(character) or character in LINE_ENDS else character
    return " ".join(part for part in (shown and f"'{printable(shown)}'", f"U+{ord(character):04X}", name) if part)


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    shown = inert(text[:SHOWN])
    more = f"... ({len(text) - SHOWN:,} more characters)" if len(text) > SHOWN else ""
    return f'"{shown}"{more}'
