"""Why each lookup of a run ended as it did: the verdict, and the chain of facts behind it in sentences."""

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from shadowviz.replay import sentences
from shadowviz.replay.meanings import RECORD_ENDS_EARLY, Past
from shadowviz.replay.nearest import Parting, Words, nearest_parting
from shadowviz.replay.rival import holders
from shadowviz.replay.sentences import Fact
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    CacheFlushed,
    Event,
    LookupDone,
    NotStored,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    SwaFreed,
)
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.verdict import Finding, Verdict, findings


class Explanation(msgspec.Struct, frozen=True):
    """A lookup, its verdict with every other rule that cost something, and the facts behind it."""

    request: str
    lookup: LookupDone
    findings: tuple[Finding, ...]
    """The verdict first."""
    parting: Parting | None
    facts: tuple[Fact, ...]
    swa_reason: str = ""
    """Why the window rows that cut the lookup are gone: pressure or retention; empty = nothing was cut, or unknown."""
    rival: str = ""
    """Request whose tokens the verdict is about, else the one that had the nearest; empty = nobody had any."""

    @property
    def verdict(self) -> Finding:
        """The leading finding."""
        return self.findings[0]

    @property
    def lost(self) -> int:
        """Tokens that lifting the leading rule alone would have saved; 0 when nothing is worth naming."""
        return self.verdict.gain if self.verdict.material else 0


class Explainer:
    """Reads events in order and explains every lookup with the state that it met.

    With a `state` and what came before it, `explain_found` explains a lookup there without the events being fed.
    """

    def __init__(self, words: Words, state: Replayer | None = None, past: Past | None = None) -> None:
        self.state = Replayer() if state is None else state
        """State after the events fed so far."""
        self._words = words
        self._causes: dict[int, Event] = {}
        self._inserted: dict[int, str] = {}
        self._storers: dict[int, str] = {}
        self._past = Past(self._causes, self._inserted, self._storers) if past is None else past

    @property
    def departures(self) -> Iterable[Event]:
        """Events so far that took state out of the cache or kept it out, in order."""
        return self._causes.values()

    def feed(self, event: Event) -> Explanation | None:
        """Take the next event; an explanation when it is a lookup.

        Raises:
            LogError: the event contradicts those before it.
        """
        explanation = self.explain_found(event) if isinstance(event, LookupDone) else None
        self.follow(event)
        return explanation

    def follow(self, event: Event) -> None:
        """Take the next event without a word about it: for lookups that nobody asks about.

        Raises:
            LogError: the event contradicts those before it.
        """
        if isinstance(event, (SwaFreed, SpanEvicted, NotStored, CacheFlushed)):
            self._causes[event.seq] = event
        elif isinstance(event, SpanInserted):
            self._inserted[event.seq] = self._storers[event.node] = event.request
        elif isinstance(event, SpanSplit) and event.node in self._storers:
            self._storers[event.upper] = self._storers[event.node]
        self.state.apply(event)

    def explain(self, lookup: LookupDone, prompt: "array[int]", lost: str = "") -> Explanation:
        """Explain the lookup that `prompt` would get in the state as it is now.

        Args:
            lost: what the record lacks at its end, where it does: COLD cannot be proved then.

        Raises:
            LogError: no log was opened, or the lookup names a node that is not there.
        """
        return self._explain(lookup, prompt, sentences.prospect(lookup), lost)

    def _explain(self, lookup: LookupDone, prompt: "array[int]", outcome: Fact, lost: str = "") -> Explanation:
        opened = self.state.opened
        if opened is None:
            raise LogError(f"lookup at seq {lookup.seq} comes before LogOpened: the beginning of the log is missing")
        parting = nearest_parting(self.state, lookup, prompt, self._words)
        ranked = findings(lookup, opened.geometry, parting.rule if parting else None)
        if lost and ranked[0].verdict is Verdict.COLD:
            ranked = (Finding(Verdict.UNKNOWN, "", RECORD_ENDS_EARLY), *ranked[1:])
        had = holders(self.state, lookup, prompt, self._past, parting)
        facts = (
            *sentences.common_facts(lookup, had.stored),
            *sentences.cut_facts(opened, lookup),
            *sentences.elsewhere_facts(lookup, self._past, had),
            *self._parting_facts(parting),
            outcome,
            *(
                sentences.finding_fact(finding, lookup, self._past, parting, leads=place == 0)
                for place, finding in enumerate(ranked)
            ),
        )
        if lost:
            facts = (Fact(f"The record is not whole: {lost}.", Origin.OBSERVED), *facts)
        rival = had.rival(ranked[0].verdict, lookup.request)
        return Explanation(lookup.request, lookup, ranked, parting, facts, self._past.swa_reason(lookup), rival)

    def explain_found(self, lookup: LookupDone) -> Explanation:
        """Explain a recorded lookup in the state as it is now, which must be the one just before it.

        Raises:
            LogError: its request was never submitted, or it names a node that is not there.
        """
        row = self.state.requests.index.get(lookup.request)
        if row is None:
            raise LogError(f"lookup at seq {lookup.seq} is of request {lookup.request!r}, which was never submitted")
        return self._explain(lookup, self.state.request_tokens(row), sentences.outcome(lookup))

    def _parting_facts(self, parting: Parting | None) -> Iterator[Fact]:
        if parting is not None:
            yield from sentences.parting_facts(parting, self._words, self._storer(parting))

    def _storer(self, parting: Parting) -> str:
        """Who stored the first token that differs, and whether it was sent to the model or came from it."""
        storer = self._past.storers.get(parting.node, "")
        row = self.state.requests.index.get(storer)
        if row is None:
            return storer
        return storer if parting.rule.token < self.state.requests.num_prompt[row] else f"{storer} as its output"


def explain_events(events: Iterable[Event], words: Words) -> Iterator[Explanation]:
    """Every lookup of a run, explained, in order.

    Raises:
        LogError: the events contradict each other.
    """
    explainer = Explainer(words)
    for event in events:
        explanation = explainer.feed(event)
        if explanation is not None:
            yield explanation
