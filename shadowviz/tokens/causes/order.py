"""The same lines, blocks or items of a text in another order."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.structured import kind_of
from shadowviz.tokens.finding import Cause

_ITEM_ENDS: Final = re.compile(
    r"[()\[\]{}<>、，；：。！？\n\r]|(?<!\d)[,;|]|[,;|](?!\d)|[.:!?](?=\s|\Z)|\s(?:and|or|then)\s|\s(?=[\w:-]+=)|[&?](?=\w+=)"
)


class _Scale(NamedTuple):
    """Units that may change places, from where to where they are looked for, and in how many edits."""

    start_of: Callable[[Stretch], int]
    stop_of: Callable[[Stretch], int]
    split: Callable[[str], list[str]]
    reach: int
    edits: int


def moved_lines(edits: Sequence[Edit]) -> tuple[int, list[Named]] | None:
    """A change of order of lines that begins with the first of some edits, and how many of them it explains."""
    return _moved(edits[: _LINES.edits], _LINES)


def moved_items(edits: Sequence[Edit]) -> tuple[int, list[Named]] | None:
    """The same for what commas, brackets and the like part."""
    return next((found for scale in _ITEMS if (found := _moved(edits[: scale.edits], scale))), None)


def _moved(edits: Sequence[Edit], scale: _Scale) -> tuple[int, list[Named]] | None:
    first = edits[0]
    start_a, start_b = scale.start_of(first.a), scale.start_of(first.b)
    if not _may_move(first, start_a, start_b, scale):
        return None
    balance: Counter[str] = Counter()
    done_a, done_b = start_a, start_b
    for num, edit in enumerate(edits, 1):
        stop_a, stop_b = max(done_a, scale.stop_of(edit.a)), max(done_b, scale.stop_of(edit.b))
        if max(stop_a - start_a, stop_b - start_b) > scale.reach:
            return None
        balance.update(scale.split(edit.a.text[done_a:stop_a]))
        balance.subtract(scale.split(edit.b.text[done_b:stop_b]))
        done_a, done_b = stop_a, stop_b
        if not any(balance.values()):
            whole = Edit(Stretch(edit.a.text, start_a, stop_a), Stretch(edit.b.text, start_b, stop_b))
            units_a, units_b = (scale.split(stretch.found) for stretch in whole)
            if units_a == units_b or len(set(units_a)) < 2:
                return None
            num_inside = num + _inside(whole, edits[num:])
            return num_inside, [
                Named(Cause.REORDERED, whole, _subject(units_a)),
                *_blanks_too(whole),
            ]
    return None


def _inside(whole: Edit, edits: Sequence[Edit]) -> int:
    """How many edits at the front lie in two stretches."""
    return sum(1 for _ in takewhile(lambda edit: whole.a.holds(edit.a) and whole.b.holds(edit.b), edits))


def _may_move(first: Edit, start_a: int, start_b: int, scale: _Scale) -> bool:
    """Whether the first differing unit of each side stands somewhere behind in the other, told at little cost."""
    stop_a, stop_b = scale.stop_of(first.a), scale.stop_of(first.b)
    if max(stop_a - start_a, stop_b - start_b) > scale.reach:
        return False
    units_a, units_b = scale.split(first.a.text[start_a:stop_a]), scale.split(first.b.text[start_b:stop_b])
    only_a = next((unit for unit in units_a if unit not in units_b), "")
    only_b = next((unit for unit in units_b if unit not in units_a), "")
    return first.b.text.find(only_a, start_b, start_b + scale.reach) >= 0 and (
        first.a.text.find(only_b, start_a, start_a + scale.reach) >= 0
    )


def _blanks_too(whole: Edit) -> list[Named]:
    """What else differs between the same lines: blanks at their ends or beginnings."""
    lines = [[line for line in stretch.found.split("\n") if line.strip()] for stretch in whole]
    for cause, strip in ((None, str), (Cause.TRAILING_SPACE, str.rstrip), (Cause.LEADING_SPACE, str.lstrip)):
        if Counter(map(strip, lines[0])) == Counter(map(strip, lines[1])):
            return [Named(cause, whole)] if cause else []
    return []


def _subject(units: list[str]) -> str:
    try:
        values = [json.loads(unit.rstrip(",")) for unit in units]
    except (ValueError, RecursionError):
        return ""
    found = kind_of(values)
    return found if found != "items" else ""


def _line_start(stretch: Stretch) -> int:
    return stretch.text.rfind("\n", 0, stretch.start) + 1


def _line_stop(stretch: Stretch) -> int:
    # A stretch that ends with its line is not continued in the next one.
    if stretch.found.endswith("\n"):
        return stretch.stop
    stop = stretch.text.find("\n", stretch.stop)
    return len(stretch.text) if stop < 0 else stop + 1


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]


def _item_start(stretch: Stretch) -> int:
    first = max(_line_start(stretch), stretch.start - 2000)
    ends = [match.end() for match in _ITEM_ENDS.finditer(stretch.text, first, stretch.start)]
    return ends[-1] if ends else first


def _item_stop(stretch: Stretch) -> int:
    match = _ITEM_ENDS.search(stretch.text, max(stretch.start, stretch.stop - 1), stretch.stop + 2000)
    return match.end() if match else min(_line_stop(stretch), stretch.stop + 2000)


def _word_start(stretch: Stretch) -> int:
    return stretch.grown(str.isalnum, 64).start


def _word_stop(stretch: Stretch) -> int:
    return stretch.grown(str.isalnum, 64).stop


def _items(text: str) -> list[str]:
    parts = (part.strip(" \t\"'`/&?,;|") for part in _ITEM_ENDS.split(text))
    return [part for part in parts if any(map(str.isalnum, part))]


_LINES: Final = _Scale(_line_start, _line_stop, _lines, 40_000, 64)
_ITEMS: Final = (
    _Scale(_item_start, _item_stop, _items, 2_000, 16),
    _Scale(_word_start, _word_stop, _items, 2_000, 16),
)
