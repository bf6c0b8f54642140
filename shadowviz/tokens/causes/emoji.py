"""Emoji: pictures, the sequences they form, and what stands for them."""

import re
from typing import Final

from shadowviz.tokens.causes.edit import Edit

_PICTURE: Final = (
    "\u203c\u2049\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff\U0001fb00-\U0001fbff"
)
_JOINER, _TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
_FLAG: Final = "\U0001f1e6-\U0001f1ff"
_TONE: Final = "\U0001f3fb-\U0001f3ff"
_TAG: Final = "\U000e0020-\U000e007f"
_PARTS: Final = re.compile(f"[{_PICTURE}{_JOINER}{_TEXT_STYLE}{_EMOJI_STYLE}{_KEYCAP}{_FLAG}{_TONE}{_TAG}]")
_SEEN: Final = re.compile(f"[{_PICTURE}{_FLAG}{_TONE}{_KEYCAP}]")
_STYLE: Final = re.compile(f"[{_JOINER}{_TEXT_STYLE}{_EMOJI_STYLE}{_TAG}]+")
_STYLED: Final = re.compile(f"[{_PICTURE}{_FLAG}{_TONE}{_KEYCAP}\u00a9\u00ae\u2122#*0-9]")
_KEYCAPPED: Final = re.compile(f"{_EMOJI_STYLE}?{_KEYCAP}")
_WRITTEN: Final = re.compile(r"\s*(?::[a-z0-9_+-]+:|[:;=8][-']?[)(DPp/|*]|<3)?\s*")


def emoji_part(character: str) -> bool:
    """Whether it is an emoji or part of a sequence for one."""
    return bool(_PARTS.match(character))


def shows_emoji(edit: Edit) -> bool:
    """Whether an emoji, or a part of the sequence for it, is all that differs."""
    a, b = edit.a.found, edit.b.found
    if _STYLE.fullmatch(a + b):
        return any(_STYLED.match(s.before) or _SEEN.match(s.behind) for s in edit if s.found)
    if a and b and all(_KEYCAPPED.match(s.text, s.stop) for s in edit):
        return True
    if not _SEEN.search(a + b):
        return False
    rests = [_PARTS.sub("", text) for text in (a, b)]
    # Dingbats are emoji only beside each other or on their own: an arrow for a word is another text.
    return all(_WRITTEN.fullmatch(rest) for rest in rests)


def restyles(edit: Edit) -> bool:
    """Whether one side goes on with the colour, the style or the joiner of an emoji."""
    more = edit.a.found or edit.b.found
    return bool(re.match(f"[{_TONE}{_JOINER}{_TEXT_STYLE}{_EMOJI_STYLE}{_KEYCAP}]", more))
