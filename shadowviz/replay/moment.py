"""A run at one event: the state after it, and the lookups up to it that somebody asks about."""

import contextlib
import gc
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec

from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.nearest import Words
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LogClosed, LookupDone
from shadowviz_engine.core.log_lean import LeanEvent
from shadowviz_engine.core.replay_lean import LeanReplay
from shadowviz_engine.core.replayer import Replayer

Wanted = Callable[[LookupDone], bool]
Take = Callable[[Iterable[Event]], Event | None]
"""Takes events and gives the last one."""
Batch: TypeAlias = Sequence[LeanEvent | Event]
"""Events that follow each other, as many as were read at once."""

MOST_COMPARED = 100_000
"""Nodes up to which a tree is compared with the digest of the engine's own, which takes microseconds a node."""


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


def tree_at(batches: Iterable[Batch], at: int | None = None) -> Moment:
    """The run after event `at`, or after its last one, as far as a picture shows it; faster than `state_at`.

    Tree, tokens and slots are those of `state_at`; how far requests have come is left out. What is not checked of the
    events is said where they are applied, by `LeanReplay`; a tree of more than `MOST_COMPARED` nodes is not compared
    with the digest of the engine's own.

    Raises:
        LogError: the events contradict each other, or the digest of the engine's own state, where it closed the log.
        InputError: the run has no event `at`.
    """
    way = _Way(batches)
    moment = way.moment_at(at)
    return msgspec.structs.replace(moment, last_seq=way.end(at))


def trees_at(batches: Iterable[Batch], first: int | None, second: int | None) -> tuple[Moment, Moment]:
    """The run after two of its events, in any order, read once; see `tree_at`.

    Raises:
        LogError, InputError: as `tree_at` does.
    """
    way = _Way(batches)
    earlier, later = sorted((first, second), key=lambda at: math.inf if at is None else at)
    moments = {earlier: way.moment_at(earlier)}
    if later != earlier:
        moments[earlier] = msgspec.structs.replace(moments[earlier], state=moments[earlier].state.copied())
        moments[later] = way.moment_at(later)
    last = way.end(later)
    _check_there(earlier, last)
    found = (msgspec.structs.replace(moments[at], last_seq=last) for at in (first, second))
    return next(found), next(found)


class _Way:
    """The way through the events of a run, from its beginning to its end."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._rest, self._left = iter(batches), list[LeanEvent | Event]()
        self._replay = LeanReplay(Replayer())
        self._newest: LeanEvent | Event | None = None

    def moment_at(self, at: int | None) -> Moment:
        """Go on to event `at`, which no earlier call has passed, or to the last one."""
        _check_not_before_all(at)
        replay = self._replay
        with _without_collecting():
            for batch in chain((self._left,), self._rest):
                self._left = []
                if batch:
                    self._newest = batch[-1]
                if at is not None and self._newest is not None and self._newest.seq >= at:
                    here = [event for event in batch if event.seq <= at]
                    self._left = list(batch[len(here) :])
                    replay.apply(here)
                    break
                replay.apply(batch)
            replay.settle()
        state = replay.state
        if isinstance(self._newest, LogClosed) and self._newest.seq == state.seq and len(state.nodes) <= MOST_COMPARED:
            state.check_closed(self._newest)
        return Moment(state, state.seq)

    def end(self, at: int | None) -> int:
        """Read the rest; the seq of the last event, which is not before `at`."""
        for batch in self._rest:
            if batch:
                self._newest = batch[-1]
        last = -1 if self._newest is None else self._newest.seq
        _check_there(at, last)
        return last


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Nothing is searched for cycles meanwhile: events have none, and there are millions of them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _take_until(events: Iterable[Event], at: int | None, state: Replayer, take: Take) -> int:
    """Take the events up to `at`, read the others, and give the seq of the last one."""
    _check_not_before_all(at)
    last, rest = -1, iter(events)
    if at != last:
        event = take(rest if at is None else _up_to(rest, at))
        if type(event) is LogClosed:
            state.check_closed(event)
        last = last if event is None else event.seq
    for event in rest:
        last = event.seq
    _check_there(at, last)
    return last


def _check_not_before_all(at: int | None) -> None:
    if at is not None and at < -1:
        raise InputError(f"event {at} is before the first: expected 0 or later, or -1 for before all")


def _check_there(at: int | None, last: int) -> None:
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
