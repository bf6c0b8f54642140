"""Lean events applied to a state, many at once: its tree, tokens and slots are right again when `settle` was called.

Events mean here what they mean everywhere: nodes change by the functions of `replay_tree`. What differs is when things
are counted. Locks are summed up along paths, and the slots of a request put together run by run, at the end and not
at every event: by then nearly all of them were given back.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from shadowviz_engine.core import events as whole
from shadowviz_engine.core import log_lean as lean
from shadowviz_engine.core import replay_requests as requests
from shadowviz_engine.core import replay_tree as tree
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.event import Event
from shadowviz_engine.core.holdings import LIMIT, Runs
from shadowviz_engine.core.replay_checks import (
    check_inside,
    check_living,
    check_runs,
    contradiction,
    left_after_taking,
    not_held,
    request_row,
)
from shadowviz_engine.core.replay_state import ReplayState
from shadowviz_engine.core.replayer import Replayer

Meaning: TypeAlias = Callable[[Any], object]
Changes: TypeAlias = dict[int, list[Any]]
"""By request (row) that holds slots of a pool: how many, those it held when they were put together last, and the events
by which it took or gave some since, in order."""


class LeanReplay:
    """Applies lean or whole events to a state of which how far requests have come is not wanted.

    What concerns nodes is checked as `Replayer` does. Of the slots of requests it is checked that none gives more back
    than it took, and that they are the same ones only where some are held when `settle` is called. That a request had
    ended, and which tokens of it were computed, is not looked at.
    """

    def __init__(self, state: Replayer) -> None:
        self.state = state
        self._locks: dict[int, int] = {}
        """By node, locks on its path that the columns do not have yet."""
        self._changes: dict[str, Changes] = {
            pool: {row: [_num_tokens(runs), runs] for row, runs in held.items()} for pool, held in state.held.items()
        }
        self._meanings = _by_type(
            {
                "LogOpened": self._open,
                "RequestSubmitted": lambda event: requests.submit(state, event),
                "RequestFinished": self._finish,
                "LookupDone": _look_up(state),
                "PathLocked": _lock(state, self._locks),
                "PathUnlocked": self._unlock,
                "SpanSplit": lambda event: tree.split(state, event),
                "SpanInserted": _insert(state, self._changes["full"], self._changes["swa"]),
                "PathEnded": lambda event: tree.end_path(state, event),
                "SwaFreed": lambda event: tree.free_swa(state, event),
                "SwaPublished": self._publish,
                "SpanEvicted": self._evict,
                "SlotsTaken": _take(state, self._changes),
                "SlotsFreed": _free(state, self._changes),
            }
        )

    def apply(self, events: Iterable[lean.LeanEvent | Event]) -> None:
        """Apply the next events, which a reader found to follow each other.

        Raises:
            LogError: one contradicts the state.
        """
        meaning_of, event = self._meanings.get, None
        for event in events:
            meaning = meaning_of(type(event))
            if meaning is not None:
                meaning(event)
        if event is not None:
            self.state.seq = event.seq

    def settle(self) -> None:
        """Count what was left: tree, tokens and slots are those after the events so far.

        Raises:
            LogError: a request gave slots back that it did not hold, or took some twice.
        """
        self._count_locks()
        for pool, by_row in self._changes.items():
            for changes in by_row.values():
                _, held, *events = changes
                for event in events:
                    held = _changed(held, pool, event)
                changes[1:] = [held]
            self.state.held[pool] = {row: changes[1] for row, changes in by_row.items()}

    def _count_locks(self) -> None:
        for node, num in self._locks.items():
            tree.count_locks(self.state, node, num)
        self._locks.clear()

    def _open(self, event: whole.LogOpened) -> None:
        if self.state.opened is not None:
            raise contradiction(event, f"a log was opened at seq {self.state.opened.seq} already")
        self.state.opened = event

    def _finish(self, event: whole.RequestFinished) -> None:
        if event.tokens:
            requests.finish(self.state, event)
        elif event.request not in self.state.requests.index:
            request_row(self.state, event, event.request)

    def _unlock(self, event: whole.PathUnlocked) -> None:
        locks, node = self._locks, event.node
        if event.request not in self.state.requests.index:
            request_row(self.state, event, event.request)
        num = locks.get(node, 0)
        if num > 1:
            locks[node] = num - 1
        elif num == 1:
            del locks[node]
        elif node:
            # The lock is counted already, or on a node below; or there is none.
            self._count_locks()
            tree.unlock(self.state, event)

    def _publish(self, event: whole.SwaPublished) -> None:
        row = request_row(self.state, event, event.request)
        check_living(self.state, event, event.node)
        check_runs(event, event.runs)
        _give(self._changes["swa"], "swa", row, event, _num_tokens(event.runs))
        tree.heal(self.state, event)

    def _evict(self, event: whole.SpanEvicted) -> None:
        if event.node in self._locks:
            self._count_locks()
        tree.evict(self.state, event)


def _by_type(meanings: dict[str, Meaning]) -> dict[type, Meaning]:
    """The same by the types of lean and of whole events."""
    types = {kind for kind in (*lean.LEAN_TYPES, *whole.EVENT_TYPES) if kind.__name__ in meanings}
    return {kind: meanings[kind.__name__] for kind in types}


_NOTHING: Any = (0, ())

# What follows is called millions of times: each function has at hand what of the state it needs.


def _look_up(state: ReplayState) -> Meaning:
    nodes, index = state.nodes, state.requests.index
    alive, last_used, parent = nodes.alive, nodes.last_used, nodes.parent

    def look_up(event: whole.LookupDone) -> None:
        node, seq = event.node, event.seq
        if event.request not in index:
            request_row(state, event, event.request)
        if node and not (0 < node < len(alive) and alive[node]):
            check_living(state, event, node)
        while node:
            last_used[node] = seq
            node = parent[node]

    return look_up


def _lock(state: ReplayState, locks: dict[int, int]) -> Meaning:
    alive, index = state.nodes.alive, state.requests.index

    def lock(event: whole.PathLocked) -> None:
        node = event.node
        if event.request not in index:
            request_row(state, event, event.request)
        if node:
            if not (0 < node < len(alive) and alive[node]):
                check_living(state, event, node)
            locks[node] = locks.get(node, 0) + 1

    return lock


def _insert(state: ReplayState, full_changes: Changes, swa_changes: Changes) -> Meaning:
    def insert(event: whole.SpanInserted) -> None:
        row = tree.leaf_row(state, event)
        full, swa = event.full, event.swa
        if full:
            _give(full_changes, "full", row, event, _num_inside(event, full))
        if swa:
            _give(swa_changes, "swa", row, event, _num_inside(event, swa))
        tree.add_leaf(state, event, row)

    return insert


def _take(state: ReplayState, changes_of: dict[str, Changes]) -> Meaning:
    index = state.requests.index

    def take(event: whole.SlotsTaken) -> None:
        changes, row = changes_of.get(event.pool), index.get(event.request, -1)
        if changes is None or row < 0:
            raise _nobodys(state, event)
        num = 0
        for start, stop, _ in event.runs:
            num += stop - start
        held = changes.get(row)
        if held is not None:
            held[0] += num
            held.append(event)
        elif num:
            changes[row] = [num, (), event]

    return take


def _free(state: ReplayState, changes_of: dict[str, Changes]) -> Meaning:
    index = state.requests.index

    def free(event: whole.SlotsFreed) -> None:
        changes, row = changes_of.get(event.pool), index.get(event.request, -1)
        if changes is None or row < 0:
            raise _nobodys(state, event)
        num = 0
        for start, stop, _ in event.runs:
            num += stop - start
        if num < 0:
            check_runs(event, event.runs)
        held = changes.get(row, _NOTHING)
        left = held[0] - num
        if left > 0:
            held[0] = left
            held.append(event)
        elif left < 0:
            raise not_held(event, event.pool)
        elif num:
            del changes[row]

    return free


def _nobodys(state: ReplayState, event: whole.SlotsTaken | whole.SlotsFreed) -> LogError:
    """The error for slots of a pool or a request that is not there."""
    if event.pool not in state.held:
        return requests.no_pool(event, event.pool)
    return contradiction(event, f"request {event.request!r} was never submitted")


def _give(changes: Changes, pool: str, row: int, event: Any, num: int) -> None:
    """A request has so many slots of a pool less."""
    held = changes.get(row, _NOTHING)
    left = held[0] - num
    if left > 0:
        held[0] = left
        held.append(event)
    elif left < 0:
        raise not_held(event, pool)
    elif num:
        del changes[row]


def _changed(held: Runs, pool: str, event: Any) -> Runs:
    """What is held after an event, of what was held before."""
    match type(event).__name__:
        case "SlotsTaken":
            return requests.held_with(event, held)
        case "SpanInserted":
            return left_after_taking(event, pool, held, event.full if pool == "full" else event.swa)
        case _:
            return left_after_taking(event, pool, held, event.runs)


def _num_tokens(runs: Runs) -> int:
    num = 0
    for start, stop, _ in runs:
        num += stop - start
    return num


def _num_inside(event: whole.SpanInserted, runs: Runs) -> int:
    """Tokens of runs that are sound and within the span."""
    if len(runs) == 1:
        ((start, stop, slot),) = runs
        if event.start <= start < stop <= event.stop and 0 <= slot < LIMIT - (stop - start):
            return stop - start
    check_runs(event, runs)
    check_inside(event, runs, event.start, event.stop)
    return _num_tokens(runs)
