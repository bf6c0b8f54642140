"""Hunks made of equal runs, named by what differs between them."""

from array import array
from typing import Final

from shadowviz.tokens.align.runs import Run
from shadowviz.tokens.align.same_text import same_back, same_front
from shadowviz.tokens.align.token_diff import Hunk, Op
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

ISLAND: Final = 4
"""Equal tokens from which on a stretch between two larger changes is no accident."""
KEEPS_TEXT: Final = (Op.EQUAL, Op.RETOKENIZED)


def hunks_between(a: Side, b: Side, part_a: Extent, part_b: Extent, runs: list[Run]) -> list[Hunk]:
    """Hunks that cover two stretches, given the equal runs in them."""
    hunks: list[Hunk] = []
    token_a, token_b = part_a.start, part_b.start
    for run in runs:
        hunks += differing(a, b, Extent(token_a, run.a), Extent(token_b, run.b))
        token_a, token_b = run.a + run.size, run.b + run.size
        hunks.append(Hunk(Op.EQUAL, Extent(run.a, token_a), Extent(run.b, token_b)))
    return hunks + differing(a, b, Extent(token_a, part_a.stop), Extent(token_b, part_b.stop))


def differing(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[Hunk]:
    """Hunks of two stretches without equal ids in common.

    Equal bytes at the front and at the end are hunks of their own where both sides have a token boundary behind or
    before them.
    """
    if not part_a or not part_b:
        return _changed(part_a, part_b)
    front_a, front_b = same_front(a, b, part_a, part_b)
    rest_a, rest_b = Extent(front_a, part_a.stop), Extent(front_b, part_b.stop)
    back_a, back_b = same_back(a, b, rest_a, rest_b)
    return [
        *_kept(a, Extent(part_a.start, front_a), Extent(part_b.start, front_b)),
        *_changed(Extent(front_a, back_a), Extent(front_b, back_b)),
        *_kept(a, Extent(back_a, part_a.stop), Extent(back_b, part_b.stop)),
    ]


def without_islands(a: Side, b: Side, hunks: list[Hunk]) -> list[Hunk]:
    """The hunks, with short equal stretches between two larger changes made part of one change.

    A rewritten paragraph shares a word or a comma here and there; that is no agreement. The size of a change is what it
    took away and what it put in. The first hunk stays, so that the common prefix does.
    """
    result: list[Hunk] = []
    for hunk in hunks:
        result.append(hunk)
        while len(result) > 2 and _is_island(*result[-3:]):
            first, last = result[-3], result[-1]
            whole_a, whole_b = Extent(first.a.start, last.a.stop), Extent(first.b.start, last.b.stop)
            result[-3:] = _rejoined(a, b, whole_a, whole_b)
    return result


def _is_island(before: Hunk, hunk: Hunk, behind: Hunk) -> bool:
    if hunk.op is not Op.EQUAL or before.op in KEEPS_TEXT or behind.op in KEEPS_TEXT:
        return False
    return hunk.a.size < min(ISLAND, _changes(before), _changes(behind))


def _changes(hunk: Hunk) -> int:
    return hunk.a.size + hunk.b.size


def _rejoined(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[Hunk]:
    hunks = differing(a, b, part_a, part_b)
    if any(hunk.op is Op.RETOKENIZED and _ids(a, hunk.a) == _ids(b, hunk.b) for hunk in hunks):
        return [Hunk(Op.REPLACE, part_a, part_b)]
    return hunks


def _ids(side: Side, part: Extent) -> "array[int]":
    return side.ids[part.start : part.stop]


def _kept(a: Side, part_a: Extent, part_b: Extent) -> list[Hunk]:
    # Markers that the tokenizers add stand for no text that could be the same.
    if not part_a or not part_b or not a.bytes_of(part_a):
        return _changed(part_a, part_b)
    return [Hunk(Op.RETOKENIZED, part_a, part_b)]


def _changed(part_a: Extent, part_b: Extent) -> list[Hunk]:
    if part_a and part_b:
        return [Hunk(Op.REPLACE, part_a, part_b)]
    if part_a or part_b:
        return [Hunk(Op.DELETE if part_a else Op.INSERT, part_a, part_b)]
    return []
