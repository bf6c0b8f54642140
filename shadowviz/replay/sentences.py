"""The facts behind a verdict, each as one plain sentence with how it is known."""

from collections.abc import Iterator
from unicodedata import normalize

import msgspec

from shadowviz.replay.counts import tokens, tokens_that
from shadowviz.replay.meanings import Past, departure, meaning
from shadowviz.replay.nearest import Parting, Words
from shadowviz.replay.rival import Holders
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.events import LogOpened, LookupDone, NotStored
from shadowviz_engine.core.verdict import Finding, Verdict

MAX_SHOWN = 60
"""Characters of a differing stretch that a sentence quotes."""

MAX_IDS = 8
"""Ids of a differing stretch that a sentence lists."""


class Fact(msgspec.Struct, frozen=True):
    """One sentence, and how what it says is known."""

    text: str
    origin: Origin


def common_facts(lookup: LookupDone, storer: str) -> Iterator[Fact]:
    """What the tree holds of the prompt."""
    asked = f"{tokens(lookup.num_prompt)} asked"
    if not lookup.cache_on:
        yield Fact(f"{asked}; the cache is off, so nothing was looked for.", Origin.OBSERVED)
    elif not lookup.common:
        yield Fact(f"{asked}; no stored path begins with the same token.", Origin.OBSERVED)
    else:
        by = f", stored by {storer}" if storer else ""
        which = "all of them are" if lookup.common == lookup.num_prompt else f"the first {lookup.common:,} are"
        if lookup.common == 1:
            which = "it is" if lookup.num_prompt == 1 else "the first is"
        yield Fact(f"{asked}; {which} equal to a stored path (node n{lookup.node}{by}).", Origin.OBSERVED)


def cut_facts(opened: LogOpened, lookup: LookupDone) -> Iterator[Fact]:
    """How cap, unit and state kinds cut down what is common."""
    if lookup.cap < lookup.common:
        yield Fact(f"At most {lookup.cap:,} may be reused ({lookup.cap_rule}).", Origin.OBSERVED)
    limit = min(lookup.common, lookup.cap)
    if lookup.unit > 1 and limit:
        yield Fact(
            f"A reused length is a multiple of {lookup.unit:,} ({opened.resume} rule): {lookup.matched:,} of "
            f"{tokens(limit)}.",
            Origin.DERIVED,
        )
    for kind in lookup.kinds:
        yield Fact(
            f"State kind {kind.kind} is resident for a length of {kind.length:,} at most, not for {lookup.matched:,}.",
            Origin.OBSERVED,
        )
    if lookup.matched and not lookup.kinds:
        yield Fact(f"Every state kind is resident for {lookup.matched:,} tokens.", Origin.OBSERVED)


def elsewhere_facts(lookup: LookupDone, past: Past, had: Holders) -> Iterator[Fact]:
    """Equal tokens that the lookup could not use."""
    if lookup.namespace is not None:
        name = lookup.namespace.namespace or "(the empty one)"
        by = f" by {had.elsewhere}" if had.elsewhere else ""
        text = f"{tokens_that(lookup.namespace.common, 'is', 'are')} stored{by} under namespace {name}, which this "
        text += "request may not use."
        yield Fact(text, Origin.OBSERVED)
    if lookup.in_flight is not None:
        computed = f"{tokens_that(lookup.in_flight.common, 'was', 'were')} being computed"
        yield Fact(f"{computed} by {lookup.in_flight.request} at that moment.", Origin.OBSERVED)
    if lookup.left is not None:
        # How a request failed to store what it computed names that request.
        by = "" if isinstance(past.causes.get(lookup.left.event), NotStored) else had.gone
        gone = f"{tokens(lookup.left.length)} of it{f', stored by {by},' if by else ''}"
        verb = "is" if lookup.left.length == 1 else "are"
        yield Fact(f"{gone} {verb} remembered as gone: {departure(lookup, past)}.", Origin.OBSERVED)
    if lookup.ghost_overflowed:
        text = "The memory of what left the cache has overflowed: that nothing is remembered proves nothing."
        yield Fact(text, Origin.OBSERVED)


