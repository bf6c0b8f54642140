"""What mending a cause gives, measured: the cure is applied, the prompt encoded again, the common prefix counted."""

from dataclasses import dataclass, replace
from typing import Final

from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.inert import inert
from shadowviz.tokens.report.cure_ids import common_spliced, common_with_ids_kept, stretches_of_ids
from shadowviz.tokens.report.cure_places import CuredPlaces, cured_places
from shadowviz.tokens.report.cure_text import common_when_moved, common_without_lines, readable_text, with_edits
from shadowviz.tokens.side import Side
from shadowviz.tokens.structure.mended import common_with

LIMIT: Final = 2**23
"""Bytes of text in common from which on nothing is encoded again: more than a million tokens, about two seconds."""

VALUES: Final = frozenset({Cause.TIME, Cause.UUID, Cause.COUNTER})
"""Causes that are new with every request, so that their place is to change and not what they say."""


@dataclass(frozen=True, slots=True)
class Cure:
    """What was done about one cause, and what came of it."""

    done: str
    """One printable line: `B encoded again with 3 stretches as in A`."""
    common: int
    """Common prefix in tokens behind it; never less than before."""
    moved: int | None = None
    """Common prefix of the two prompts with a value that changes at their ends; None where it does not apply, or
    would take too long to measure."""


def prove(a: Side, b: Side, diff: TokenDiff, finding: Finding) -> Cure | None:
    """The cure of the leading cause, applied and measured; None where that cannot be done.

    B is encoded again with A's text in the stretches of this cause; where ids differ and text does not, A's ids are
    put there. A value that changes is also moved to the end of both prompts. What a cause of the structure gains was
    measured when it was found.
    """
    if finding.measured:
        return Cure("rendered and encoded again with this change undone", diff.common + finding.gain)
    if finding.cause is Cause.UNKNOWN:
        return None
    cure = _applied(a, b, diff, finding)
    return cure if cure and cure.common >= diff.common else None


def _applied(a: Side, b: Side, diff: TokenDiff, finding: Finding) -> Cure | None:
    in_a, in_b = inert(a.name), inert(b.name)
    if finding.cause is Cause.TOKENIZER_VERSION:
        # Ids of two vocabularies that are the same number say nothing about the text, so none are kept.
        common = common_with(a, replace(b, encoder=a.encoder), b.text, 0, LIMIT) if readable_text(b) else None
        return None if common is None else Cure(f"{in_b} encoded again by the tokenizer of {in_a}", common)
    if finding.cause is Cause.MERGE_ACROSS_BOUNDARY:
        kept = common_with_ids_kept(a, b)
        short, long = (in_a, in_b) if len(a.raw) <= len(b.raw) else (in_b, in_a)
        return None if kept is None else Cure(f"{long} sent as the ids of {short}, with the rest encoded behind", kept)
    places = cured_places(a, b, diff, finding)
    if finding.cause is Cause.ATTRIBUTION_HEADER and readable_text(a, b):
        common = common_without_lines(a, b, places.edits)
        if common is not None and common >= diff.common:
            return Cure("both encoded again without the line", common)
    return _as_stored(a, b, diff, finding, places)


def _as_stored(a: Side, b: Side, diff: TokenDiff, finding: Finding, places: CuredPlaces) -> Cure | None:
    in_a, in_b = inert(a.name), inert(b.name)
    if places.edits and readable_text(a, b):
        common = common_with(a, b, with_edits(b.text, places.edits), diff.common, LIMIT)
        if common is None:
            return None
        if common >= diff.common:
            moved = common_when_moved(a, b, places.values) if finding.cause in VALUES else None
            done = f"{in_b} encoded again with {_stretches(len(places.edits))} as in {in_a}"
            return Cure(done, common, moved)
    # Ids that were generated encode otherwise: what was stored is then put there as it is.
    pieces = stretches_of_ids(a, b, finding, places)
    if not pieces:
        return None
    return Cure(f"ids of {in_a} put into {in_b} in {_stretches(len(pieces))}", common_spliced(a, b, pieces))


def _stretches(count: int) -> str:
    return "1 stretch" if count == 1 else f"{count:,} stretches"
