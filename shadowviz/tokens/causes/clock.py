"""Dates and times of day, as a pattern that covers the whole of each."""

import re
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.finding import Cause

NEAR: Final = 48
"""Characters on both sides in which a date or a time that holds a difference may begin and end."""

_END: Final = "(?![A-Za-z0-9_])"
"""Behind a word; a letter of another script may follow, as in Japanese."""
_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = (
    "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{2,4}T|[+-]\d{2}:?\d{2}))"
_CLOCK: Final = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:[.,]\d{{1,9}})?(?:\s?[ap]\.?m{_END}\.?)?{_ZONE}?{_END}"
_WEEK: Final = rf"\d{{4}}-?W[0-5]\d(?:-?[1-7])?{_END}"
_ISO: Final = rf"\d{{4}}-\d{{2}}-\d{{2}}(?:[T _](?:{_CLOCK}|\d{{2}}[-.]\d{{2}}(?:[-.]\d{{2}})?(?!\d)))?"
_COMPACT: Final = (
    rf"(?:19|20)\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[T_-]?[0-2]\d[0-5]\d(?:[0-5]\d)?Z?)?{_END}"
)
_NUMERIC: Final = r"(?:\d{1,2}([./-])\s?\d{1,2}\1\s?\d{2,4}|\d{4}([./])\d{1,2}\2\d{1,2})(?!\d|\.\d)"
_NAMED: Final = (
    rf"(?:{_DAY}{_END}\.?,?\s+)?(?:{_MONTH}{_END}\.?[\s-]+\d{{1,2}}(?:st|nd|rd|th)?{_END}(?:,?\s+\d{{4}}{_END})?|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?[\s-]+{_MONTH}{_END}\.?(?:,?[\s-]+\d{{4}}{_END})?|{_MONTH}{_END}\.?,?\s+\d{{4}}{_END})"
    rf"(?:,?\s+(?:at\s+)?{_CLOCK})?"
)
_RFC850: Final = rf"{_DAY},?\s+{_MONTH}\s+\d{{1,2}}\s+{_CLOCK}\s+\d{{4}}"
_APACHE: Final = rf"\d{{1,2}}/{_MONTH}/\d{{4}}(?::{_CLOCK})?"
_DATED: Final = (
    r"\d{1,2}(?:\.|er|st|nd|rd|th|\xba)?\s(?:de\s|of\s)?[^\s\d.,;:!?()]{3,12}\.?,?\s(?:de\s)?(?:19|20)\d{2}" + _END
)
_MONTHLY: Final = rf"(?:19|20)\d{{2}}-(?:0[1-9]|1[0-2])(?![-.]?\d){_END}"
_OFFSET: Final = rf"(?:UTC|GMT)\s?[+\u2212-]\s?(?:1[0-4]|0?\d)(?::?[0-5]\d)?{_END}"
_BRIEF: Final = rf"\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[T_-][0-2]\d[0-5]\d(?:[0-5]\d)?{_END}"
_EPOCH: Final = r"(?:1[0-9]\d{8}(?:\.\d{1,9})?|1[0-9]\d{11}|1[0-9]\d{14}|1[0-9]\d{17})(?![\d.]*\d)"
_HAN: Final = r"(?:\d{1,4}\s?[年月日号號时時点點分秒년월일시분초]\s?)+"
_HOUR: Final = (
    rf"(?:[0-2]?\d\.[0-5]\d\s?(?:Uhr|h|[ap]\.?m){_END}|"
    rf"\d{{1,2}}\s?(?:[ap]\.?m{_END}\.?|o'clock|h(?:\d{{2}})?{_END}|Uhr(?:\s\d{{2}})?{_END}))"
)
_FORMS: Final = (
    _RFC850,
    _APACHE,
    _NAMED,
    _DATED,
    _WEEK,
    _ISO,
    _CLOCK,
    _NUMERIC,
    _EPOCH,
    _COMPACT,
    _BRIEF,
    _HOUR,
    _MONTHLY,
    _OFFSET,
)
_WHEN: Final = re.compile(rf"(?<![A-Za-z0-9_.])(?:{'|'.join(_FORMS)})|{_HAN}", re.IGNORECASE)
_WORD: Final = re.compile(
    rf"{_DAY}|{_MONTH}|today|tomorrow|yesterday|morning|noon|afternoon|evening|night|midnight|[ap]\.?m\.?|"
    r"(?:星期|周|週|礼拜)[一二三四五六日天]|[日月火水木金土]曜日?|[월화수목금토일]요일|"
    "(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|"
    "lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|lune|luned[iì]|marted[iì]|mercoled[iì]|gioved[iì]|"
    "venerd[iì]|sabato|domenica|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|"
    "juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|"
    "octubre|noviembre|diciembre|spring|summer|autumn|winter|utc|gmt|[pmce][sd]t|cet|cest|z",
    re.IGNORECASE,
)
_HAN_WORD: Final = re.compile("星期|周|週|礼拜|曜|요일")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_IN_YEAR: Final = re.compile(
    r"(?:\b(?:in|since|year|until|of|for|from|by|as of|copyright|©|\(c\))[:\s]*)\Z", re.IGNORECASE
)


def time_cause(edit: Edit) -> Named | None:
    """TIME where the difference lies inside a date or a time on both sides, or is a whole one on one side."""
    if found := _inside(edit):
        return Named(Cause.TIME, found)
    ascii_only = (edit.a.found + edit.b.found).isascii()
    word = edit.grown(lambda c: (c.isalnum() or c == ".") and (c.isascii() or not ascii_only), 16)
    if all(_WORD.fullmatch(stretch.found.rstrip(".")) for stretch in word):
        return Named(Cause.TIME, word)
    years = edit.grown(str.isdigit, 4)
    if all(_YEAR.fullmatch(stretch.found) and _names_year(stretch) for stretch in years):
        return Named(Cause.TIME, years)
    for empty, full in (edit, edit[::-1]):
        if not empty.found.strip() and _is_one_time(full.found):
            return Named(Cause.TIME, edit)
    return None


def _inside(edit: Edit) -> Edit | None:
    around = [_around(stretch) for stretch in edit]
    if not all(around):
        return None
    return Edit(*(found for found in around if found))


def _around(stretch: Stretch) -> Stretch | None:
    """The date or time that covers a stretch."""
    first, last = max(0, stretch.start - NEAR), min(len(stretch.text), stretch.stop + NEAR)
    for match in _WHEN.finditer(stretch.text, first, last):
        if match.start() <= stretch.start and stretch.stop <= match.end():
            return Stretch(stretch.text, match.start(), match.end())
        if match.start() > stretch.start:
            break
    word = stretch.grown(lambda character: character.isalnum(), 12)
    if _HAN_WORD.search(word.text[max(0, word.start - 3) : word.stop + 3]) and len(word.found) <= 4:
        return word
    return None


def _names_year(stretch: Stretch) -> bool:
    before = stretch.text[max(0, stretch.start - 16) : stretch.start]
    return bool(_IN_YEAR.search(before))


def _is_one_time(text: str) -> bool:
    match = _WHEN.search(text)
    if not match or len(text) > 2 * NEAR or text.strip().count("\n"):
        return False
    left = text[: match.start()] + text[match.end() :]
    return len(left.split()) <= 3
