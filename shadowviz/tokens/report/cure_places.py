"""Where one cause shows in two prompts: the stretches that its cure replaces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.causes.edit import Edit
from shadowviz.tokens.causes.find import LOOKED_AT
from shadowviz.tokens.causes.groups import Group, groups_of
from shadowviz.tokens.causes.places import Key, Place, places_of
from shadowviz.tokens.causes.split import edits_between
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.side import Side


@dataclass(frozen=True, slots=True)
class CuredPlaces:
    """Stretches that show one cause and no other, in order."""

    edits: tuple[Edit, ...]
    """The characters that differ; none overlap."""
    values: tuple[Edit, ...]
    """The whole number, time or line of each, none twice."""
    groups: tuple[Group, ...]
    """The stretches of tokens."""


def cured_places(a: Side, b: Side, diff: TokenDiff, finding: Finding) -> CuredPlaces:
    """Every stretch of a cause; of TEXT only the first, and that only where as much as it is long agrees behind it.

    Behind the stretches that are judged, those count in which the same characters were exchanged, up to the first
    other one: what lies behind that cannot join the common prefix.
    """
    groups = list(groups_of(a, b, diff))
    looked = groups[:LOOKED_AT]
    if finding.cause is Cause.TEXT:
        # Else the two are other prompts, and not one that was changed.
        looked = [group for group in looked[:1] if group.agreed >= group.a.size]
        groups = looked
    places = places_of(a, b, looked)
    key = finding.cause, finding.subject
    own = [place for place in places if _only(places, place, key)]
    edits = [place.edit for place in own]
    chosen = sorted({place.group for place in own})
    further = list(_further(groups[len(looked) :], edits))
    return CuredPlaces(
        edits=tuple(_apart([*edits, *(edit for _, more in further for edit in more)])),
        values=tuple(_apart([place.named.edit for place in own])),
        groups=(*(groups[number] for number in chosen), *(group for group, _ in further)),
    )


def _only(places: Sequence[Place], place: Place, key: Key) -> bool:
    return place.key == key and all(o.key == key for o in places if o.group == place.group and o.edit == place.edit)


def _further(groups: Sequence[Group], edits: Sequence[Edit]) -> Iterator[tuple[Group, list[Edit]]]:
    known = {(edit.a.found, edit.b.found) for edit in edits}
    for group in groups:
        whole = Edit(group.in_a, group.in_b).trimmed()
        parts = [whole]
        if (whole.a.found, whole.b.found) not in known:
            parts = list(edits_between(group.in_a, group.in_b))
        if not parts or not all((part.a.found, part.b.found) in known for part in parts):
            return
        yield group, parts


def _apart(edits: Sequence[Edit]) -> Iterator[Edit]:
    """Those that change the text, in order, without any that overlaps the one before."""
    end_a = end_b = 0
    for edit in sorted(edits, key=lambda edit: (edit.b.start, edit.b.stop, edit.a.start)):
        if edit.a.found != edit.b.found and edit.a.start >= end_a and edit.b.start >= end_b:
            yield edit
            end_a, end_b = edit.a.stop, edit.b.stop
