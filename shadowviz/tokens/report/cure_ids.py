"""Cures of what only the ids show: those that were stored, sent again."""

from array import array
from collections.abc import Sequence

import numpy as np

from shadowviz.tokens.align.runs import common_prefix
from shadowviz.tokens.causes.groups import Group
from shadowviz.tokens.finding import Finding
from shadowviz.tokens.report.cure_places import CuredPlaces
from shadowviz.tokens.side import Side


def stretches_of_ids(a: Side, b: Side, finding: Finding, places: CuredPlaces) -> Sequence[Group]:
    """Where A's ids can stand in B's place; nowhere for two vocabularies, or behind what the cause does not explain."""
    if a.encoder.fingerprint != b.encoder.fingerprint or not places.groups:
        return ()
    return places.groups if places.groups[0].b.start <= finding.b.start else ()


def common_spliced(a: Side, b: Side, groups: Sequence[Group]) -> int:
    """Tokens in common with A when B has A's ids in some stretches."""
    ids, end = array("q"), 0
    for group in groups:
        ids += b.ids[end : group.b.start]
        ids += a.ids[group.a.start : group.a.stop]
        end = group.b.stop
    ids += b.ids[end:]
    return _common(a.ids, ids)


def common_with_ids_kept(a: Side, b: Side) -> int | None:
    """Tokens in common when the longer prompt is the ids of the shorter and the rest encoded behind them.

    None where it does not begin with the shorter one's text, or a character would be cut.
    """
    short, long = (a, b) if len(a.raw) <= len(b.raw) else (b, a)
    rest = long.raw[len(short.raw) :]
    if not long.raw.startswith(short.raw) or (rest and rest[0] & 0xC0 == 0x80):
        return None
    if a.encoder.fingerprint != b.encoder.fingerprint:
        return None
    head = rest[: len(short.raw) + 64].decode(errors="ignore")
    return _common(short.ids, short.ids + long.encoder.place(head).ids)


def _common(one: "array[int]", other: "array[int]") -> int:
    return common_prefix(np.frombuffer(one, np.int64), np.frombuffer(other, np.int64))
