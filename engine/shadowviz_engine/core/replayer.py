"""The one meaning of every event, and the way back: `apply` and `undo`."""

from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from typing import Any, TypeAlias

from shadowviz_engine.core import replay_requests as requests
from shadowviz_engine.core import replay_rush
from shadowviz_engine.core import replay_tree as tree
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    Event,
    LogClosed,
    LogOpened,
    LookupDone,
    PathEnded,
    PathLocked,
    PathUnlocked,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    StepDone,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.replay_checks import contradiction
from shadowviz_engine.core.replay_state import ReplayState

Saved: TypeAlias = tuple[Any, ...]
Meaning: TypeAlias = tuple[Callable[[ReplayState, Any], Saved], Callable[..., None]]
"""What an event does, and its inverse."""
Undo: TypeAlias = tuple[type[Event], int, Saved]
"""What `Replayer.undo` needs to take one event back: small values, never the event or the state."""


def _open(state: ReplayState, event: LogOpened) -> Saved:
    before = state.opened
    if before is not None:
        raise contradiction(event, f"a log was opened at seq {before.seq} already")
    state.opened = event
    return ()


def _undo_open(state: ReplayState) -> None:
    state.opened = None


_MEANINGS: dict[type[Event], Meaning] = {
    LogOpened: (_open, _undo_open),
    RequestSubmitted: (requests.submit, requests.undo_submit),
    RequestWaited: (requests.wait, requests.undo_wait),
    LookupDone: (requests.look_up, requests.undo_look_up),
    PathLocked: (tree.lock, tree.undo_lock),
    PathUnlocked: (tree.unlock, tree.undo_unlock),
    SpanSplit: (tree.split, tree.undo_split),
    SpanInserted: (tree.insert, tree.undo_insert),
    PathEnded: (tree.end_path, tree.undo_end_path),
    SwaFreed: (tree.free_swa, tree.undo_free_swa),
    SwaPublished: (tree.publish_swa, tree.undo_publish_swa),
    SpanEvicted: (tree.evict, tree.undo_evict),
    SlotsTaken: (requests.take_slots, requests.undo_slots),
    SlotsFreed: (requests.free_slots, requests.undo_slots),
    StepDone: (requests.step, requests.undo_step),
    RequestFinished: (requests.finish, requests.undo_finish),
    RequestAborted: (requests.abort, requests.undo_abort),
}


_APPLY = {kind: apply for kind, (apply, _) in _MEANINGS.items()}


class Replayer(ReplayState):
    """State after the events applied so far. An event that cannot apply leaves the state as it was."""

    def apply(self, event: Event) -> Undo:
        """Apply the next event; one without a meaning for the state only moves `seq`.

        Raises:
            LogError: the event contradicts the state, or is not later than the one before.
        """
        before, seq, kind = self.seq, event.seq, type(event)
        if not before < seq < 2**63:
            raise contradiction(event, f"it follows seq {before}, expected a later one")
        apply = _APPLY.get(kind)
        saved = apply(self, event) if apply else ()
        self.seq = seq
        return kind, before, saved

    def advance(self, events: Iterable[Event]) -> Event | None:
        """Apply all of `events`, with nothing kept to undo them; the last one, None if there are none.

        Raises:
            LogError: as `apply` does; the events before that one are applied.
        """
        rushing, meanings, before, event = replay_rush.rushing(self).get, _APPLY.get, self.seq, None
        for event in events:
            seq, kind = event.seq, type(event)
            if not before < seq < 2**63:
                raise contradiction(event, f"it follows seq {before}, expected a later one")
            rush = rushing(kind)
            if rush:
                rush(event)
            else:
                apply = meanings(kind)
                if apply:
                    apply(self, event)
            self.seq = before = seq
        return event

    def undo(self, undo: Undo) -> None:
        """Take back the event applied last, given what `apply` returned for it."""
        kind, self.seq, saved = undo
        meaning = _MEANINGS.get(kind)
        if meaning:
            meaning[1](self, *saved)

    def copied(self) -> "Replayer":
        """The same state, which later events leave as it is; what only grows is shared, so neither may be undone."""
        other = Replayer()
        self.copy_into(other)
        return other

    def copy_into(self, other: "Replayer") -> None:
        """Make another, without any events so far, what `copied` gives."""
        other.seq, other.opened, other.tokens, other.runs = self.seq, self.opened, self.tokens, self.runs
        for mine, columns in ((self.nodes, other.nodes), (self.requests, other.requests)):
            for name in mine.__slots__:
                setattr(columns, name, copy(getattr(mine, name)))
        other.namespaces = deepcopy(self.namespaces)
        other.held = {pool: dict(held) for pool, held in self.held.items()}

    def check_closed(self, event: LogClosed) -> None:
        """Compare the state with the engine's when it closed the log; a redacted log names none to compare with.

        Raises:
            LogError: the digests differ.
        """
        if not event.digest and self.opened is not None and self.opened.redacted:
            return
        digest = self.digest()
        if digest != event.digest:
            raise LogError(f"the live state had digest {event.digest!r}, the replayed state has {digest}")
