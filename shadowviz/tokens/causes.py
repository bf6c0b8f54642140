"""Why two stretches of text that stand for different tokens differ: a small set, decided by the text alone."""

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from shadowviz.tokens.deepseek_v4 import BOS


class Cause(StrEnum):
    """What makes a differing stretch differ."""

    RETOKENIZED = "RETOKENIZED"
    """The same text as other ids."""
    CRLF = "CRLF"
    """CR LF against LF."""
    LINE_SEPARATOR = "LINE_SEPARATOR"
    """Another character that ends a line: CR, VT, FF, NEL, U+2028, U+2029."""
    TRAILING_SPACE = "TRAILING_SPACE"
    """Blanks before a line end, or at the end."""
    SPACE_COUNT = "SPACE_COUNT"
    """Another number of blanks or tabs in a row."""
    UNICODE_FORM = "UNICODE_FORM"
    """The same characters, composed in another way."""
    CASE = "CASE"
    """Capital against small letters."""
    BOS_DOUBLED = "BOS_DOUBLED"
    """Begins with the mark of a beginning twice, as when a template and an encoder both add it, against once."""
    TEXT = "TEXT"
    """Another text, and nothing more specific."""
    UNKNOWN = "UNKNOWN"
    """The ids cannot be read: they are redacted, or of another vocabulary."""


def _same(text: str) -> str:
    return text


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _line_separators(text: str) -> str:
    return re.sub("\r\n|[\r\v\f\x85\u2028\u2029]", "\n", text)


def _trailing_space(text: str) -> str:
    return re.sub(r"[ \t]+(?=\r?\n|\Z)", "", text)


def _space_count(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


def _unicode_form(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _one_beginning(text: str) -> str:
    return re.sub(rf"\A(?:{re.escape(BOS)})+", BOS, text)


_NORMAL_FORMS: Final[tuple[tuple[Cause, Callable[[str], str]], ...]] = (
    (Cause.RETOKENIZED, _same),
    (Cause.CRLF, _line_ends),
    (Cause.LINE_SEPARATOR, _line_separators),
    (Cause.TRAILING_SPACE, _trailing_space),
    (Cause.SPACE_COUNT, _space_count),
    (Cause.UNICODE_FORM, _unicode_form),
    (Cause.CASE, str.casefold),
    (Cause.BOS_DOUBLED, _one_beginning),
)


def cause_of(prompt: str, stored: str) -> Cause:
    """The first cause in the order of `Cause` that alone explains the difference of two texts.

    Both texts carry the same few characters before and behind the differing stretch, so that a blank at its edge is
    seen in its place.
    """
    for cause, normal_form in _NORMAL_FORMS:
        if normal_form(prompt) == normal_form(stored):
            return cause
    return Cause.TEXT
