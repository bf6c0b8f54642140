"""Random identifiers, and the line for billing that holds one."""

import re
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
    r"(?P<kind>[a-z][a-z]{1,15}(?:[-_][a-z]{2,12})?)[-_:.](?P<rest>[A-Za-z0-9]{6,64})", re.IGNORECASE
)
_LABEL: Final = re.compile(
    r"(?:\b|_)(?:u?u?id|guid|request|req|session|trace|span|nonce|seed|token|key|ref(?:erence)?|ticket|order|"
    r"correlation|conversation|message|run|job|call|hash|sha\d*|digest|etag|commit|cache|user|thread)\w{0,12}\W{0,6}\Z",
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
    """UUID where both sides are random identifiers of one shape, or one side has one and the other nothing."""
    whole = edit.grown(lambda character: character.isascii() and (character.isalnum() or character in "-_"), 128)
    bare = edit.grown(lambda character: character.isascii() and character.isalnum(), 128)
    for grown in (whole, bare):
        if all(_random(stretch) for stretch in grown):
            return Named(Cause.UUID, grown)
    numbers = edit.grown(str.isdecimal, 40)
    if all(_random_number(stretch) for stretch in numbers):
        return Named(Cause.UUID, numbers)
    return None


def _random(stretch: Stretch) -> bool:
    """Whether a word looks drawn by chance."""
    found = stretch.found
    if _DASHED.fullmatch(found):
        return True
    mixed = bool(re.search("[0-9]", found)) and bool(re.search("[A-Za-z]", found))
    if _HEX.fullmatch(found):
        return mixed and (len(found) >= 8 or _labelled(stretch))
    if _ULID.fullmatch(found):
        return mixed
    rest = match["rest"] if (match := _PREFIXED.fullmatch(found)) else found
    if _HEX.fullmatch(rest) and len(rest) >= 8 and re.search("[0-9]", rest):
        return match is not None
    return len(rest) >= (6 if match else 8) and _changes(rest) >= (2 if match else 3) and rest.isalnum()


def _changes(text: str) -> int:
    """How often a word goes over from letters to digits, and from small to capital letters inside it."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in text]
    if "d" not in kinds:
        return 0
    return sum(a != b for a, b in zip(kinds, kinds[1:], strict=False))


def _random_number(stretch: Stretch) -> bool:
    return stretch.found.isdecimal() and len(stretch.found) >= 6 and _labelled(stretch)


def _labelled(stretch: Stretch) -> bool:
    return bool(_LABEL.search(stretch.text[max(0, stretch.start - 32) : stretch.start]))
