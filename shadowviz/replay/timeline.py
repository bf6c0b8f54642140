"""A run at any of its events: forward, back and anywhere, while its log grows."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Protocol

import msgspec

from shadowviz.replay.chronicle import Chronicle
from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.keyframes import Keyframes
from shadowviz.replay.log_past import log_past
from shadowviz.replay.nearest import Words
from shadowviz.replay.place import Place
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import Event, LogOpened, LookupDone
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.verdict import Finding

SLICE = 256
"""Events between two looks at the clock."""
MAX_EXPLAINED = 512
"""Explanations that are kept."""


class Log(Protocol):
    """Events by their number, of a log that may grow."""

    @property
    def head(self) -> int:
        """Seq of the newest event; -1 = there is none."""

    def event_at(self, seq: int) -> Event:
        """The event `seq`."""

    def events(self, start: int, stop: int) -> list[Event]:
        """The events [start, stop)."""

    def next_of(self, kinds: Collection[str], seq: int) -> int | None:
        """The first event behind `seq` that is of one of `kinds`."""

    def previous_of(self, kinds: Collection[str], seq: int) -> int | None:
        """The last event before `seq` that is of one of `kinds`."""


class Budgets(msgspec.Struct, frozen=True):
    """What time travel may take beside the state, and how it is spent."""

    undo: int = 10 * 2**20
    """Bytes of undo records."""
    keyframes: int = 32 * 2**20
    """Bytes of keyframes."""
    spacing: int = 2_000
    """Events between two keyframes of a small state."""
    way_back: int = 20_000
    """Events before the one that is gone to for which undo records are kept."""
    near: int = 2_000
    """Events that the shown state goes back for an explanation; for one further away another state sets out."""


class Timeline:
    """The state of a run at one event, and the way to any other; it follows the newest until it is sent elsewhere.

    Args:
        words_of: reads the ids of a log, once its first event is known.
    """

    def __init__(
        self,
        log: Log,
        words_of: Callable[[LogOpened], Words],
        budgets: Budgets | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._budgets = budgets = budgets or Budgets()
        self._log, self._words_of, self._clock = log, words_of, clock
        self._place = Place(budgets.undo)
        self._scout = Place(0)
        """A state for explanations far from the one that is shown."""
        self._keyframes = Keyframes(budgets.keyframes, budgets.spacing)
        self._aim: int | None = None
        self._words: Words | None = None
        self._explained: OrderedDict[int, Explanation] = OrderedDict()
        self._verdicts: dict[int, Finding] = {}
        self._untold: set[int] = set()
        self.chronicle = Chronicle()
        self.fault = ""
        """Why the state cannot go on; empty = it can."""
        self._fault_seq = -1

    @property
    def state(self) -> Replayer:
        """The state at `at`; another object after some moves."""
        return self._place.state

    @property
    def at(self) -> int:
        """Event after which the state is; -1 = before the first."""
        return self._place.seq

    @property
    def head(self) -> int:
        """Newest event of the log."""
        return self._log.head

    @property
    def target(self) -> int:
        """Event that the state goes to."""
        newest = self._fault_seq - 1 if self.fault else self._log.head
        return newest if self._aim is None else min(self._aim, newest)

    @property
    def follows(self) -> bool:
        """Whether the state goes to the newest event, whatever that is."""
        return self._aim is None

    @property
    def held_bytes(self) -> int:
        """About what undo records and keyframes take."""
        return self._place.undo_bytes + self._keyframes.num_bytes

    def follow(self) -> None:
        """From now on go to the newest event."""
        self._aim = None

    def aim(self, seq: int) -> None:
        """From now on go to event `seq`; `advance` does the way.

        Raises:
            InputError: the log has no such event.
        """
        if not -1 <= seq <= self._log.head:
            raise InputError(f"the run has no event {seq}: expected -1 (before the first) to {self._log.head}")
        self._aim = seq

    def advance(self, budget_s: float = math.inf) -> bool:
        """Go toward the target for about so long; whether it is reached.

        An event that cannot apply ends the way there: `fault` says why, and the moments before it stay within reach.
        """
        stop = self._clock() + budget_s
        while self.at != self.target:
            try:
                self._move(self._place, self.target, note=True)
            except LogError as error:
                self.fault, self._fault_seq = str(error), self.at + 1
            if self._clock() >= stop:
                break
        return self.at == self.target

    def go_to(self, seq: int) -> None:
        """Be at event `seq`, however long it takes.

        Raises:
            InputError: the log has no such event.
            LogError: the events before it contradict each other.
        """
        self.aim(seq)
        self.advance()
        if self.at != seq:
            raise LogError(self.fault)

    def step(self, by: int) -> None:
        """Aim at the event so many further, or back where it is negative; the ends of the log are the limit."""
        self.aim(max(-1, min(self._log.head, self.at + by)))

    def aim_at_next(self, kinds: Collection[str]) -> bool:
        """Aim at the next event that is of one of `kinds`; whether there is one."""
        return self._aim_found(self._log.next_of(kinds, self.at))

    def aim_at_previous(self, kinds: Collection[str]) -> bool:
        """Aim at the last event before this one that is of one of `kinds`; whether there is one."""
        return self._aim_found(self._log.previous_of(kinds, self.at))

    def explained(self, seq: int) -> Explanation | None:
        """The explanation of the lookup in event `seq`, if it was worked out before."""
        return self._explained.get(seq)

    def verdict(self, seq: int) -> Finding | None:
        """The verdict of the lookup in event `seq`, if it was ever explained."""
        return self._verdicts.get(seq)

    def is_untold(self, seq: int) -> bool:
        """Whether the lookup in event `seq` was to be explained, and the log does not say what it met."""
        return seq in self._untold

    def explanation(self, seq: int, budget_s: float = math.inf) -> Explanation | None:
        """Why the lookup in event `seq` ended as it did, told with the state that it met; the state shown stays.

        None = its state is not reached within about that time; asked again, it goes on from there.

        Raises:
            LogError: the event is no lookup, or those before it contradict each other.
        """
        known = self._explained.get(seq)
        if known is not None:
            self._explained.move_to_end(seq)
            return known
        try:
            return self._explain_anew(seq, budget_s)
        except LogError:
            self._untold.add(seq)
            raise

    def _explain_anew(self, seq: int, budget_s: float) -> Explanation | None:
        lookup = self._log.event_at(seq)
        if not isinstance(lookup, LookupDone):
            raise LogError(f"event {seq} is a {type(lookup).__name__}, expected a lookup")
        place, at = self._place, self._place.seq
        if place.earliest < seq <= at + 1 and at + 1 - seq <= self._budgets.near:
            # Read first: a state that went back and found the log cut off could not return.
            way_back = self._log.events(seq, at + 1)
            place.back(at + 1 - seq)
            try:
                return self._explain(lookup, place.state)
            finally:
                place.apply(way_back)
        if not self._send_scout(seq - 1, budget_s):
            return None
        return self._explain(lookup, self._scout.state)

    def _explain(self, lookup: LookupDone, state: Replayer) -> Explanation:
        if self._words is None:
            opened = state.opened
            assert opened is not None, "a lookup applies only behind the first event"
            self._words = self._words_of(opened)
        explanation = Explainer(self._words, state, log_past(self._log, state)).explain_found(lookup)
        self._explained[lookup.seq] = explanation
        self._verdicts[lookup.seq] = explanation.verdict
        if len(self._explained) > MAX_EXPLAINED:
            self._explained.popitem(last=False)
        return explanation

    def _send_scout(self, seq: int, budget_s: float) -> bool:
        stop = self._clock() + budget_s
        self._keyframes.stores.keep(self.state)
        while self._scout.seq != seq:
            self._move(self._scout, seq, note=False)
            if self._clock() >= stop:
                break
        return self._scout.seq == seq

    def _aim_found(self, seq: int | None) -> bool:
        if seq is None:
            return False
        self.aim(seq)
        return True

    def _move(self, place: Place, target: int, *, note: bool) -> None:
        """One slice of the way to `target`."""
        at = place.seq
        if target < at and place.earliest <= target:
            place.back(min(SLICE, at - target))
            return
        keyframe = self._keyframes.nearest(target, place.state)
        reached = -1 if keyframe is None else keyframe.seq
        if target < at or reached > at:
            place.jump(keyframe, self._keyframes.stores)
            return
        events = self._next_events(at + 1, min(at + 1 + SLICE, target + 1))
        try:
            if note and target - at <= self._budgets.way_back:
                place.apply(events)
            else:
                place.rush(events)
        finally:
            if note:
                self.chronicle.note(events, place.state)
        if note:
            self._keyframes.offer(place.state)

    def _next_events(self, start: int, stop: int) -> list[Event]:
        """Events from `start` on, as far as they can be read together."""
        try:
            return self._log.events(start, stop)
        except LogError:
            if stop == start + 1:
                raise
        # The one that cannot be read may come later.
        return self._log.events(start, start + 1)
