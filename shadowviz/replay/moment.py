"""A run at one event: the state after it, and the lookups up to it that somebody asks about."""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.nearest import Words
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LogClosed, LookupDone
from shadowviz_engine.core.replayer import Replayer

Wanted = Callable[[LookupDone], bool]
Take = Callable[[Iterable[Event]], Event | None]
"""Takes events and gives the last one."""


class Moment(msgspec.Struct, frozen=True):
    """State of a run after one of its events."""

    state: Replayer
    """Tree, requests and slots."""
    last_seq: int
    """Newest event of the run, which may be later than this moment."""
    explanations: tuple[Explanation, ...] = ()
    """Of the wanted lookups up to this moment, in order."""

    @property
    def seq(self) -> int:
        """Event after which this is; -1 = before the first."""
        return self.state.seq


def everything(_lookup: LookupDone) -> bool:
    """Wants each lookup explained."""
    return True


def of_request(request: str) -> Wanted:
    """Wants the lookups of one request explained."""
    return lambda lookup: lookup.request == request


def moment_at(events: Iterable[Event], words: Words, at: int | None = None, wanted: Wanted = everything) -> Moment:
    """The run after event `at`, or after its last one, with the wanted lookups explained.

    All events are read, so that the newest is known.

    Raises:
        LogError: the events contradict each other, or the digest of the engine's own state, where it closed the log.
        InputError: the run has no event `at`.
    """
    explainer, explanations = Explainer(words), list[Explanation]()

    def take(events: Iterable[Event]) -> Event | None:
        event = None
        for event in events:
            if type(event) is LookupDone and wanted(event):
                explanation = explainer.feed(event)
                assert explanation is not None, "a lookup is always explained"
                explanations.append(explanation)
            else:
                explainer.follow(event)
        return event

    last = _take_until(events, at, explainer.state, take)
    return Moment(explainer.state, last, tuple(explanations))


def state_at(events: Iterable[Event], at: int | None = None) -> Moment:
    """The run after event `at`, or after its last one, without a word about lookups; faster by what those cost.

    Raises:
        LogError: the events contradict each other, or the digest of the engine's own state, where it closed the log.
        InputError: the run has no event `at`.
    """
    state = Replayer()
    return Moment(state, _take_until(events, at, state, state.advance))


def _take_until(events: Iterable[Event], at: int | None, state: Replayer, take: Take) -> int:
    """Take the events up to `at`, read the others, and give the seq of the last one."""
    check_not_before_all(at)
    last, rest = -1, iter(events)
    if at != last:
        event = take(rest if at is None else _up_to(rest, at))
        if type(event) is LogClosed:
            state.check_closed(event)
        last = last if event is None else event.seq
    for event in rest:
        last = event.seq
    check_there(at, last)
    return last


def check_not_before_all(at: int | None) -> None:
    """Refuse a moment that no run has.

    Raises:
        InputError: `at` is not even before the first event.
    """
    if at is not None and at < -1:
        raise InputError(f"event {at} is before the first: expected 0 or later, or -1 for before all")


def check_there(at: int | None, last: int) -> None:
    """Refuse a moment that this run does not have.

    Raises:
        InputError: `at` is behind the event `last`.
    """
    if at is not None and at > last:
        raise InputError(f"the run has no event {at}: expected one up to {last}, its last")


def _up_to(events: Iterator[Event], at: int) -> Iterator[Event]:
    for event in events:
        yield event
        if event.seq == at:
            return


def lookup_of(events: Iterable[Event], request: str) -> LookupDone:
    """The first lookup of a request: what it finds later, after it gave its room up, is its own.

    Raises:
        InputError: it has none.
    """
    for event in events:
        if type(event) is LookupDone and event.request == request:
            return event
    raise InputError(f"the run has no lookup of request {request!r}: expected one that was looked up")
