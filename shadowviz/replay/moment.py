"""A run at one event: the state after it, and the lookups up to it that somebody asks about."""

from collections.abc import Callable, Iterable

import msgspec

from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.nearest import Words
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LogClosed, LookupDone
from shadowviz_engine.core.replayer import Replayer

Wanted = Callable[[LookupDone], bool]


class Moment(msgspec.Struct, frozen=True):
    """State of a run after one of its events; reading on does not change it."""

    explainer: Explainer
    """Has seen the events up to this moment: explains what else might be asked of the state."""
    last_seq: int
    """Newest event of the run, which may be later than this moment."""
    explanations: tuple[Explanation, ...]
    """Of the wanted lookups up to this moment, in order."""

    @property
    def state(self) -> Replayer:
        """Tree, requests and slots."""
        return self.explainer.state

    @property
    def seq(self) -> int:
        """Event after which this is; -1 = before the first."""
        return self.state.seq


def everything(_lookup: LookupDone) -> bool:
    """Wants each lookup explained."""
    return True


def nothing(_lookup: LookupDone) -> bool:
    """Wants no lookup explained; replaying is faster then."""
    return False


def of_request(request: str) -> Wanted:
    """Wants the lookups of one request explained."""
    return lambda lookup: lookup.request == request


def moment_at(events: Iterable[Event], words: Words, at: int | None = None, wanted: Wanted = everything) -> Moment:
    """The run after event `at`, or after its last one; reads all events, so that the newest is known.

    A record that was closed names the digest of the engine's own state; at its end the replayed one must have it.

    Raises:
        LogError: the events contradict each other, or the digests differ.
        InputError: the run has no event `at`.
    """
    if at is not None and at < -1:
        raise InputError(f"event {at} is before the first: expected 0 or later, or -1 for before all")
    explainer, explanations, rest = Explainer(words), list[Explanation](), iter(events)
    last = -1
    if at != last:
        for event in rest:
            last = event.seq
            if type(event) is LookupDone and wanted(event):
                explanation = explainer.feed(event)
                assert explanation is not None, "a lookup is always explained"
                explanations.append(explanation)
            else:
                explainer.follow(event)
                if type(event) is LogClosed:
                    explainer.state.check_closed(event)
            if last == at:
                break
    for event in rest:
        last = event.seq
    if at is not None and at > last:
        raise InputError(f"the run has no event {at}: expected one up to {last}, its last")
    return Moment(explainer, last, tuple(explanations))


def lookup_of(events: Iterable[Event], request: str) -> LookupDone:
    """The first lookup of a request: what it finds later, after it gave its room up, is its own.

    Raises:
        InputError: it has none.
    """
    for event in events:
        if type(event) is LookupDone and event.request == request:
            return event
    raise InputError(f"the run has no lookup of request {request!r}: expected one that was looked up")
