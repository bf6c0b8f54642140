"""Why two prompts part, from their text, their ids and their structure."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from shadowviz.tokens.causes.advice import advice_for
from shadowviz.tokens.causes.detail import detail_of
from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.groups import Group, groups_of
from shadowviz.tokens.causes.ids import mark_cause, same_text_cause
from shadowviz.tokens.causes.judge import edits_between, judge
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.inert import inert
from shadowviz.tokens.side import Side
from shadowviz.tokens.token_diff import TokenDiff
from shadowviz_engine.core.spans import Extent

LOOKED_AT: Final = 200
"""Differing stretches that are judged. One behind them has the cause of a judged one in which the same characters were
exchanged; any other is taken to stay, and ends what mending a cause gains."""
NEAR: Final = 24
"""Characters within which another text can make a tokenizer group equal text anew."""

Key = tuple[Cause, str]

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
    }
)
"""Causes that stay what they are where one text begins with all of the other."""
_WEAK: Final = frozenset({Cause.PUNCTUATION, Cause.CASE, Cause.COUNTER, Cause.SPACE_COUNT})
"""Causes that chance shows beside a text that was written anew."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cause at a differing stretch."""

    group: int
    named: Named
    edit: Edit


def find_causes(a: Side, b: Side, diff: TokenDiff) -> tuple[Finding, ...]:
    """Causes of what differs, the one that ends the common prefix first; none where the ids are equal.

    Equal ids of other text are noted as NORMALISED_EQUAL, and ids that go on where the other side's end as EXTENDS.
    """
    if a.ids == b.ids:
        return _hit(a, b)
    if diff.common == min(len(a.ids), len(b.ids)):
        return (_extends(a, b, diff.common),)
    return textual(a, b, diff)


def _hit(a: Side, b: Side) -> tuple[Finding, ...]:
    if a.raw == b.raw or a.encoder.fingerprint != b.encoder.fingerprint or _joint_begins(a, b):
        return ()
    edits = edits_between(Stretch(a.text, 0, len(a.text)), Stretch(b.text, 0, len(b.text)))
    if not edits:
        return ()
    named = Named(Cause.NORMALISED_EQUAL, edits[0])
    start = [side.token_at(len(s.text[: s.start].encode())) for side, s in zip((a, b), edits[0], strict=True)]
    detail = f"{detail_of(named, edits[0], (a.name, b.name))}; the ids are equal"
    return (Finding(named.cause, "", Extent(start[0], start[0]), Extent(start[1], start[1]), detail, "", 0),)


def _joint_begins(a: Side, b: Side) -> bool:
    """Whether the texts differ only by the blank that a tokenizer puts before every text it encodes."""
    begun = b"".join(a.encoder.token_bytes(i) for i in a.ids[:1])
    return begun.startswith(b" ") and (a.raw == b" " + b.raw or b.raw == b" " + a.raw)


def _extends(a: Side, b: Side, common: int) -> Finding:
    longer, shorter = (a, b) if len(a.ids) > len(b.ids) else (b, a)
    more = len(longer.ids) - common
    detail = f"{inert(longer.name)} begins with all {common:,} tokens of {inert(shorter.name)} and has {more:,} more"
    return Finding(Cause.EXTENDS, "", Extent(common, len(a.ids)), Extent(common, len(b.ids)), detail, "", 0)


def textual(a: Side, b: Side, diff: TokenDiff) -> tuple[Finding, ...]:
    """Causes that text and ids show, in the order in which they come up."""
    groups = list(groups_of(a, b, diff))
    looked = groups[:LOOKED_AT]
    places = _appended(a, b, _absorbed(_places(a, b, looked)))
    keys = _keys(groups, places)
    findings: dict[Key, Finding] = {}
    for place in places:
        key = (place.named.cause, place.named.subject)
        if key not in findings:
            findings[key] = _finding(a, b, groups, place, _gain(groups, keys, place.group, key), places)
    return tuple(findings.values())


def _places(a: Side, b: Side, groups: list[Group]) -> list[Place]:
    """Every cause at every stretch."""
    edits: list[tuple[int, Edit]] = []
    places: list[Place] = []
    for number, group in enumerate(groups):
        mark = mark_cause(a, b, group.a, group.b)
        whole = Edit(group.in_a, group.in_b)
        if mark:
            places.append(Place(number, Named(mark, whole), whole))
            continue
        found = edits_between(group.in_a, group.in_b)
        edits.extend((number, edit) for edit in found)
        if not found:
            places.append(Place(number, Named(same_text_cause(a, b, group.a, group.b), whole), whole))
    changed = [number for number, _ in edits]
    places = [place for place in places if not _follows_from(place, groups, changed, a, b)]
    places.extend(_judged(edits))
    return sorted(places, key=lambda place: place.group)


