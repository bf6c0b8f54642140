"""Text that was escaped for another format on one side."""

import html
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.finding import Cause

REACH: Final = 12
"""Characters on both sides in which an escape that holds a difference may begin and end."""

_PERCENT: Final = re.compile("%[0-9A-Fa-f]{2}")
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def unbackslashed(text: str) -> str:
    """`text` with escapes that begin with a backslash resolved, those of surrogate pairs as one character."""
    plain = re.sub(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", _resolved, text, flags=re.DOTALL)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _resolved(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else match[0]
    return _SHORT.get(match[4], match[4])


def _unquoted_printable(text: str) -> str:
    def decoded(match: re.Match[str]) -> str:
        return bytes.fromhex(match[0].replace("=", "")).decode(errors="replace")

    return re.sub(r"(?:=[0-9A-F]{2})+", decoded, text)


_FORMS: Final[tuple[Callable[[str], str], ...]] = (
    html.unescape,
    unbackslashed,
    unquote,
    lambda text: unquote(text.replace("+", " ")) if "%" in text or "=" in text else text,
    lambda text: html.unescape(text).replace("\xa0", " "),
    lambda text: text.replace('""', '"'),
    lambda text: text.replace("''", "'"),
    _unquoted_printable,
)


def _near(stretch: Stretch) -> tuple[int, int]:
    return max(0, stretch.start - 4 * REACH), stretch.stop + 4 * REACH


def escaped_cause(edit: Edit) -> Named | None:
    """ESCAPED where resolving the escapes of one side, or of both, makes them equal."""
    if {edit.a.found, edit.b.found} == {"+", " "} and any(_PERCENT.search(s.text, *_near(s)) for s in edit):
        return Named(Cause.ESCAPED, edit)
    for reach in (0, 1, 2, REACH):
        wide = edit.widened(reach, reach)
        a, b = wide.a.found, wide.b.found
        if len(a) > 20_000 or len(b) > 20_000:
            return None
        for plain in _FORMS:
            if plain(a) == b or plain(b) == a or (plain(a) == plain(b) and reach == REACH):
                return Named(Cause.ESCAPED, edit.widened(min(reach, 2), min(reach, 2)))
    return None
