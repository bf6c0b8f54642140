"""What the structure of two conversations says, put in the place of what their text says."""

from collections.abc import Sequence
from typing import Final

from shadowviz.tokens.causes.groups import Group
from shadowviz.tokens.causes.places import Place
from shadowviz.tokens.finding import Cause, Finding
from shadowviz_engine.core.spans import Extent

_GENERAL: Final = frozenset({Cause.TEXT, Cause.MERGE_ACROSS_BOUNDARY})
"""Causes in the text that say less than that a message was edited."""


def merged(
    groups: Sequence[Group], places: Sequence[Place], structural: Sequence[Finding]
) -> tuple[list[Place], list[tuple[int, Finding]], dict[int, Finding]]:
    """What is kept of the text's causes and of the structure's, so that no change is named twice.

    Returns:
        the places that stay; the structural findings that stay, each with the index of its first stretch; and by index
        the stretches that one of these explains.
    """
    left = list(places)
    kept: list[tuple[int, Finding]] = []
    explained: dict[int, Finding] = {}
    for finding in structural:
        touched = [number for number, group in enumerate(groups) if _in(group, finding)]
        inside = [number for number in touched if number not in explained]
        if not touched or (not inside and _says_little(finding)):
            continue
        here = [place for place in left if place.group in inside]
        if _says_little(finding):
            if here and here[0].named.cause not in _GENERAL:
                continue
            here = [place for place in here if place.named.cause in _GENERAL]
            inside = [number for number in inside if all(p in here for p in left if p.group == number)]
        kept.append((touched[0], finding))
        explained |= dict.fromkeys(inside, finding)
        left = [place for place in left if place not in here]
    return left, kept, explained


def _says_little(finding: Finding) -> bool:
    """Whether it only says that a text is another one, which the text itself can say better."""
    return (
        finding.cause is Cause.HISTORY_EDITED
        or (finding.cause is Cause.SYSTEM_GREW and finding.subject != "tools")
        or (finding.cause is Cause.TEMPLATE and not finding.subject)
    )


def _in(group: Group, finding: Finding) -> bool:
    return _touches(group.a, finding.a) and _touches(group.b, finding.b)


def _touches(one: Extent, other: Extent) -> bool:
    if one and other:
        return one.start < other.stop and other.start < one.stop
    return other.start <= one.start <= one.stop <= other.stop or one.start <= other.start <= other.stop <= one.stop
