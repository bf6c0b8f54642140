"""A process that checks cells: it answers requests over its standard streams until they end."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from time import monotonic
from typing import BinaryIO

import msgspec

from shadowviz.experiments.stress.levels import work_of
from shadowviz.experiments.stress.wire import (
    Check,
    Checked,
    Failed,
    Prepare,
    Ready,
    Reply,
    Request,
    Results,
    request_of,
    span_of,
    to_line,
)
from shadowviz.experiments.stress.work import CellResult, Plan, Work
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InvariantError, ShadowvizError

HAND_ON_S = 0.2
"""Results are handed on this often: what an interrupt loses at most."""
MOST_CELLS = 512
"""Results in one message."""
MAX_DETAIL = 400
"""Characters of a detail: it may quote a foreign derivation."""


def serve() -> None:
    """Answer requests from stdin on stdout; nothing else that runs here can write there or read from it."""
    requests, replies = claimed_streams()
    desk = Desk()
    with until_nobody_reads(replies):
        for line in requests:
            for reply in desk.answers(request_of(line)):
                replies.write(to_line(reply))
                replies.flush()


@contextmanager
def until_nobody_reads(replies: BinaryIO) -> Iterator[None]:
    """End quietly where the process that asked was ended: nobody is left to be told."""
    try:
        yield
    except BrokenPipeError:
        # Else what is left in the buffer is written once more at the end, and fails again.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, replies.fileno())
        os.close(nothing)


def claimed_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes of this process under new numbers; a derivation that prints then prints to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


class Desk:
    """Answers requests; keeps the work of the plan asked for last."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._work: Work | None = None

    def answers(self, request: Request) -> Iterator[Reply]:
        """All replies to one request; a failure is a reply too."""
        try:
            work = self._ready(request.asked)
            match request:
                case Prepare():
                    yield Ready(
                        plan=request.plan,
                        subject=work.subject,
                        geometry=work.geometry,
                        groups=tuple(work.groups()),
                        left_out=work.left_out,
                    )
                case Check():
                    yield from _results(request, work)
        except ShadowvizError as error:
            yield Failed(plan=request.plan, error=str(error), exit_code=error.exit_code)
        except Exception as error:
            # A defect, in the level or in the engine under test: its place matters to whoever mends it.
            traceback.print_exc(file=sys.stderr)
            yield Failed(plan=request.plan, error=_told(request, error), exit_code=InvariantError.exit_code)

    def _ready(self, plan: Plan) -> Work:
        if self._work is None or self._plan != plan:
            # The work before goes first: two models need not be in memory.
            self._plan = self._work = None
            self._plan, self._work = plan, work_of(plan)
        return self._work


def _results(request: Check, work: Work) -> Iterator[Reply]:
    cells: list[CellResult] = []
    due = monotonic() + HAND_ON_S
    for cell in work.check(request.group):
        cells.append(plain(cell))
        if len(cells) >= MOST_CELLS or monotonic() >= due:
            yield Results(plan=request.plan, cells=tuple(cells))
            cells.clear()
            due = monotonic() + HAND_ON_S
    if cells:
        yield Results(plan=request.plan, cells=tuple(cells))
    yield Checked(plan=request.plan)


def plain(cell: CellResult) -> CellResult:
    """The cell as JSON can hold it: a difference that is not a number is the largest there is, and said to be none."""
    changes: dict[str, float | str] = {}
    for name in ("difference", "noise"):
        if not isfinite(getattr(cell, name)):
            changes[name] = sys.float_info.max
            changes["detail"] = "not finite; " + cell.detail if cell.detail else "not finite"
    shown = shorten(str(changes.get("detail", cell.detail)), MAX_DETAIL)
    return msgspec.structs.replace(cell, **changes | {"detail": shown}) if changes or shown != cell.detail else cell


def _told(request: Request, error: Exception) -> str:
    where = f"{request.asked.level} of {request.asked.subject}"
    if isinstance(request, Check):
        where += f", {span_of(request.group)}"
    return f"{where} failed: {type(error).__name__}: {error}"
