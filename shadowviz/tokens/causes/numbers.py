"""Numbers: the same one written otherwise, and one that counts."""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.finding import Cause

_PART: Final = "0123456789.,'\u2019_+-eExX%\u00a0\u202f\u2009\u066b\u066c"
_WORDS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_HAN: Final = dict(zip("〇一二三四五六七八九十", range(11), strict=True))
_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_SCALE: Final = {"k": 3, "m": 6, "b": 9, "bn": 9, "thousand": 3, "million": 6, "billion": 9}
_ORDINAL: Final = re.compile(r"\d{1,6}(?:st|nd|rd|th)")
_UNIT: Final = re.compile(r"(?!(?:ms|min|[smhx]|st|nd|rd|th)\b)[A-Za-z]")
_COUNTS: Final = re.compile(
    r"(?:\b|_)(?:turns?|steps?|requests?|req|count(?:er)?|attempts?|retry|retries|tries|seq(?:uence)?|index|idx|"
    r"iter(?:ation)?s?|rounds?|uptime|elapsed|age|seconds?|secs?|ms|minutes?|mins?|hours?|hits?|calls?|tokens?|"
    r"messages?|msgs?|remaining|left|used|pages?|line|row|no|nr|num(?:ber)?|n|id|session|run|epoch|tick|frame|chunk|"
    r"batch|build|revision|rev|visit(?:or)?s?|total|try|job|task|ticket|item|version|part|user|users|offset|position|served|seen|done)(?:[-_]\w{1,16})?"
    r"\W{0,6}\Z",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"\W{0,2}(?:of\b|/\s?\d|seconds?|secs?|s\b|ms\b|minutes?|mins?|hours?|requests?|turns?|calls?|tokens?|messages?|"
    r"attempts?|tries|hits?|visits?|times|st\b|nd\b|rd\b|th\b)",
    re.IGNORECASE,
)


def number_form(edit: Edit) -> Named | None:
    """NUMBER_FORM where both sides are one number, written otherwise."""
    for belongs in (_figure, _numeral, _spaced_figure):
        grown = edit.grown(belongs, 40)
        bare = Edit(*(_without_marks(stretch) for stretch in grown))
        if bare.a.found != bare.b.found and _values(bare.a.found) & _values(bare.b.found):
            return Named(Cause.NUMBER_FORM, bare)
    return None


def _figure(character: str) -> bool:
    return character in _PART or character.isdecimal()


def _spaced_figure(character: str) -> bool:
    return character == " " or _figure(character)


def _numeral(character: str) -> bool:
    return character in _PART or character.isalnum()


def _without_marks(stretch: Stretch) -> Stretch:
    """Without the points and commas that end a sentence, not a number."""
    found = stretch.found
    left = len(found) - len(re.sub(r"\A(?:[,'_ ]|\.(?!\d))+", "", found))
    right = len(found) - len(found.rstrip(",.'_- "))
    return Stretch(stretch.text, stretch.start + left, max(stretch.start + left, stretch.stop - right))


def _values(text: str) -> frozenset[Decimal]:
    """Every number that a text may stand for: `1,000` is a thousand, or one."""
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text).lower().strip()
    if plain in _WORDS:
        return frozenset({Decimal(_WORDS.index(plain))})
    if plain in _HAN:
        return frozenset({Decimal(_HAN[plain])})
    if plain in _ROMAN and text.isupper():
        return frozenset({Decimal(_ROMAN[plain])})
    if match := re.fullmatch(r"0([xob])([0-9a-f]{1,32})", plain):
        try:
            return frozenset({Decimal(int(match[2], {"x": 16, "o": 8, "b": 2}[match[1]]))})
        except ValueError:
            return frozenset()
    return frozenset(_decimal_values(plain))


