"""How a stress run stands, in a sentence: how far it is, what it came to, and which key helps."""

import shlex
from collections.abc import Sequence
from typing import Final

import msgspec

from shadowviz.replay.counts import counted
from shadowviz.sources.states import LogState
from shadowviz.tokens.inert import printable
from shadowviz.tui.stress_checks import StressChecks
from shadowviz.tui.stress_run import RunState, StressRun
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted

_PROVEN: Final = {
    "arithmetic": "what is derived is as defined",
    "numeric": "going on equals a cold run",
    "oracle": "the engine equals transformers",
    "faults": "every fault that can be seen was found",
}
"""What it means that a level has no finding."""
MOST_RUNS: Final = 12
"""Stretches of lengths that a command names one by one."""
_READ: Final = "the record is being read"


class StressStand(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is."""

    state: RunState | None
    """Of one that was begun here; None = it is only read."""
    log: LogState
    num_checks: int = 0
    num_all: int = 0
    """0 = not known yet."""
    num_findings: int = 0
    levels: Sequence[str] = ()
    is_read: bool = True
    """Whether all checks on record are counted."""
    fault: str = ""
    """Why they cannot be, where that is so."""
    left_s: float | None = None
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether everything was checked."""
        return 0 < self.num_all <= self.num_checks

    @property
    def needs_look(self) -> bool:
        """Whether something was found, or went wrong."""
        return self.num_findings > 0 or self.state is RunState.FAILED or bool(self.fault or self.loss)

    @property
    def loss(self) -> str:
        """What has befallen the record of a run that was begun here, in a phrase; empty = nothing has."""
        return self.log.loss if self.state not in (None, RunState.PREPARING) else ""

    @property
    def can_go_on(self) -> bool:
        """Whether there is a run that ended early, as far as its record tells."""
        idle = self.state is None or not self.state.alive
        return idle and self.is_read and self.num_all > 0 and not self.is_complete and not self.log.loss


def stand_of(checks: StressChecks, run: StressRun | None, log: LogState, head: int) -> StressStand:
    """How a run stands that is on record as `checks` has it up to event `head`; `run` = it was begun here."""
    grid, is_read = checks.grid, checks.has_all(head)
    state = run.state if run is not None else None
    # While a run that was begun here has no record, what is on the screen is another one's.
    if grid is None or not grid.started or (run is not None and run.session is None):
        is_read = is_read or run is None or run.session is None
        return StressStand(state=state, log=log, is_read=is_read, reason=run.reason if run is not None else "")
    return StressStand(
        state=state,
        log=log,
        num_checks=grid.num_checks,
        num_all=grid.total,
        num_findings=grid.num_findings,
        levels=list(dict.fromkeys(event.level for event in grid.started)),
        is_read=is_read,
        fault=checks.fault,
        left_s=run.left_s(grid.num_checks, grid.total) if run is not None and is_read else None,
        reason=run.reason if run is not None else "",
    )


def stand_words(stand: StressStand, stop_key: str, go_on_key: str, next_key: str) -> str:
    """The sentence; empty where there is nothing to say."""
    found = f"{counted(stand.num_findings, 'finding')} so far" if stand.num_findings else "no finding so far"
    if stand.loss and stand.state is not None:
        if stand.state.alive:
            return f"RUNNING, but its record was {stand.loss}: what it checks is lost; {stop_key} stops it"
        return f"{stand.state.upper()}, but its record was {stand.loss}: there is nothing to go on with"
    match stand.state:
        case RunState.PREPARING:
            return f"PREPARING: the run loads what it needs; {stop_key} stops it"
        case RunState.RUNNING if not stand.is_complete:
            left = f", about {_span(stand.left_s)} left" if stand.left_s is not None else ""
            return f"RUNNING{left}, {found}; {stop_key} stops it"
        case RunState.STOPPING:
            return "STOPPING: what was checked stays on record"
        case RunState.FAILED if not stand.num_all:
            return f"NOT BEGUN: {stand.reason}"
        case RunState.DONE if not stand.num_all and stand.is_read:
            return "DONE, and nothing is on record"
        case RunState.STOPPED if not stand.num_all:
            return "STOPPED before the first check: nothing is on record"
    if stand.fault:
        where = f"{stand.num_checks:,} of {counted(stand.num_all, 'check')}"
        return f"NOT READABLE to its end: {where} counted, {found}: {stand.fault}"
    return _end_words(stand, found, go_on_key, next_key) if stand.is_read else _READ


def _end_words(stand: StressStand, found: str, go_on_key: str, next_key: str) -> str:
    if stand.is_complete:
        if stand.num_findings:
            return f"DONE: {counted(stand.num_findings, 'finding')}{_helps(next_key, 'goes to the next')}"
        proven = "; ".join(_PROVEN[level] for level in stand.levels if level in _PROVEN)
        return f"DONE: no finding{': ' if proven else ''}{proven}"
    if not stand.num_all:
        return ""
    where = f"at {stand.num_checks:,} of {counted(stand.num_all, 'check')}"
    if stand.state is None and stand.log in (LogState.FOLLOWING, LogState.WAITING):
        return f"IN PROGRESS, or cut off, {where}, {found}{_helps(go_on_key, 'goes on with it if nobody else does')}"
    reason = f" ({stand.reason})" if stand.reason else ""
    return f"STOPPED {where}{reason}, {found}{_helps(go_on_key, 'goes on with it')}"


def _helps(key: str, words: str) -> str:
    """What a key does; nothing where there is none to press."""
    return f"; {key} {words}" if key else ""


def end_words(run: StressRun) -> str:
    """What became of a run that has ended, in a phrase."""
    match run.state:
        case RunState.DONE:
            return f"the stress run is done, {'with findings' if run.has_findings else 'without a finding'}"
        case RunState.STOPPED:
            return "the stress run was stopped"
    return f"the stress run has ended: {run.reason}"


def command_of(run: StressRun) -> str:
    """The command of a run, as a shell takes it."""
    return printable(shlex.join(["shadowviz", *run.child.arguments]))


def cell_command(check: BoundaryChecked, lengths: Sequence[int], started: Sequence[BoundaryStressStarted]) -> list[str]:
    """The command that checks these lengths alone, as the run of `check` did."""
    words = ["shadowviz", "stress", check.subject, "--level", check.level, "--mode", check.mode]
    words += ["--lengths", lengths_word(lengths)]
    for event in started:
        if (event.level, event.subject) == (check.level, check.subject):
            words[2] = event.asked or event.subject
            words += ["--seed", str(event.seed)]
            words += [word for name, value in event.options for word in (f"--{name}", value)]
    return words


def lengths_word(lengths: Sequence[int]) -> str:
    """Ascending lengths as `--lengths` takes them; where they are many stretches, all from the first to the last."""
    runs = list[tuple[int, int]]()
    for length in lengths:
        if runs and runs[-1][1] == length:
            runs[-1] = (runs[-1][0], length + 1)
        else:
            runs.append((length, length + 1))
    if len(runs) > MOST_RUNS:
        runs = [(runs[0][0], runs[-1][1])]
    return ",".join(str(start) if stop == start + 1 else f"{start}:{stop}" for start, stop in runs)


def is_stress_command(text: str) -> bool:
    """Whether a shell does nothing with it but run `shadowviz stress`: a record of anybody may bring any text along."""
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return words[:2] == ["shadowviz", "stress"] and shlex.join(words) == text


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
