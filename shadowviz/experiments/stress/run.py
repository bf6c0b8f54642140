"""A stress run: plans made ready, their cells checked by several processes, every result an event."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

import msgspec

from shadowviz.experiments.stress.pool import Answer, Pool
from shadowviz.experiments.stress.record import ContinuedRecord, Progress, Record
from shadowviz.experiments.stress.results import command_for
from shadowviz.experiments.stress.wire import Check, Failed, Prepare, Ready, Request, Results, span_of
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.errors import CapacityError, InputError, InvariantError, ShadowvizError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event

EQUAL = ("same", "near_tie")
"""Outcomes that nobody needs to reproduce."""
_DEFAULTS = dict(zip(CellResult.__struct_fields__[2:], CellResult.__struct_defaults__, strict=True))
FLUSH_S = 1.0
"""Results reach the file this often."""
_ERRORS: dict[int, type[ShadowvizError]] = {
    error.exit_code: error for error in (InputError, CapacityError, InvariantError)
}


@dataclass(frozen=True)
class Prepared:
    """A plan with what it consists of."""

    plan: Plan
    subject: str
    groups: tuple[Group, ...]
    ready: Ready

    @property
    def num_cells(self) -> int:
        """Results that the whole plan gives."""
        return sum(len(group.lengths) for group in self.groups)


class StressRun:
    """Plans that are checked by up to `jobs` processes, all but what a continued record holds."""

    def __init__(self, plans: Sequence[Plan], record: Record, jobs: int) -> None:
        self._plans = tuple(plans)
        self._record = record
        self._progress = record.progress if isinstance(record, ContinuedRecord) else Progress()
        self._pool = Pool(jobs)
        self._stopped = False
        self.num_cells = 0
        """Results of the whole run; 0 until all plans are ready."""
        self.num_before = self._progress.done.total()
        """Results that are on record already."""

    def discard(self) -> None:
        """Let go of the record of a run that never began: it is as it was before."""
        self._record.discard()

    def stop(self) -> None:
        """End at once; what has been checked stays on record."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether the run was ended by `stop`."""
        return self._stopped

    def events(self) -> Iterator[Event]:
        """Everything on record, as it comes; what an earlier run recorded comes first.

        Raises:
            InputError: a plan that cannot run.
            CapacityError: a subject that this machine has no room for.
            InvariantError: a level or the engine under test fails, or its process ends.
        """
        try:
            if self._progress.complete:
                self.num_cells = self._progress.num_cells
                yield from self._record.give_back()
                return
            prepared = self._prepared()
            if prepared is None:
                return
            yield from self._opened(prepared)
            yield from self._checked(prepared)
        finally:
            self._pool.close()
            self._record.close()

    def _prepared(self) -> list[Prepared] | None:
        """All plans made ready, before anything is recorded; None where the run was stopped."""
        found: dict[int, Ready] = {}
        requests: deque[Request] = deque(Prepare(plan=number, asked=plan) for number, plan in enumerate(self._plans))
        for answer in self._answers(requests):
            if isinstance(answer.reply, Ready):
                found[answer.reply.plan] = answer.reply
        if self._stopped:
            return None
        prepared = [
            Prepared(plan, found[number].subject, found[number].groups, found[number])
            for number, plan in enumerate(self._plans)
        ]
        _check_distinct(prepared)
        for one in prepared:
            self._check_same_cells(one)
        self.num_cells = sum(one.num_cells for one in prepared)
        if not self.num_cells:
            reasons = "; ".join(reason for one in prepared for reason in one.ready.left_out)
            raise InputError(f"nothing to check: {reasons or 'no length from 1 on is asked for'}")
        return prepared

    def _check_same_cells(self, one: Prepared) -> None:
        before = self._progress.started.get((one.plan.level, one.subject))
        if before is not None and before.cells != one.num_cells:
            raise InputError(
                f"{self._record.path} was begun with {before.cells} cells of {one.plan.level} on {one.subject}, and "
                f"this version has {one.num_cells}: begin a record of its own"
            )

    def _opened(self, prepared: Sequence[Prepared]) -> Iterator[Event]:
        record = self._record
        if isinstance(record, ContinuedRecord):
            yield from record.earlier()
        else:
            yield record.open(prepared[0].ready.geometry)
        for one in prepared:
            plan = one.plan
            yield record.tell(
                BoundaryStressStarted,
                level=plan.level,
                subject=one.subject,
                geometry=one.ready.geometry,
                seed=plan.seed,
                modes=plan.modes,
                lengths=plan.lengths,
                cells=one.num_cells,
                asked="" if plan.subject == one.subject else plan.subject,
                options=tuple(sorted(plan.options.items())),
                left_out=one.ready.left_out,
            )
        record.flush()

    def _checked(self, prepared: Sequence[Prepared]) -> Iterator[Event]:
        requests: deque[Request] = deque(
            Check(plan=number, asked=one.plan, group=group)
            for number, one in enumerate(prepared)
            for group in self._left(one)
        )
        due = monotonic() + FLUSH_S
        for answer in self._answers(requests):
            if isinstance(answer.reply, Results):
                one = prepared[answer.reply.plan]
                for cell in answer.reply.cells:
                    yield self._told(one, cell)
            if monotonic() >= due:
                self._record.flush()
                due = monotonic() + FLUSH_S

    def _left(self, one: Prepared) -> Iterator[Group]:
        """Groups with the cells that are not on record."""
        done = self._progress.done.copy()
        for group in one.groups:
            left = []
            for length in group.lengths:
                key = (one.plan.level, one.subject, group.mode, length)
                if done[key]:
                    done[key] -= 1
                else:
                    left.append(length)
            if left:
                yield Group(group.mode, tuple(left))

    def _told(self, one: Prepared, cell: CellResult) -> BoundaryChecked:
        # Values equal to a default are other objects behind the pipe, and would be written out in every line.
        values = {name: value for name, value in msgspec.structs.asdict(cell).items() if value != _DEFAULTS.get(name)}
        command = "" if cell.outcome in EQUAL else command_for(one.plan, cell)
        return self._record.tell(BoundaryChecked, level=one.plan.level, subject=one.subject, command=command, **values)

    def _answers(self, requests: "deque[Request]") -> Iterator[Answer]:
        """Replies to all requests, as they come, until all are answered or the run is stopped."""
        while not self._stopped:
            while requests and self._pool.take(requests[0]):
                requests.popleft()
            if not self._pool.busy:
                return
            for answer in self._pool.answers():
                _raise_failure(answer)
                yield answer


def _raise_failure(answer: Answer) -> None:
    if isinstance(answer.reply, Failed):
        raise _ERRORS.get(answer.reply.exit_code, InvariantError)(answer.reply.error)
    if answer.reply is None:
        asked = answer.request.asked
        where = f", {span_of(answer.request.group)}" if isinstance(answer.request, Check) else ""
        raise InvariantError(f"the process that checked {asked.level} of {asked.subject}{where} {answer.ended}")


def _check_distinct(prepared: Sequence[Prepared]) -> None:
    asked: dict[tuple[str, str], str] = {}
    for one in prepared:
        key = (one.plan.level, one.subject)
        if key in asked:
            raise InputError(f"{asked[key]} and {one.plan.subject} are both called {one.subject}: expected one of them")
        asked[key] = one.plan.subject
