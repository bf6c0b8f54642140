"""What each finding says about a lookup, in a sentence or two."""

from collections.abc import Mapping

import msgspec

from shadowviz.replay.counts import tokens, tokens_that
from shadowviz.replay.nearest import Parting
from shadowviz_engine.core.events import CacheFlushed, Event, LookupDone, NotStored, SpanEvicted, SwaFreed
from shadowviz_engine.core.verdict import Finding, Verdict

RECORD_ENDS_EARLY = "the record ends early"
"""Detail of UNKNOWN where the record does not reach the end of its run."""


class Past(msgspec.Struct, frozen=True):
    """What a sentence about a lookup may have to name."""

    causes: Mapping[int, Event]
    """Events by seq that took state out of the cache, or kept it out."""
    inserted: Mapping[int, str]
    """By seq, the request of every span that was stored."""
    storers: Mapping[int, str]
    """By node, the request that stored its tokens."""

    def swa_reason(self, lookup: LookupDone) -> str:
        """Why the window rows that cut a lookup are gone: pressure or retention; empty if no event tells."""
        event = self.causes.get(lookup.swa_lost)
        if isinstance(event, SwaFreed):
            return event.reason
        # A span that was stored without all of its rows: its retention let go of the others.
        return "retention" if lookup.swa_lost in self.inserted else ""


def meaning(finding: Finding, lookup: LookupDone, past: Past, parting: Parting | None = None) -> str:
    """What a finding says about this lookup, in a sentence or two."""
    more = f"{tokens(finding.gain)} more would be reused"
    match finding.verdict:
        case Verdict.COLD:
            return _likeness(lookup, parting) or f"Nothing like it was ever stored.{_shared(lookup)}"
        case Verdict.FULL_HIT:
            return "All that is worth naming is reused."
        case Verdict.UNKNOWN if finding.detail == RECORD_ENDS_EARLY:
            like = _likeness(lookup, parting) or "Nothing like it is on record."
            return f"{like} The run went on behind the record's end."
        case Verdict.UNKNOWN:
            like = _likeness(lookup, parting) or "Nothing like it is stored."
            return f"{like} What was stored once is not remembered any more."
        case Verdict.TOKENS_DIFFER:
            return f"{more} if the differing text were as stored."
        case Verdict.TOO_SHORT if lookup.matched:
            return f"{_cut_by(lookup)}; {more} if any length would do."
        case Verdict.TOO_SHORT:
            return f"What could be reused is shorter than one unit; {more} without the rule."
        case Verdict.PAGE_ALIGNED:
            return f"{more} if a length need not be a multiple of {lookup.unit:,}."
        case Verdict.CAPPED:
            return f"{more} without the limit on what may be reused."
        case Verdict.CUT_BY_SWA:
            return f"{more} if the window rows were there{_freed(lookup, past)}."
        case Verdict.NO_STATE:
            return f"{more} if the rows of {finding.rule} were there."
        case Verdict.OTHER_NAMESPACE:
            return f"{more} if both requests had one namespace."
        case Verdict.EVICTED:
            return f"{more} if it had stayed: {departure(lookup, past)}."
        case Verdict.NOT_STORED:
            if lookup.left is None:
                return "The cache is off."
            return f"{more} if it were stored: {departure(lookup, past)}."
        case Verdict.IN_FLIGHT:
            return f"{more} if {finding.detail} had been ready."
    return f"{more} without this rule."


def _shared(lookup: LookupDone) -> str:
    return f" What is common, {tokens(lookup.common)}, is not worth naming." if lookup.common else ""


def _likeness(lookup: LookupDone, parting: Parting | None) -> str:
    """What is like the prompt and yet not worth naming; empty when nothing is."""
    if parting is not None and parting.agreed:
        again = f"{tokens_that(parting.agreed, 'agrees', 'agree')} behind the difference"
        return f"{again} at token {parting.rule.token:,}; repaired{_repaired(lookup, parting)}."
    elsewhere = [other.gain for other in (lookup.left, lookup.namespace, lookup.in_flight) if other is not None]
    if lookup.left is not None or any(elsewhere):
        return "What was like it is not worth naming."
    return ""


def _repaired(lookup: LookupDone, parting: Parting) -> str:
    if parting.longer > 0 and parting.common < lookup.unit:
        longer = f" and so {tokens(parting.longer)} longer, the prompt would have {tokens(parting.common)} in common"
        return f"{longer}, still less than one unit of {tokens(lookup.unit)}"
    if parting.common < lookup.unit:
        return f", the {tokens(parting.common)} in common are still less than one unit of {tokens(lookup.unit)}"
    if parting.rule.gain:
        return f", {tokens(parting.rule.gain)} more would be reused, too few to be worth naming"
    return ", nothing more could be reused"


def _cut_by(lookup: LookupDone) -> str:
    """Which kinds let no matched length through; tails that follow a window have no gain of their own."""
    kinds = [kind.kind for kind in lookup.kinds if kind.gain] or [kind.kind for kind in lookup.kinds]
    length = f"{tokens(lookup.matched)}, nor for a shorter multiple of {lookup.unit:,}"
    return f"The rows of {' and '.join(kinds)} are not there for {length}"


def _freed(lookup: LookupDone, past: Past) -> str:
    event = past.causes.get(lookup.swa_lost)
    if not isinstance(event, SwaFreed):
        storer = past.inserted.get(lookup.swa_lost)
        return f"; {storer} had let go of them when it stored the path in event {lookup.swa_lost}" if storer else ""
    by = f" for {event.by}" if event.by else ""
    return f"; [{event.start:,},{event.stop:,}) was freed by {event.reason}{by} in event {event.seq}"


def departure(lookup: LookupDone, past: Past) -> str:
    """How what the lookup could have had left the cache, or why it was never stored."""
    left = lookup.left
    if left is None:
        return "how is not known"
    by = f" to make room for {left.by}" if left.by else ""
    match past.causes.get(left.event):
        case SpanEvicted() as event:
            return f"evicted ({event.reason}){by} in event {event.seq}"
        case NotStored() as event:
            return f"computed by {event.request} but not stored ({event.reason.replace('_', ' ')}), event {event.seq}"
        case CacheFlushed() as event:
            return f"flushed in event {event.seq}"
    return f"{left.reason.replace('_', ' ')}{by}, event {left.event}"
