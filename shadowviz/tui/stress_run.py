"""A stress run that was begun in the interface: its process, its record, and what has become of it."""

import shlex
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from shadowviz.sources.command_child import CommandChild
from shadowviz.sources.states import LogState
from shadowviz.tokens.inert import printable
from shadowviz.tui.session import Session
from shadowviz.tui.stress_checks import is_whole
from shadowviz_engine.core.errors import InputError, LogError

FOUND = 1
INTERRUPTED = 130
"""Exit codes; an error that nobody caught ends a process with 1, too."""


class RunState(StrEnum):
    """A stress run as it was found last."""

    PREPARING = "preparing"
    """Nothing is on record yet."""
    RUNNING = "running"
    STOPPING = "stopping"
    """It was asked to end."""
    DONE = "done"
    """Everything was checked."""
    STOPPED = "stopped"
    """It ended before that, as it was asked to."""
    FAILED = "failed"
    """It ended before that, for a reason of its own."""

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self in (RunState.PREPARING, RunState.RUNNING, RunState.STOPPING)


def go_on_arguments(record: Path) -> list[str]:
    """Arguments of the program that take up the run of a record where it stopped."""
    return ["stress", "--continue", f"./{record}" if str(record).startswith("-") else str(record)]


class StressRun:
    """`shadowviz stress` in a process of its own, and a session that follows its record once there is one.

    Raises:
        InputError: no process can be started.
        LogError: it goes on with a record that cannot be read.
    """

    def __init__(
        self, arguments: Sequence[str], record: str | Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.record = Path(record)
        self._before = self._mark()
        """The record of a run that is gone on with, before that; None = there was none."""
        self._is_taken_up = self._before is None
        """Whether the record is the one that the process writes to."""
        self.session = Session(self.record) if self.has_record else None
        self.state = RunState.PREPARING
        self.reason = ""
        """Why it ended, where that was not to be expected; safe to show."""
        self._clock, self._asked = clock, False
        self._first: tuple[int, float] | None = None
        """Checks that were done when this process's first one was seen, and when that was."""
        try:
            self.child = CommandChild(arguments)
        except OSError as error:
            self._let_go()
            raise InputError(f"no process can be started: {error.strerror or error}") from None

    @property
    def has_findings(self) -> bool:
        """Whether everything was checked, and something found."""
        return self.state is RunState.DONE and self.child.code == FOUND

    @property
    def has_record(self) -> bool:
        """Whether something is on record."""
        try:
            return self.record.stat().st_size > 0
        except OSError:
            return False

    def poll(self) -> None:
        """Look at the process and the record; `state`, `reason` and `session` are up to date then."""
        if not self.state.alive:
            return
        # In this order: what it wrote before it ended is there.
        code = self.child.code
        self._follow()
        if code is not None:
            self._note_end(code)
        elif not self._asked and self.session is not None and self._mark() != self._before:
            self.state = RunState.RUNNING

    def stop(self) -> None:
        """Ask it to end; what it has checked stays on record."""
        if self.state.alive and not self._asked:
            self._asked, self.state = True, RunState.STOPPING
            self.child.interrupt()

    def left_s(self, num_done: int, num_all: int) -> float | None:
        """Seconds until all is checked, as it went so far; None = nothing can be said yet."""
        if self.state is not RunState.RUNNING or not num_done:
            return None
        if self._first is None or num_done < self._first[0]:
            self._first = (num_done, self._clock())
        before, since_s = self._first
        done = num_done - before
        return (self._clock() - since_s) * (num_all - num_done) / done if done > 0 else None

    def close(self) -> str:
        """End it, and let go of its record; what is worth saying of a run that this has cut short."""
        was_alive = self.state.alive
        if was_alive and self.child.code is not None:
            self._note_end(self.child.code)
        self.child.close()
        loss = self.session.follower.poll().state.loss if self.session is not None else ""
        self._let_go()
        if self.state.alive and self.child.code is not None:
            self._asked = True
            self._note_end(self.child.code)
        is_told = self.state is RunState.FAILED or (was_alive and self.state is RunState.STOPPED)
        if not is_told or not (self.has_record or loss):
            return ""
        what = f"has ended: {self.reason}" if self.state is RunState.FAILED else "was stopped"
        if loss:
            return f"the stress run {what}; its record {printable(str(self.record))} was {loss} meanwhile"
        command = printable(shlex.join(["shadowviz", *go_on_arguments(self.record)]))
        return f"the stress run {what}; go on with: {command}"

    def _mark(self) -> tuple[int, int] | None:
        """What tells the file under the record's name from another one."""
        try:
            found = self.record.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino)

    def _follow(self) -> None:
        session = self.session
        try:
            if session is None and self.has_record:
                self.session = Session(self.record)
            elif session is not None and session.follower.state is LogState.REPLACED and not self._is_taken_up:
                # A run that goes on puts a copy of its record in the record's place, once, and writes on in that.
                self._is_taken_up = True
                session.restart_log()
        except LogError as error:
            self.reason = printable(str(error))

    def _note_end(self, code: int) -> None:
        words = self.child.last_words()
        if code == 0 or (code == FOUND and is_whole(self.record)):
            self.state = RunState.DONE
        elif self._asked or code == INTERRUPTED:
            self.state = RunState.STOPPED
        else:
            self.state = RunState.FAILED
            self.reason = words or (f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code}")

    def _let_go(self) -> None:
        if self.session is not None:
            self.session.close()
