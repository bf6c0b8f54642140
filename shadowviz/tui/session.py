"""One run in the terminal interface: its log, its engine if it has one, the moment shown, and what is selected."""

import time
from collections.abc import Callable, Collection
from itertools import count
from pathlib import Path

from shadowviz.replay.explain import Explanation
from shadowviz.replay.nearest import Words
from shadowviz.replay.quick_verdict import QuickVerdict, quick_verdict
from shadowviz.replay.timeline import Budgets, Timeline
from shadowviz.sources.child import EngineChild, successor
from shadowviz.sources.child_wire import Answer
from shadowviz.sources.follow import Follower, Polled
from shadowviz.sources.states import EngineState, LogState
from shadowviz.tokens.inert import printable
from shadowviz.tui.breakpoints import Breakpoints
from shadowviz.tui.closing import ClosingCheck
from shadowviz.tui.frame import Arrival, Frame, HitRate, Mode
from shadowviz.tui.moment_counts import PoolCounter, num_living_nodes, num_running, num_waiting
from shadowviz.tui.request_facts import RequestFacts, request_facts
from shadowviz.tui.selection import SelectionTrail
from shadowviz.tui.state_changes import tree_may_change
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LogOpened, LookupDone
from shadowviz_engine.core.replayer import Replayer

_VERSIONS = count(1)
"""Of all sessions together: what is drawn for one is never taken for another's, nor for that of a log before it."""
TICK_S = 0.02
"""Work of one tick: short enough that a key which comes meanwhile is still answered in time."""


