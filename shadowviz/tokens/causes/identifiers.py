"""Random identifiers, and the line for billing that holds one."""

import re
from itertools import pairwise
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.finding import Cause

_BILLING: Final = re.compile(
    r"\s*x-[a-z0-9-]*(?:billing|attribution)[a-z0-9-]*\s*:|.*\bcc_version=[^;\n]*;.*\bcch=", re.IGNORECASE
)
_DASHED: Final = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-f]{7,128}", re.IGNORECASE)
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_PREFIXED: Final = re.compile(
    r"(?P<kind>[a-z][a-z]{1,15}(?:[-_][a-z]{2,12})?)[-_:.](?P<rest>[A-Za-z0-9]{5,64})", re.IGNORECASE
)
_TEMPORARY: Final = re.compile(r"te?mp[-_.]?[A-Za-z0-9_]{6,32}")
_LABEL: Final = re.compile(
    r"(?:\b|_)(?:u?u?id|guid|request|req|session|trace|span|nonce|seed|token|key|ref(?:erence)?|ticket|order|"
    r"correlation|conversation|message|run|job|call|hash|sha\d*|digest|etag|commit|cache|user|thread)(?:s|[-_]?(?:id|key|no|number|hash))?\W{0,6}\Z",
    re.IGNORECASE,
)


def attribution_cause(edit: Edit) -> Named | None:
    """ATTRIBUTION_HEADER where the difference lies in such a line, or is one."""
    lines = Edit(edit.a.line(), edit.b.line())
    for line, stretch in zip(lines, edit, strict=True):
        if _BILLING.match(line.found) and (stretch.found.strip() or all(map(_opens_with_billing, lines))):
            return Named(Cause.ATTRIBUTION_HEADER, lines)
    return None


def _opens_with_billing(line: Stretch) -> bool:
    return bool(_BILLING.match(line.found))


def identifier_cause(edit: Edit) -> Named | None:
    """UUID where both sides are random identifiers."""
    for belongs, random in _SHAPES:
        grown = edit.grown(belongs, 512)
        if all(map(random, grown)):
            return Named(Cause.UUID, grown)
    return None


def number_identifier(edit: Edit) -> Named | None:
    """UUID where both sides are long numbers behind a label that says they identify something."""
    numbers = edit.grown(str.isdecimal, 40)
    return Named(Cause.UUID, numbers) if all(map(_random_number, numbers)) else None


def _alphanumeric(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _word_part(character: str) -> bool:
    return _alphanumeric(character) or character in "-_"


def _base64_part(character: str) -> bool:
    return _alphanumeric(character) or character in "+/="


def _token_part(character: str) -> bool:
    return _alphanumeric(character) or character in "-_."


def _random(stretch: Stretch) -> bool:
    """Whether a word looks drawn by chance."""
    found = stretch.found
    if _DASHED.fullmatch(found) or _TEMPORARY.fullmatch(found):
        return True
    mixed = bool(re.search("[0-9]", found)) and bool(re.search("[A-Za-z]", found))
    if _HEX.fullmatch(found):
        return mixed and (len(found) >= 8 or _labelled(stretch))
    if _ULID.fullmatch(found):
        return mixed
    match = _PREFIXED.fullmatch(found)
    rest = match["rest"] if match else found
    if _HEX.fullmatch(rest) and len(rest) >= 8 and re.search("[0-9]", rest):
        return match is not None
    if not rest.isalnum():
        return False
    if not re.search("[0-9]", rest):
        return len(rest) >= 12 and _changes(rest) * 4 >= len(rest) and len(re.findall("[A-Z]{2,}", rest)) >= 2
    if match and len(rest) == 5:
        return _changes(rest) >= 3
    return len(rest) >= (6 if match else 8) and _changes(rest) >= (2 if match else 3)


def _random_base64(stretch: Stretch) -> bool:
    letters = re.sub("[^A-Za-z0-9]", "", stretch.found)
    drawn = re.search("[0-9]", letters) or len(re.findall("[A-Z]{2,}", letters)) >= 2
    return len(letters) >= 14 and bool(drawn) and _changes(letters) * 4 >= len(letters)


def _changes(text: str) -> int:
    """How often a word goes over from one to another of small letters, capitals and digits."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in text]
    return sum(one != other for one, other in pairwise(kinds))


def _random_number(stretch: Stretch) -> bool:
    return stretch.found.isdecimal() and len(stretch.found) >= 6 and _labelled(stretch)


def _labelled(stretch: Stretch) -> bool:
    return bool(_LABEL.search(stretch.text[max(0, stretch.start - 32) : stretch.start]))


_SHAPES: Final = (
    (_word_part, _random),
    (_alphanumeric, _random),
    (_base64_part, _random_base64),
    (_token_part, _random_base64),
)
"""What a random identifier is made of, and how its randomness is told."""
