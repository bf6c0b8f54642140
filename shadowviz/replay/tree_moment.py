"""The tree of a run at an event, for pictures: of a large record, as fast as it can be read for that alone."""

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

import msgspec

from shadowviz.replay.bulk.state import TreeState
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz.replay.bulk.way import LogWay
from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.log_past import log_past
from shadowviz.replay.moment import Moment, check_not_before_all, check_there, moment_at, of_request, state_at
from shadowviz.replay.nearest import Words
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LookupDone
from shadowviz_engine.core.log_reader import LogReader

LARGE_BYTES = 32 * 1024 * 1024
"""Bytes of a record from which on it is read in bulk."""


class Run(Protocol):
    """A run that can be read from its first event, as often as is needed."""

    def events(self) -> Iterable[Event]:
        """Every event."""

    @property
    def log(self) -> LogReader | None:
        """The record, if it is one."""

    def tell_progress(self, num_events: int) -> None:
        """So many events of the record were read."""


def tree_at(run: Run, at: int | None = None) -> Moment:
    """The run after event `at`, or after its last one, as far as a picture of its tree shows it.

    Of a large record, events are checked as far as `LogWay` does it, and the engine's own digest is not looked at.

    Raises:
        LogError: the events contradict each other, or the digest of the engine's own state, where it closed the log.
        InputError: the run has no event `at`.
    """
    check_not_before_all(at)
    log = _large_log(run)
    if log is not None:
        with suppress(*_UNTOLD), LogWay(log, told=run.tell_progress) as way:
            state = way.until(at)
            return Moment(state, _last_seq(way, at))
    return state_at(run.events(), at)


def request_tree_at(run: Run, words: Words, request: str, at: int | None = None) -> Moment:
    """As `tree_at`, with the first lookup of a request explained if it is not behind that event.

    Raises:
        LogError, InputError: as `tree_at` does.
    """
    check_not_before_all(at)
    log = _large_log(run)
    if log is not None:
        with suppress(*_UNTOLD), LogWay(log, request, run.tell_progress) as way:
            seq = way.until_lookup(at)
            explanations = () if seq is None else (_explained(log, way.until(seq - 1), words, seq),)
            state = way.until(at)
            return Moment(state, _last_seq(way, at), explanations)
    moment = moment_at(run.events(), words, at, of_request(request))
    return msgspec.structs.replace(moment, explanations=moment.explanations[:1])


def trees_at(run: Run, first: int | None, second: int | None) -> tuple[Moment, Moment]:
    """The run after two of its events, in any order; of a large record, read once. See `tree_at`.

    Raises:
        LogError, InputError: as `tree_at` does.
    """
    earlier, later = sorted((first, second), key=lambda at: math.inf if at is None else at)
    check_not_before_all(earlier)
    log = _large_log(run)
    if log is not None:
        with suppress(*_UNTOLD), LogWay(log, told=run.tell_progress) as way:
            before = way.until(earlier).copied()
            after = way.until(later)
            last = _last_seq(way, later)
            check_there(earlier, last)
            states = (before, after) if first == earlier else (after, before)
            return Moment(states[0], last), Moment(states[1], last)
    return state_at(run.events(), first), state_at(run.events(), second)


# What goes wrong in bulk is told by reading the events one by one.
_UNTOLD = (Unsound, LogError)


def _large_log(run: Run) -> LogReader | None:
    log = run.log
    try:
        return log if log is not None and log.path.stat().st_size >= LARGE_BYTES else None
    except OSError:
        return None


def _last_seq(way: LogWay, at: int | None) -> int:
    last = way.last_seq()
    check_there(at, last)
    return last


def _explained(log: LogReader, state: TreeState, words: Words, seq: int) -> Explanation:
    lookup = log.event_at(seq)
    assert isinstance(lookup, LookupDone), "it was found by its type"
    return Explainer(words, state, log_past(log, state)).explain_found(lookup)