class Session:
    """What all screens show comes from here; nothing in it knows of a terminal.

    Call `tick` again and again: it looks at the log and the engine, moves the state on its way, and gives a frame.

    Raises:
        LogError: there is a file, and it cannot be read or is no log that this version reads.
    """

    def __init__(
        self,
        path: str | Path,
        child: EngineChild | None = None,
        budgets: Budgets | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._budgets = clock, budgets or Budgets()
        self.child = child
        self.follower = Follower(path, clock, self._is_written)
        self.selection = SelectionTrail()
        self.breaks = Breakpoints()
        self._begin()

    def _begin(self) -> None:
        self.timeline = Timeline(self.follower, _words_of, self._budgets, self._clock)
        self._is_paused = False
        self._version, self._tree_version = next(_VERSIONS), 0
        self._shown: tuple[object, ...] = ()
        self._tree_of: tuple[int, int] = (-1, id(self.timeline.state))
        self._time: tuple[int, int] = (-1, 0)
        """Event whose time was read last, and that time."""
        self._fault = ""
        self._closing = ClosingCheck()
        self._pools = PoolCounter(self._clock)
        self._pace = (0, 0.0)
        self._begun = -1
        self.breaks.pass_over(self.follower.head)
        self.answers: tuple[Answer, ...] = ()
        """What the engine has answered since the tick before."""

    @property
    def state(self) -> Replayer:
        """The state at the moment shown."""
        return self.timeline.state

    def tick(self, budget_s: float = TICK_S) -> Frame:
        """Work for about so long, and say what there is to show."""
        stop = self._clock() + budget_s
        if self.child is not None:
            self.answers = self.child.poll()
        polled = self.follower.poll()
        try:
            if self.follower.index(budget_s):
                self._heed_breaks()
                self._advance(max(0.0, stop - self._clock()))
        except LogError as error:
            self._fault = str(error)
        return self._frame(polled)

    def settle(self) -> Frame:
        """Work until the state is the one asked for, however long it takes: for what is printed and not watched."""
        while True:
            self._pools.be_due()
            frame = self.tick(1.0)
            if frame.arrival.settled and self.follower.is_indexed:
                return frame

    # Time

    def live(self) -> None:
        """Show the newest event from now on."""
        self._is_paused = False
        self._set_out()
        self.timeline.follow()
        self.breaks.pass_over(self.follower.head)

    def go_on(self) -> None:
        """As `live`; from a breakpoint, only until the next event at which to stop, which may have arrived already."""
        stopped = self.breaks.stopped
        self.live()
        if stopped >= 0:
            self.breaks.pass_over(stopped)

    def pause(self) -> None:
        """Stay at the moment shown; events that arrive are counted."""
        self._is_paused = True
        self.timeline.aim(self.timeline.at)

    def go_to(self, seq: int) -> None:
        """Show the state after event `seq`, as soon as it is reached.

        Raises:
            InputError: the log has no such event.
        """
        self._is_paused = False
        self._set_out()
        self.timeline.aim(seq)

    def step(self, by: int) -> None:
        """Show the state so many events later, or earlier where it is negative."""
        self._is_paused = False
        self._set_out()
        self.timeline.step(by)

    def next_of(self, kinds: Collection[str]) -> bool:
        """Go to the next event that is of one of `kinds`; whether there is one."""
        self._set_out()
        found = self.timeline.aim_at_next(kinds)
        self._is_paused = self._is_paused and not found
        return found

    def previous_of(self, kinds: Collection[str]) -> bool:
        """Go back to the last event that is of one of `kinds`; whether there is one."""
        self._set_out()
        found = self.timeline.aim_at_previous(kinds)
        self._is_paused = self._is_paused and not found
        return found

    # What rows show

    def event_at(self, seq: int) -> Event:
        """The event `seq`.

        Raises:
            LogError: it is not there, not any more, or not readable.
        """
        return self.follower.event_at(seq)

    def newest(self, num_events: int) -> list[Event]:
        """The last events of the log, however far the state has come.

        Raises:
            LogError: one of them is not readable.
        """
        return self.follower.newest(num_events)

    def request(self, row: int) -> RequestFacts:
        """The request in `row` of the state's columns, in order of submission."""
        return request_facts(self.timeline, self.follower, row)

    def verdict(self, lookup: LookupDone) -> QuickVerdict:
        """The verdict of a lookup, from its explanation if there is one, else as far as its event tells."""
        known = self.timeline.verdict(lookup.seq)
        if known is not None:
            return QuickVerdict(known, True)
        opened = self.follower.opened
        assert opened is not None, "a lookup comes behind the first event"
        return quick_verdict(lookup, opened.geometry)

    def explain(self, seq: int, budget_s: float = TICK_S) -> Explanation | None:
        """Why the lookup in event `seq` ended as it did; None = not within that time, ask again.

        Raises:
            LogError: the event is no lookup, or the log contradicts itself before it.
        """
        return self.timeline.explanation(seq, budget_s)

    # The source

    def restart_log(self) -> Polled:
        """Read what stands under the log's name from its beginning; nothing is selected then."""
        polled = self.follower.restart()
        self._begin()
        self.selection.forget()
        return polled

    def restart_engine(self) -> Path:
        """A new engine as the old one was, with a log of its own beside the old one, which is then followed.

        Raises:
            LogError: the log cannot be read.
        """
        assert self.child is not None, "only an engine of this session can be restarted"
        old = self.child
        self.child = successor(old)
        old.close()
        self.follower.close()
        self.follower = Follower(self.child.log, self._clock, self._is_written)
        self._begin()
        self.selection.forget()
        return self.child.log

    def close(self) -> None:
        """Have the engine close its record and end, and let go of the log."""
        try:
            if self.child is not None:
                self.child.close()
        finally:
            self.follower.close()

    def _is_written(self) -> bool:
        # What the engine is to write over is none of its record.
        return self.child is None or self.child.has_recorded

    def _heed_breaks(self) -> None:
        found = self.breaks.first_of(self.follower) if self.timeline.follows else None
        if found is not None:
            self._set_out()
            self._is_paused = True
            self.timeline.aim(found)
            self.breaks.stopped = found

    def _set_out(self) -> None:
        self.breaks.stopped = -1
        self._begun = self.timeline.at
        self._pace = (0, 0.0)

    def _advance(self, budget_s: float) -> None:
        timeline, before, begun_s = self.timeline, self.timeline.at, self._clock()
        arrived = timeline.advance(budget_s)
        num, spent_s = self._pace
        self._pace = (num + abs(timeline.at - before), spent_s + self._clock() - begun_s)
        if arrived:
            self._begun, self._pace = timeline.at, (0, 0.0)

    def _note_tree(self) -> int:
        """Version of the tree: as before where no event between then and the moment shown can have changed it."""
        (was, state), now = self._tree_of, (self.timeline.at, id(self.timeline.state))
        self._tree_of = now
        first, last = sorted((was, now[0]))
        if state != now[1] or tree_may_change(self.follower.kinds_between(first + 1, last + 1)):
            self._tree_version += 1
        return self._tree_version

    def _frame(self, polled: Polled) -> Frame:
        timeline, state = self.timeline, self.timeline.state
        log, log_words = self._log_state(polled)
        shown = (timeline.at, id(state), log, log_words)
        if shown != self._shown:
            self._shown = shown
            self._version = next(_VERSIONS)
        sums = timeline.chronicle.sums(timeline.at)
        num, spent_s = self._pace
        return Frame(
            version=self._version,
            tree_version=self._note_tree(),
            mode=self._mode(log),
            head=self.follower.head,
            arrival=Arrival(timeline.at, timeline.target, self._begun, num / spent_s if spent_s else 0.0),
            new_events=polled.new,
            opened=self.follower.opened,
            t_ns=self._time_shown(),
            hit=HitRate(sums.num_lookups, sums.prompt_tokens, sums.reused_tokens),
            pools=self._pools.fills(timeline.at, state),
            pools_at=self._pools.at,
            num_requests=len(state.requests),
            num_running=num_running(state),
            num_waiting=num_waiting(state),
            num_nodes=num_living_nodes(state),
            log=log,
            log_words=log_words,
            stopped=self._stopped(),
            engine=EngineState.NONE if self.child is None else self.child.state,
            engine_words="" if self.child is None else self.child.words,
            selection=self.selection.current.selection,
            trail=self.selection.trail,
        )

    def _mode(self, log: LogState) -> Mode:
        if not self.timeline.follows:
            return Mode.PAUSED if self._is_paused else Mode.REPLAY
        return Mode.LIVE if log in (LogState.WAITING, LogState.FOLLOWING, LogState.TORN) else Mode.REPLAY

    def _stopped(self) -> str:
        seq = self.breaks.stopped
        return f"e{seq:,} {self.follower.kind_at(seq)}" if seq >= 0 else ""

    def _log_state(self, polled: Polled) -> tuple[LogState, str]:
        fault = self._fault or self.timeline.fault
        if fault and polled.state not in (LogState.TRUNCATED, LogState.REPLACED, LogState.GONE):
            return LogState.BROKEN, printable(fault)
        return polled.state, printable(polled.words or self._closing.words(self.timeline, self.follower))

    def _time_shown(self) -> int:
        at = self.timeline.at
        if self._time[0] != at:
            try:
                self._time = (at, self.follower.event_at(at).t_ns if at >= 0 else 0)
            except LogError:
                self._time = (at, 0)
        return self._time[1]


def _words_of(opened: LogOpened) -> Words:
    # The tokenizer is needed for the first explanation, and takes longer to import than the first frame may.
    from shadowviz.tokens.words import words_of

    return words_of(opened)
