"""Differences in characters that look alike, look like nothing, or say the same."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.emoji import emoji_part, shows_emoji
from shadowviz.tokens.causes.lookalikes import same_look
from shadowviz.tokens.finding import Cause

BOM: Final = "\ufeff"
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_VISIBLE_FORMAT: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd")
_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FRACTION_SLASH: Final = "\u2044"
"""What stands between the two numbers of a vulgar fraction's compatible form."""
MARKS: Final = frozenset({"Mn", "Me", "Mc"})


@cache
def hidden(character: str) -> bool:
    """Whether it has no width of its own: a default-ignorable, format or control character, but no blank."""
    if character.isspace() or character in _VISIBLE_FORMAT:
        return False
    return bool(_IGNORABLE.match(character)) or unicodedata.category(character) in ("Cf", "Cc")


@cache
def is_mark(character: str) -> bool:
    """Whether it belongs to the character before it."""
    return unicodedata.category(character) in MARKS


@cache
def plain_quote(character: str) -> str:
    """An apostrophe for a quotation mark of any kind, any other character as it is."""
    name = unicodedata.name(character, "")
    quoting = (
        unicodedata.category(character) in ("Pi", "Pf") or character in "'\"`\u00b4\u02b9\u02ba\u02bb\u02bc\u02bd\u02ee"
    )
    named = ("QUOTATION MARK", "APOSTROPHE", "PRIME", "CORNER BRACKET", "GERSHAYIM", "GERESH")
    return "'" if quoting or any(word in name for word in named) else character


@cache
def plain_dash(character: str) -> str:
    """A hyphen for a dash or a minus sign of any kind, any other character as it is."""
    name = unicodedata.name(character, "")
    dashed = unicodedata.category(character) == "Pd" or character in "-\u2043\u02d7\u2500\u2501\u30fc"
    return "-" if dashed or (name.endswith("MINUS SIGN") and "PLUS" not in name) else character


@cache
def _plain_width(character: str) -> str:
    tag = unicodedata.decomposition(character).split(" ")[0]
    return unicodedata.normalize("NFKC", character) if tag in ("<wide>", "<narrow>") else character


def _mapped(mapping: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(map(mapping, text))


def _quotes(text: str) -> str:
    return re.sub("'+", "'", _mapped(plain_quote)(text))


def _dashes(text: str) -> str:
    return re.sub(r"\s*-+\s*", "-", _mapped(plain_dash)(text))


def _widths(text: str) -> str:
    return unicodedata.normalize("NFC", _mapped(_plain_width)(text))


def _same_but_case(a: str, b: str) -> bool:
    # Folding would also make a ligature equal to its letters, and the sharp s of one spelling to the two of another.
    small, capital = (_nfc(text.replace("\u0130", "i").lower()) for text in (a, b)), (a.upper(), b.upper())
    return len(set(small)) == 1 or (capital[0] == capital[1] and (a == capital[0] or b == capital[1]))


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _compatible(text: str) -> str:
    # An ellipsis written as three points is another mark of punctuation, not another form of a letter.
    plain = (c if unicodedata.category(c)[0] == "P" else unicodedata.normalize("NFKC", c) for c in _nfc(text))
    return "".join(plain).replace(_FRACTION_SLASH, "/")


_FORMS: Final[tuple[tuple[Cause, Callable[[str], str]], ...]] = (
    (Cause.CRLF, lambda text: re.sub("\r\n?", "\n", text)),
    (Cause.SPACE_KIND, lambda text: re.sub(r"[^\S\n\r\t]", " ", text)),
    (Cause.UNICODE_FORM, _nfc),
    (Cause.FULL_WIDTH, _widths),
    (Cause.QUOTE, _quotes),
    (Cause.DASH, _dashes),
)


def cluster(edit: Edit) -> Edit:
    """Both sides with the marks behind them, and with the character that a mark at their beginning belongs to."""
    a, b = (_with_marks(stretch) for stretch in edit)
    if a.start and any(is_mark(stretch.text[stretch.start : stretch.start + 1] or "x") for stretch in (edit.a, edit.b)):
        a, b = (Stretch(s.text, max(0, s.start - 1), s.stop) for s in (a, b))
    return Edit(a, b)


def _with_marks(stretch: Stretch) -> Stretch:
    stop = stretch.stop
    while stop < len(stretch.text) and stop - stretch.stop < 16 and is_mark(stretch.text[stop]):
        stop += 1
    return Stretch(stretch.text, stretch.start, stop)


def character_cause(edit: Edit) -> Named | None:
    """The class that alone explains the difference, characters by characters; None where none does."""
    a, b = edit.a.found, edit.b.found
    if shows_emoji(edit):
        return Named(Cause.EMOJI, edit.grown(emoji_part))
    if unseen := _unseen(edit):
        return Named(unseen, edit)
    whole = cluster(edit)
    a, b = whole.a.found, whole.b.found
    if not a or not b:
        return None
    for cause, form in _FORMS:
        if form(a) == form(b):
            return Named(cause, whole)
    if _same_but_case(a, b):
        return Named(Cause.CASE, whole)
    if _compatible(a) == _compatible(b):
        return Named(Cause.UNICODE_FORM, whole)
    word = whole.grown(lambda character: character.isalnum() or is_mark(character))
    return Named(Cause.HOMOGLYPH, word) if same_look(whole) else None


def _unseen(edit: Edit) -> Cause | None:
    """The class where only characters that cannot be seen differ."""
    a, b = edit.a.found, edit.b.found
    if not any(map(hidden, a + b)) or _shown(a) != _shown(b):
        return None
    differing = "".join(filter(hidden, a + b))
    for character in differing:
        if character in _BIDI:
            return Cause.BIDI_MARK
        if character != BOM:
            return Cause.ZERO_WIDTH
    opens = all(stretch.before in ("", "\n", "\r", ">", BOM) for stretch in edit)
    return Cause.BOM if opens else Cause.ZERO_WIDTH


def _shown(text: str) -> str:
    return "".join(character for character in text if not hidden(character))
