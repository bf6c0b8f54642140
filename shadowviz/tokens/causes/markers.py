"""Markers of a chat format as they are written in text, those of every family."""

import re
import unicodedata
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
    r"end[_▁]of[_▁](?:text|sentence|turn|message)|return|call|END_OF_TURN_TOKEN|endofprompt)[|｜]>"
)
_SHAPED: Final = re.compile(
    r"[<＜‹〈⟨⟪«《﹤˂ᐸ]\s?/?[|｜∣ǀ│¦❘丨︱ǁl!Iı]?[^<>＜＞\s][^<>＜＞\n]{0,48}?[|｜∣ǀ│¦❘丨︱ǁl!Iı]?\s?[>＞›〉⟩⟫»》﹥˃ᐳ]"
)
_BARS: Final = dict.fromkeys(map(ord, "｜∣ǀ│¦❘丨︱┃∥❙"), "|")
_OPEN: Final = dict.fromkeys(map(ord, "＜‹〈⟨⟪«《﹤˂ᐸ"), "<")
_SHUT: Final = dict.fromkeys(map(ord, "＞›〉⟩⟫»》﹥˃ᐳ"), ">")
_FILL: Final = dict.fromkeys(map(ord, "▁＿﹍﹎ˍ‿-‐‑–—"), "_") | {ord("∕"): "/", ord("⁄"): "/"}
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
    return _beginning(edit) or _ends(edit) or _lookalike(edit) or _other_markers(edit)


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
    if not edit.a.found.strip() or not edit.b.found.strip():
        if not (edit.a.found + edit.b.found).strip():
            return None
    around = [marker_around(stretch, _SHAPED) for stretch in edit]
    if not around[0] or not around[1] or around[0].found == around[1].found:
        return None
    if not any(_MARKER.fullmatch(found.found) for found in around if found):
        return None
    if _plain(around[0].found) == _plain(around[1].found):
        return Named(Cause.LOOKALIKE_SPECIAL, Edit(around[0], around[1]))
    return None


def _plain(text: str) -> str:
    """What the characters of a marker look like."""
    shown = skeleton(text).translate(_BARS | _OPEN | _SHUT | _FILL)
    return re.sub(r"[\s_]+", "_", unicodedata.normalize("NFKC", shown).translate(_BARS | _FILL))


def _other_markers(edit: Edit) -> Named | None:
    """TEMPLATE where only markers differ."""
    around = [marker_around(stretch) for stretch in edit]
    if around[0] and around[1] and around[0].found != around[1].found:
        return Named(Cause.TEMPLATE, Edit(around[0], around[1]))
    bare = [_MARKER.sub("", stretch.found).strip() for stretch in edit]
    marked = any(_MARKER.search(stretch.found) for stretch in edit)
    return Named(Cause.TEMPLATE, edit) if marked and not any(bare) else None
