"""The tree of a run at an event, for pictures: as fast as a log can be read for it alone."""

import contextlib
import gc
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec

from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.log_past import EventReader, log_past
from shadowviz.replay.moment import Moment, check_not_before_all, check_there
from shadowviz.replay.nearest import Words
from shadowviz_engine.core.events import Event, LogClosed, LookupDone
from shadowviz_engine.core.log_lean import LeanEvent
from shadowviz_engine.core.log_lean import LookupDone as LeanLookupDone
from shadowviz_engine.core.replay_lean import LeanReplay
from shadowviz_engine.core.replayer import Replayer

Batch: TypeAlias = Sequence[LeanEvent | Event]
"""Events that follow each other, as many as were read at once."""

MOST_COMPARED = 100_000
"""Nodes up to which a tree is compared with the digest of the engine's own, which takes microseconds a node."""

_LOOKUPS = (LookupDone, LeanLookupDone)


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


def request_tree_at(
    batches: Iterable[Batch], log: EventReader, words: Words, request: str, at: int | None = None
) -> Moment:
    """As `tree_at`, with the first lookup of a request explained if it is not behind that event.

    Args:
        log: gives whole events that `batches` has passed.

    Raises:
        LogError, InputError: as `tree_at` does.
    """
    way = _Way(batches)
    seq = way.before_lookup(request, at)
    explanations: tuple[Explanation, ...] = ()
    if seq is not None:
        lookup = log.event_at(seq)
        assert isinstance(lookup, LookupDone), "it was found by its type"
        explainer = Explainer(words, way.state, log_past(log, way.state))
        explanations = (explainer.explain_found(lookup),)
    moment = way.moment_at(at)
    return Moment(moment.state, way.end(at), explanations)


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
    check_there(earlier, last)
    found = (msgspec.structs.replace(moments[at], last_seq=last) for at in (first, second))
    return next(found), next(found)


class _Way:
    """The way through the events of a run, from its beginning to its end."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._rest, self._left = iter(batches), list[LeanEvent | Event]()
        self._replay = LeanReplay(Replayer())
        self._newest: LeanEvent | Event | None = None

    @property
    def state(self) -> Replayer:
        """The state so far; right after `moment_at` and `before_lookup`."""
        return self._replay.state

    def before_lookup(self, request: str, at: int | None) -> int | None:
        """Go on to the event before the first lookup of a request, and give its seq; to event `at` if it is behind."""
        check_not_before_all(at)
        found, passed = None, False
        with _without_collecting():
            for batch in self._rest:
                here = batch if at is None else [event for event in batch if event.seq <= at]
                places = (place for place, event in enumerate(here) if _is_lookup(event, request))
                found = next(places, None)
                passed = found is not None or len(here) < len(batch)
                self._newest = batch[-1] if batch else self._newest
                self._replay.apply(here if found is None else here[:found])
                if passed:
                    self._left = list(batch[len(here) if found is None else found :])
                    break
            self._replay.settle()
        return None if found is None else self._left[0].seq

    def moment_at(self, at: int | None) -> Moment:
        """Go on to event `at`, which no earlier call has passed, or to the last one."""
        check_not_before_all(at)
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
        check_there(at, last)
        return last


def _is_lookup(event: LeanEvent | Event, request: str) -> bool:
    return isinstance(event, _LOOKUPS) and event.request == request


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
