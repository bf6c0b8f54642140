"""Why two prompts part, from their text, their ids and their structure."""

from collections.abc import Mapping, Sequence
from typing import Final

from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.causes.advice import advice_for
from shadowviz.tokens.causes.detail import all_tokens, detail_of
from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.groups import Group, groups_of
from shadowviz.tokens.causes.merge import merged
from shadowviz.tokens.causes.places import Key, Place, places_of
from shadowviz.tokens.causes.split import edits_between
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.inert import inert
from shadowviz.tokens.side import Side
from shadowviz.tokens.structure.find import structural
from shadowviz_engine.core.spans import Extent

LOOKED_AT: Final = 200
"""Differing stretches that are judged. One behind them has the cause of a judged one in which the same characters were
exchanged; any other is taken to stay, and ends what mending a cause gains."""


def find_causes(a: Side, b: Side, diff: TokenDiff) -> tuple[Finding, ...]:
    """Causes of what differs, the one that ends the common prefix first; none where the ids are equal.

    Equal ids of other text are noted as NORMALISED_EQUAL, and ids that go on where the other side's end as EXTENDS.
    """
    if a.ids == b.ids:
        return _hit(a, b)
    if diff.common == min(len(a.ids), len(b.ids)):
        return (_extends(a, b, diff.common),)
    told = structural(a, b, diff) if a.conversation and b.conversation else ()
    return causes_of_text(a, b, diff, told)


def causes_of_text(a: Side, b: Side, diff: TokenDiff, told: Sequence[Finding] = ()) -> tuple[Finding, ...]:
    """Causes that text and ids show, in order of place, with what the structure told in the place of what it explains.

    Each cause is listed once, where it comes up first.
    """
    groups = list(groups_of(a, b, diff))
    looked = groups[:LOOKED_AT]
    places, kept, explained = merged(looked, places_of(a, b, looked), told)
    keys = _Keys(groups, places, explained)
    found: dict[Key, tuple[int, Finding]] = {}
    for place in places:
        if place.key not in found:
            alike = [other for other in places if other.key == place.key]
            gain = _gain(groups, keys, place.group, place.key)
            found[place.key] = place.group, _finding(a, b, groups, alike, gain)
    ordered = sorted([*kept, *found.values()], key=lambda item: item[0])
    return tuple(finding for _, finding in ordered)


def _hit(a: Side, b: Side) -> tuple[Finding, ...]:
    if a.raw == b.raw or a.encoder.fingerprint != b.encoder.fingerprint or _joined_blank(a, b):
        return ()
    edits = edits_between(Stretch(a.text, 0, len(a.text)), Stretch(b.text, 0, len(b.text)))
    if not edits:
        return ()
    named = Named(Cause.NORMALISED_EQUAL, edits[0])
    at_a, at_b = (side.token_at(len(s.text[: s.start].encode())) for side, s in zip((a, b), edits[0], strict=True))
    detail = f"{detail_of(named, edits[0], (a.name, b.name))}; the ids are equal"
    return (Finding(named.cause, "", Extent(at_a, at_a), Extent(at_b, at_b), detail, "", 0),)


def _joined_blank(a: Side, b: Side) -> bool:
    """Whether the texts differ only by the blank that a tokenizer puts before every text it encodes."""
    begun = b"".join(a.encoder.token_bytes(token_id) for token_id in a.ids[:1])
    return begun.startswith(b" ") and (a.raw == b" " + b.raw or b.raw == b" " + a.raw)


def _extends(a: Side, b: Side, common: int) -> Finding:
    longer, shorter = (a, b) if len(a.ids) > len(b.ids) else (b, a)
    more = len(longer.ids) - common
    detail = f"{inert(longer.name)} begins with {all_tokens(common)} of {inert(shorter.name)} and has {more:,} more"
    return Finding(Cause.EXTENDS, "", Extent(common, len(a.ids)), Extent(common, len(b.ids)), detail, "", 0)


class _Keys:
    """The causes of each stretch, those behind the judged ones looked up when they are asked for."""

    def __init__(self, groups: Sequence[Group], places: Sequence[Place], explained: Mapping[int, Finding]) -> None:
        self._groups = groups
        self._judged: list[set[Key]] = [set() for _ in groups[:LOOKED_AT]]
        self._known: dict[tuple[str, str], Key] = {}
        for place in places:
            self._judged[place.group].add(place.key)
            self._known.setdefault((place.edit.a.found, place.edit.b.found), place.key)
        for number, finding in explained.items():
            self._judged[number] = {(finding.cause, finding.subject)}

    def of(self, number: int) -> set[Key] | None:
        """Causes of a stretch; None where it was not judged and is like none that was."""
        if number < len(self._judged):
            return self._judged[number]
        group = self._groups[number]
        whole = Edit(group.in_a, group.in_b).trimmed()
        if found := self._known.get((whole.a.found, whole.b.found)):
            return {found}
        parts = [self._known.get((e.a.found, e.b.found)) for e in edits_between(group.in_a, group.in_b)]
        return {part for part in parts if part} if parts and all(parts) else None


def _gain(groups: Sequence[Group], keys: _Keys, first: int, key: Key) -> int:
    """Tokens that both sides have, from a stretch up to the next one of another cause."""
    gain = 0
    for number in range(first, len(groups)):
        found = keys.of(number)
        if found is None or found - {key}:
            break
        gain += groups[number].shared + groups[number].agreed
    return gain


def _finding(a: Side, b: Side, groups: Sequence[Group], alike: Sequence[Place], gain: int) -> Finding:
    """The finding of a cause at its first place.

    Args:
        alike: all places of the cause.
    """
    place = alike[0]
    first, last = groups[place.group], groups[max(p.group for p in alike if p.named is place.named)]
    detail = detail_of(place.named, place.edit, (a.name, b.name))
    if more := len({p.group for p in alike if p.named is not place.named} - {place.group}):
        detail += f"; and {more:,} more like it"
    return Finding(
        place.named.cause,
        place.named.subject,
        Extent(first.a.start, last.a.stop),
        Extent(first.b.start, last.b.stop),
        detail,
        advice_for(*place.key),
        gain,
    )