def _judged(edits: list[tuple[int, Edit]]) -> Iterable[Place]:
    done = 0
    only = [edit for _, edit in edits]
    while done < len(edits):
        num, causes = judge(only[done : done + 64])
        for number, edit in edits[done : done + num]:
            yield from (Place(number, named, edit) for named in causes)
        done += num


def _follows_from(place: Place, groups: list[Group], changed: list[int], a: Side, b: Side) -> bool:
    """Whether equal text got other ids because of other text beside it."""
    if place.named.cause is not Cause.RETOKENIZED or a.encoder.fingerprint != b.encoder.fingerprint:
        return False
    here = groups[place.group]
    beside = [groups[number] for number in changed if abs(number - place.group) <= 2]
    return any(
        -NEAR <= here.in_a.start - other.in_a.stop <= NEAR or -NEAR <= other.in_a.start - here.in_a.stop <= NEAR
        for other in beside
    )


def _appended(a: Side, b: Side, places: list[Place]) -> list[Place]:
    """MERGE_ACROSS_BOUNDARY where one text begins with all of the other and ends in other tokens."""
    shorter, longer = (a, b) if len(a.raw) < len(b.raw) else (b, a)
    if len(places) != 1 or not longer.raw.startswith(shorter.raw) or a.raw == b.raw:
        return places
    (place,) = places
    if place.named.cause in _APPENDED or _is_tone(place):
        return places
    return [Place(place.group, Named(Cause.MERGE_ACROSS_BOUNDARY, place.edit), place.edit)]


def _is_tone(place: Place) -> bool:
    """Whether an emoji was given a colour or a style."""
    more = place.edit.a.found or place.edit.b.found
    return (
        place.named.cause is Cause.EMOJI
        and more[:1] in "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff\ufe0e\ufe0f\u200d"
    )


def _absorbed(places: list[Place]) -> list[Place]:
    """Places without what chance shows beside a text that was written anew."""
    kept = []
    for number, place in enumerate(places):
        if place.named.cause in _WEAK:
            beside = [other for other in places[max(0, number - 1) : number + 2] if other.named.cause is Cause.TEXT]
            if any(_distance(place.edit, other.edit) <= 2 for other in beside):
                kept.append(Place(place.group, Named(Cause.TEXT, place.edit), place.edit))
                continue
        kept.append(place)
    return kept


def _distance(one: Edit, other: Edit) -> int:
    first, second = sorted((one.a, other.a), key=lambda stretch: stretch.start)
    return second.start - first.stop


def _keys(groups: list[Group], places: list[Place]) -> list[set[Key] | None]:
    """Causes of each stretch; None where it was not judged and is like none that was."""
    keys: list[set[Key] | None] = [set() for _ in groups[:LOOKED_AT]]
    for place in places:
        found = keys[place.group]
        assert found is not None
        found.add((place.named.cause, place.named.subject))
    known = {
        Edit(g.in_a, g.in_b).trimmed().a.found + "\0" + Edit(g.in_a, g.in_b).trimmed().b.found: k
        for g, k in zip(groups, keys, strict=False)
    }
    for group in islice(groups, LOOKED_AT, None):
        edit = Edit(group.in_a, group.in_b).trimmed()
        keys.append(known.get(edit.a.found + "\0" + edit.b.found))
    return keys


def _gain(groups: list[Group], keys: list[set[Key] | None], first: int, key: Key) -> int:
    gain = 0
    for group, found in zip(groups[first:], keys[first:], strict=True):
        if found is None or found - {key}:
            break
        gain += group.shared + group.agreed
    return gain


def _finding(a: Side, b: Side, groups: list[Group], place: Place, gain: int, places: list[Place]) -> Finding:
    key = (place.named.cause, place.named.subject)
    same = [p for p in places if (p.named.cause, p.named.subject) == key]
    group = groups[place.group]
    extents = group.a, group.b
    if place.named.cause is Cause.REORDERED:
        last = max((p.group for p in same if p.named is place.named), default=place.group)
        extents = Extent(group.a.start, groups[last].a.stop), Extent(group.b.start, groups[last].b.stop)
    detail = _detail(a, b, place)
    more = len({p.group for p in same if p.named is not place.named and p.group != place.group})
    if more:
        detail += f"; and {more:,} more like it"
    return Finding(place.named.cause, place.named.subject, *extents, detail, advice_for(*key), gain)


def _detail(a: Side, b: Side, place: Place) -> str:
    return detail_of(place.named, place.edit, (a.name, b.name))
