"""Differences in blanks and line ends."""

import re
from collections.abc import Callable
from itertools import combinations
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.finding import Cause

LINE_ENDS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

_TURN: Final = re.compile(r"<[|｜][^<>|｜\s]{1,48}[|｜]>|</s>|\[/?INST\]|<(?:end|start)_of_turn>")
"""A marker that ends a message or begins the next one."""

Normal = Callable[[str], str]


def blank(character: str) -> bool:
    """Whether it is a blank or ends a line, in any kind."""
    return character.isspace() or character == "\u2800"


def blank_causes(edit: Edit) -> list[Named]:
    """Why two runs of blanks differ, one or two causes; none where more than blanks differ."""
    if not all(map(blank, edit.a.found + edit.b.found)):
        return []
    whole = edit.grown(blank)
    causes = _causes(whole, edit)
    return [Named(cause, whole) for cause in causes]


def _causes(whole: Edit, edit: Edit) -> tuple[Cause, ...]:
    a, b = whole.a.found, whole.b.found
    for num in (1, 2):
        for chosen in combinations(_forms(whole), num):
            if _through(chosen, a) == _through(chosen, b):
                return tuple(cause for cause, _ in chosen)
    if _bare(a) and _bare(b):
        return (Cause.SPACE_KIND,)
    return (_counted(edit),)


def _through(chosen: tuple[tuple[Cause, Normal], ...], text: str) -> str:
    for _, normal in chosen:
        text = normal(text)
    return text


def _bare(text: str) -> bool:
    return bool(text)


def _forms(whole: Edit) -> list[tuple[Cause, Normal]]:
    ends = all(_ends(stretch) for stretch in whole)
    begins = not whole.a.before and not whole.b.before
    forms: list[tuple[Cause, Normal]] = [
        (Cause.CRLF, lambda text: re.sub("\r\n?", "\n", text)),
        (Cause.LINE_SEPARATOR, lambda text: re.sub("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]", "\n", text)),
        (Cause.SPACE_KIND, _plain_blanks),
    ]
    if whole.a.found and whole.b.found and _tabs_differ(whole):
        forms.append((Cause.TAB, lambda text: re.sub(r"[ \t]+", "\t", text)))
    if begins:
        forms.append((Cause.LEADING_SPACE, lambda text: text.lstrip()))
    line_end = rf"[^\S{LINE_ENDS}]+(?=[{LINE_ENDS}])"
    forms.append((Cause.TRAILING_SPACE, lambda text: re.sub(line_end + (r"|[^\S\n\r]+\Z" if ends else ""), "", text)))
    if ends:
        forms.append((Cause.TRAILING_NEWLINE, lambda text: re.sub(r"[\r\n]+\Z", "", text)))
    line_begin = (r"(?:\A|(?<=[\n\r]))" if begins else r"(?<=[\n\r])") + r"[^\S\n\r]+\Z"
    forms.append((Cause.LEADING_SPACE, lambda text: re.sub(line_begin, "", text)))
    forms.append((Cause.SPACE_COUNT, lambda text: re.sub(r"[ \t]+", " ", re.sub(r"\n+", "\n", text)) if text else " "))
    return forms


def _ends(stretch: Stretch) -> bool:
    """Whether a text, or a message in it, ends behind a stretch."""
    return not stretch.behind or bool(_TURN.match(stretch.text, stretch.stop))


def _tabs_differ(whole: Edit) -> bool:
    return set(whole.a.found) & set(" \t") != set(whole.b.found) & set(" \t")


def _plain_blanks(text: str) -> str:
    return "".join(" " if blank(character) and character not in LINE_ENDS + "\t" else character for character in text)


def _counted(edit: Edit) -> Cause:
    """The class where blanks stand on one side only."""
    present = edit.a.found + edit.b.found
    if "\t" in present:
        return Cause.TAB
    if any(character not in " " + LINE_ENDS for character in present):
        return Cause.SPACE_KIND
    return Cause.SPACE_COUNT