def _decimal_values(plain: str) -> set[Decimal]:
    match = re.fullmatch(
        r"([+-]?)(\d[\d.,'\u2019_\s\u066b\u066c]*|[.,]\d+)(?:e([+-]?\d{1,4}))?\s?(%|k|m|bn?|thousand|million|billion)?",
        plain,
    )
    if not match:
        return set()
    sign, digits, exponent, unit = match.groups()
    digits = digits.rstrip(" ")
    readings = set()
    if re.fullmatch(r"\d{1,3}(?:([.,'\u2019_\s\u066c])(?:\d{2,3}\1)*\d{3})?(?:[.,\u066b]\d+)?|\d+", digits):
        groups = re.split(r"[.,\u066b](?=\d*\Z)", digits)
        readings.add(re.sub(r"\D", "", digits))
        if len(groups) == 2:
            readings.add(f"{re.sub(r'[^0-9]', '', groups[0])}.{groups[1]}")
            if len(groups[1]) != 3:
                readings.discard(re.sub(r"\D", "", digits))
    if re.fullmatch(r"\d*[.,\u066b]\d*", digits):
        readings.add(re.sub(r"[,\u066b]", ".", digits))
    if re.fullmatch(r"\d+(?:_\d+)*", digits):
        readings.add(digits.replace("_", ""))
    power = int(exponent or 0) + (-2 if unit == "%" else _SCALE.get(unit or "", 0))
    values = set()
    for reading in readings:
        try:
            values.add(Decimal(f"{sign}{reading}").scaleb(power).normalize())
        except InvalidOperation:
            continue
    return values


def counter_cause(edit: Edit) -> Named | None:
    """COUNTER where a number moved on both sides: by little beside a label, or by any step where the label counts."""
    ordinal = edit.grown(str.isalnum, 20)
    if all(_ORDINAL.fullmatch(stretch.found) for stretch in ordinal):
        return Named(Cause.COUNTER, ordinal)
    whole = edit.grown(str.isdecimal, 20)
    if not all(map(_integer, whole)):
        return _counting_figure(edit)
    low, high = sorted(int(stretch.found) for stretch in whole)
    if low == high or not all(map(_label, whole)):
        return None
    little = high - low <= max(10, high // 100)
    return Named(Cause.COUNTER, whole) if little or (all(map(_counting, whole)) and _moved(low, high)) else None


def _counting_figure(edit: Edit) -> Named | None:
    """COUNTER where a number with a point or groups of digits counts."""
    whole = Edit(*(_without_marks(stretch) for stretch in edit.grown(_figure, 20)))
    values = [_values(stretch.found) for stretch in whole]
    if not all(values) or not all(map(_counting, whole)):
        return None
    low, high = sorted(max(each) for each in values)
    return Named(Cause.COUNTER, whole) if low != high and _moved(int(low), int(high)) else None


def _moved(low: int, high: int) -> bool:
    return high - low <= max(1000, high // 2)


def counts_in_key(stretch: Stretch) -> bool:
    """Whether the label on the left of a number says that it counts."""
    return _counting(stretch)


def _integer(stretch: Stretch) -> bool:
    found = stretch.found
    around = stretch.text[max(0, stretch.start - 2) : stretch.start], stretch.text[stretch.stop : stretch.stop + 2]
    fraction = re.search(r"\d[.,:]\Z", around[0]) or re.match(r"[.,:]\d", around[1])
    return found.isdecimal() and len(found) <= 18 and not fraction and not _UNIT.match(stretch.text, stretch.stop)


def _label(stretch: Stretch) -> bool:
    before = stretch.text[max(0, stretch.start - 32) : stretch.start].rsplit("\n", 1)[-1]
    behind = stretch.text[stretch.stop : stretch.stop + 16].split("\n", 1)[0]
    return bool(re.search(r"[^\W\d]|#", before) or re.search(r"[^\W\d]", behind))


def _counting(stretch: Stretch) -> bool:
    before = stretch.text[max(0, stretch.start - 32) : stretch.start].rsplit("\n", 1)[-1]
    behind = stretch.text[stretch.stop : stretch.stop + 16]
    return bool(_COUNTS.search(before) or before.endswith("#") or _BEHIND.match(behind))
