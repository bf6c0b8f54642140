"""Markers of a chat format as they are written in text, those of every family."""

import re
import unicodedata
from functools import cache
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.lookalikes import skeleton
from shadowviz.tokens.finding import Cause

_NAMES: Final = (
    "s|bos|eos|pad|unk|sep|cls|mask|think|thinking|tool_calls?|tool_results?|tool_responses?|tools|start_of_turn|"
    "end_of_turn|eod|sop|gMASK|BOS_TOKEN|EOS_TOKEN|function_calls|bom|eom|extra_id_\\d+|reserved_\\d+"
)
_MARKER: Final = re.compile(
    rf"<[|｜][^<>|｜\s]{{1,48}}[|｜]>|</?(?:{_NAMES})>|\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS|"
    r"TOOL_RESULTS|BOS|EOS|CLS|SEP|gMASK|PREFIX|MIDDLE|SUFFIX)\]|<</?SYS>>|｜[A-Z]+｜"
)
BEGINNING: Final = re.compile(
    r"<s>|<bos>|<sop>|<BOS_TOKEN>|\[BOS\]|\[CLS\]|\[gMASK\](?:<sop>)?|<[|｜](?:begin[_▁]of[_▁](?:text|sentence)|"
    r"startoftext|start_of_text|bos|endoftext)[|｜]>"
)
_END: Final = re.compile(
    r"</s>|<eos>|<eod>|<EOS_TOKEN>|<end_of_turn>|\[EOS\]|\[SEP\]|<[|｜](?:im_end|endoftext|end|eot|eot_id|eom_id|eos|"
    r"end[_▁]of[_▁](?:text|sentence|turn|message)|return|call|END_OF_TURN_TOKEN|endofprompt)[|｜]>",
    re.IGNORECASE,
)
_LOOKS_LIKE: Final = re.compile(
    rf"<\|[^<>|\n]{{1,48}}\|>|</?(?:{_NAMES})>|\[/?[A-Z_]{{2,20}}\]|<</?SYS>>|\|[A-Z]{{2,}}\|",
    re.IGNORECASE,
)
_LOOKS: Final = {
    "|": (
        "VERTICAL LINE",
        "VERTICAL BAR",
        "BROKEN BAR",
        "DIVIDES",
        "CLICK",
        "DRAWINGS LIGHT VERTICAL",
        "HEAVY VERTICAL",
    ),
    "<": ("LESS-THAN", "LEFT ANGLE", "LEFT DOUBLE ANGLE", "LEFT-POINTING"),
    ">": ("GREATER-THAN", "RIGHT ANGLE", "RIGHT DOUBLE ANGLE", "RIGHT-POINTING"),
    "/": ("SLASH", "SOLIDUS"),
    "_": ("LOW LINE", "LOWER ONE", "UNDERTIE"),
}
REACH: Final = 56
"""Characters on both sides in which a marker that holds a difference may begin and end."""


def marker_around(stretch: Stretch, shape: re.Pattern[str] = _MARKER) -> Stretch | None:
    """The marker that covers a stretch, or that it touches if it is empty."""
    first, last = max(0, stretch.start - REACH), min(len(stretch.text), stretch.stop + REACH)
    for match in shape.finditer(stretch.text, first, last):
        if match.start() <= stretch.start and stretch.stop <= match.end():
            return Stretch(stretch.text, match.start(), match.end())
        if match.start() > stretch.start:
            break
    return None


def marker_cause(edit: Edit) -> Named | None:
    """BOS_DOUBLED, BOS_MISSING, EOS_SWAPPED, LOOKALIKE_SPECIAL or TEMPLATE, from markers as they are written."""
    return _beginning(edit) or _lookalike(edit) or _ends(edit) or _other_markers(edit)


def _beginning(edit: Edit) -> Named | None:
    for full, empty in (edit, edit[::-1]):
        if empty.found or not full.found:
            continue
        # An insertion beside its like can be seen one character to the left or right of where it was made.
        for shift in range(-REACH, REACH + 1):
            if not 0 <= full.start + shift <= full.stop + shift <= len(full.text):
                continue
            if shift < 0 and full.text[full.start + shift : full.start] != full.text[full.stop + shift : full.stop]:
                continue
            if shift > 0 and full.text[full.start : full.start + shift] != full.text[full.stop : full.stop + shift]:
                continue
            moved = full.text[full.start + shift : full.stop + shift]
            if match := re.fullmatch(rf"((?:{BEGINNING.pattern})\s?)+", moved):
                return _begun(edit, full, shift, match[1].strip())
    return None


def _begun(edit: Edit, full: Stretch, shift: int, marker: str) -> Named | None:
    start, stop = full.start + shift, full.stop + shift
    beside = full.text[:start].rstrip().endswith(marker) or full.text[stop:].lstrip().startswith(marker)
    if not beside and start and _END.fullmatch(marker):
        return None
    return Named(Cause.BOS_DOUBLED if beside else Cause.BOS_MISSING, edit)


def _ends(edit: Edit) -> Named | None:
    around = [marker_around(stretch, _END) for stretch in edit]
    if around[0] and around[1] and around[0].found != around[1].found:
        return Named(Cause.EOS_SWAPPED, Edit(around[0], around[1]))
    return None


def _lookalike(edit: Edit) -> Named | None:
    if not edit.a.found or not edit.b.found or not (edit.a.found + edit.b.found).strip():
        return None
    around = [_shaped(stretch) for stretch in edit]
    if not around[0] or not around[1] or around[0].found == around[1].found:
        return None
    if not any(found and _MARKER.fullmatch(found.found) for found in around):
        return None
    if _plain(around[0].found) == _plain(around[1].found):
        return Named(Cause.LOOKALIKE_SPECIAL, Edit(around[0], around[1]))
    return None


def _shaped(stretch: Stretch) -> Stretch | None:
    """What looks like a marker around a stretch."""
    first, last = max(0, stretch.start - REACH), min(len(stretch.text), stretch.stop + REACH)
    seen = "".join(map(_look, stretch.text[first:last]))
    for match in _LOOKS_LIKE.finditer(seen):
        if match.start() <= stretch.start - first and stretch.stop - first <= match.end():
            return Stretch(stretch.text, first + match.start(), first + match.end())
    return None


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+", "_", "".join(map(_look, text))).casefold()


@cache
def _look(character: str) -> str:
    """The ASCII character that one looks like, as far as markers go."""
    if character.isascii():
        return character
    name = unicodedata.name(character, "")
    for look, parts in _LOOKS.items():
        if any(part in name for part in parts):
            return look
    if unicodedata.category(character) == "Pc":
        return "_"
    compatible = unicodedata.normalize("NFKC", skeleton(character))
    return compatible if len(compatible) == 1 else character


def _other_markers(edit: Edit) -> Named | None:
    """TEMPLATE where only markers differ."""
    around = [marker_around(stretch) for stretch in edit]
    if around[0] and around[1] and around[0].found != around[1].found:
        return Named(Cause.TEMPLATE, Edit(around[0], around[1]))
    bare = [_MARKER.sub("", stretch.found).strip() for stretch in edit]
    marked = any(_MARKER.search(stretch.found) for stretch in edit)
    return Named(Cause.TEMPLATE, edit) if marked and not any(bare) else None