def parting_facts(parting: Parting, words: Words, storer: str) -> Iterator[Fact]:
    """Where the prompt parts from the nearest stored path."""
    by = f", stored by {storer}" if storer else ""
    where = f"At token {parting.rule.token:,} it parts from a stored path (node n{parting.node}{by})"
    yield Fact(f"{where}: {_difference(words, parting)}.", Origin.OBSERVED)
    if not words.readable:
        text = "Its ids cannot be read, redacted or of another vocabulary: why they differ is not known."
        yield Fact(text, Origin.OBSERVED)
    if not parting.agreed:
        yield Fact("Behind that they do not agree again.", Origin.DERIVED)
        return
    if parting.num_stretches > 1:
        text = f"{parting.num_stretches:,} stretches differ in the same way ({parting.rule.cause}); the text between"
        yield Fact(f"{text} them agrees.", Origin.DERIVED)
    else:
        yield Fact(f"Behind that, {tokens_that(parting.agreed, 'agrees', 'agree')} again.", Origin.DERIVED)


def outcome(lookup: LookupDone) -> Fact:
    """What was reused and what had to be run."""
    reused = tokens_that(lookup.reused, "was", "were")
    return Fact(f"{reused} reused, {lookup.num_prompt - lookup.reused:,} had to be computed.", Origin.OBSERVED)


def prospect(lookup: LookupDone) -> Fact:
    """What would be reused and what would have to be run, of a prompt that was not sent."""
    computed = lookup.num_prompt - lookup.reused
    return Fact(f"{tokens(lookup.reused)} would be reused, {computed:,} would have to be computed.", Origin.DERIVED)


def finding_fact(finding: Finding, lookup: LookupDone, past: Past, parting: Parting | None, *, leads: bool) -> Fact:
    """One rule and its price."""
    head = "Verdict" if leads else "Behind it"
    origin = Origin.ASSUMED if finding.verdict in _ASSUMED else Origin.DERIVED
    return Fact(f"{head}: {finding.label}. {meaning(finding, lookup, past, parting)}", origin)


_ASSUMED = (Verdict.IN_FLIGHT, Verdict.NOT_STORED, Verdict.EVICTED, Verdict.OTHER_NAMESPACE, Verdict.UNKNOWN)
"""Their gain supposes that state would have been there which no event shows."""


def _difference(words: Words, parting: Parting) -> str:
    stored, prompt = _told_apart(words, parting)
    if not parting.prompt:
        return f"stored is {stored}, which the prompt lacks"
    if not parting.stored:
        return f"the prompt has {prompt}, which is not stored there"
    return f"stored {stored}, prompt {prompt}"


def _told_apart(words: Words, parting: Parting) -> tuple[str, str]:
    """Both stretches as they show that they differ: text, else code points, else ids."""
    if not words.readable:
        return _numbers(parting.stored), _numbers(parting.prompt)
    stored, prompt = (words.text(ids) if ids else "" for ids in (parting.stored, parting.prompt))
    if stored == prompt:
        return _numbers(parting.stored), f"{_numbers(parting.prompt)} (the same text)"
    if normalize("NFKC", stored) == normalize("NFKC", prompt):
        stored, prompt = (text.encode("ascii", "backslashreplace").decode() for text in (stored, prompt))
    return _quoted(stored), _quoted(prompt)


def _numbers(ids: tuple[int, ...]) -> str:
    if not ids:
        return "nothing"
    shown = ", ".join(map(str, ids[:MAX_IDS]))
    return f"ids [{shown}, …]" if len(ids) > MAX_IDS else f"ids [{shown}]"


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    return f"'{text}'" if len(text) <= MAX_SHOWN else f"'{text[:MAX_SHOWN]}…'"
