"""The causes at every differing stretch of two prompts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.emoji import restyles
from shadowviz.tokens.causes.groups import Group
from shadowviz.tokens.causes.ids import mark_cause, same_text_cause
from shadowviz.tokens.causes.judge import TOGETHER, judge
from shadowviz.tokens.causes.split import edits_between
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.side import Side

NEAR: Final = 24
"""Characters within which another text can make a tokenizer group equal text anew."""

CLOSE: Final = 8
"""Equal characters between two stretches that are compared as one."""

SPAN: Final = 500
"""Characters from which on stretches that lie close are not taken together any more."""

Key = tuple[Cause, str]
"""A cause with its subject."""

_APPENDED: Final = frozenset(
    {
        Cause.TRAILING_NEWLINE,
        Cause.TRAILING_SPACE,
        Cause.ZERO_WIDTH,
        Cause.BIDI_MARK,
        Cause.BOM,
        Cause.SPACE_KIND,
        Cause.SPACE_COUNT,
        Cause.TAB,
        Cause.CRLF,
        Cause.LINE_SEPARATOR,
        Cause.LEADING_SPACE,
        Cause.TOKENIZER_VERSION,
        Cause.SPECIAL_VS_TEXT,
        Cause.BOS_DOUBLED,
        Cause.BOS_MISSING,
        Cause.NUMBER_FORM,
    }
)
"""Causes that stay what they are where one text begins with all of the other."""

_WEAK: Final = frozenset({Cause.PUNCTUATION, Cause.CASE, Cause.COUNTER, Cause.SPACE_COUNT})
"""Causes that chance shows beside a text that was written anew."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cause at a differing stretch."""

    group: int
    """Index of the stretch."""
    named: Named
    edit: Edit
    """The characters that differ."""

    @property
    def key(self) -> Key:
        """What it is called."""
        return self.named.cause, self.named.subject


def places_of(a: Side, b: Side, groups: Sequence[Group]) -> list[Place]:
    """Every cause at every stretch, in order."""
    edits: list[tuple[int, Edit]] = []
    unchanged: list[Place] = []
    marks = [mark_cause(a, b, group.a, group.b) for group in groups]
    for first, last in _regions(groups, marks):
        for number, edit in _edits(groups, first, last) if not marks[first] else ():
            edits.append((number, edit))
        changed = {number for number, _ in edits}
        for number in range(first, last + 1):
            group = groups[number]
            whole = Edit(group.in_a, group.in_b)
            if number not in changed and (marks[number] or whole.a.found == whole.b.found):
                cause = marks[number] or same_text_cause(a, b, group.a, group.b)
                unchanged.append(Place(number, Named(cause, whole), whole))
    changed_groups = [number for number, _ in edits]
    kept = [place for place in unchanged if not _follows_from_text(place, groups, changed_groups)]
    places = sorted([*kept, *_judged(edits)], key=lambda place: place.group)
    return _appended(a, b, _absorbed(places))


def _regions(groups: Sequence[Group], marks: Sequence[Cause | None]) -> Iterator[tuple[int, int]]:
    """First and last of the stretches that are so close that tokens may have parted them where the text does not."""
    first = 0
    for number in range(1, len(groups) + 1):
        if (
            number == len(groups)
            or marks[number]
            or marks[number - 1]
            or not _close(*groups[number - 1 : number + 1])
            or groups[number].in_a.stop - groups[first].in_a.start > SPAN
        ):
            yield first, number - 1
            first = number


def _close(one: Group, other: Group) -> bool:
    return all(one.stop + CLOSE >= other.start for one, other in ((one.in_a, other.in_a), (one.in_b, other.in_b)))


def _edits(groups: Sequence[Group], first: int, last: int) -> Iterator[tuple[int, Edit]]:
    whole = [
        Stretch(one.text, one.start, other.stop)
        for one, other in ((groups[first].in_a, groups[last].in_a), (groups[first].in_b, groups[last].in_b))
    ]
    if not whole[0].found and not whole[1].found:
        whole = [_up_to_next(groups, last, stretch) for stretch in whole]
    number = first
    for edit in edits_between(whole[0], whole[1]):
        while number < last and _begins(groups[number + 1], edit):
            number += 1
        yield number, edit


def _up_to_next(groups: Sequence[Group], last: int, stretch: Stretch) -> Stretch:
    """The equal tokens behind a stretch too, which stand for other text where those before them stand for nothing."""
    following = groups[last + 1 : last + 2]
    ends = [s.start for group in following for s in (group.in_a, group.in_b) if s.text is stretch.text]
    return Stretch(stretch.text, stretch.start, ends[0] if ends else len(stretch.text))


def _begins(group: Group, edit: Edit) -> bool:
    return group.in_a.start <= edit.a.start and group.in_b.start <= edit.b.start


def _judged(edits: Sequence[tuple[int, Edit]]) -> Iterator[Place]:
    done = 0
    bare = [edit for _, edit in edits]
    while done < len(edits):
        num, causes = judge(bare[done : done + TOGETHER])
        for number, edit in edits[done : done + num]:
            yield from (Place(number, named, edit) for named in causes)
        done += num


def _follows_from_text(place: Place, groups: Sequence[Group], changed: Sequence[int]) -> bool:
    """Whether equal text got other ids because of other text beside it."""
    if place.named.cause is not Cause.RETOKENIZED:
        return False
    here = groups[place.group].in_a
    beside = [groups[number].in_a for number in changed if abs(number - place.group) <= 2]
    return any(max(here.start - other.stop, other.start - here.stop) <= NEAR for other in beside)


def _appended(a: Side, b: Side, places: list[Place]) -> list[Place]:
    """MERGE_ACROSS_BOUNDARY where one text begins with all of the other and ends in other tokens."""
    shorter, longer = (a, b) if len(a.raw) < len(b.raw) else (b, a)
    if len(places) != 1 or not longer.raw.startswith(shorter.raw) or len(a.raw) == len(b.raw):
        return places
    (place,) = places
    if place.named.cause in _APPENDED or (place.named.cause is Cause.EMOJI and restyles(place.edit)):
        return places
    return [replace(place, named=Named(Cause.MERGE_ACROSS_BOUNDARY, place.edit))]


def _absorbed(places: Sequence[Place]) -> list[Place]:
    """The places, with what chance shows beside a text that was written anew as part of that text."""
    kept: list[Place] = []
    for number, place in enumerate(places):
        if place.named.cause in _WEAK:
            beside = [other for other in places[max(0, number - 1) : number + 2] if other.named.cause is Cause.TEXT]
            if any(_gap(place.edit, other.edit) <= 2 for other in beside):
                kept.append(replace(place, named=Named(Cause.TEXT, place.edit)))
                continue
        kept.append(place)
    return kept


def _gap(one: Edit, other: Edit) -> int:
    """Equal characters between two edits."""
    first, second = sorted((one.a, other.a), key=lambda stretch: stretch.start)
    return second.start - first.stop
