"""Blind runs: another process puts a fault in, or none, and says which only after the verdict."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Final

import msgspec

from shadowviz.experiments.stress.blind_wire import (
    Done,
    Go,
    Logits,
    Rows,
    Verdict,
    receive,
    receive_floats,
    receive_rows,
    send,
)
from shadowviz.experiments.stress.cold_runs import ColdRun
from shadowviz.experiments.stress.compare import (
    NO_LOGITS,
    Difference,
    LogitsDifference,
    compare_logits,
    first_differences,
)
from shadowviz.experiments.stress.fault_plays import another_length, cold_of_script
from shadowviz.experiments.stress.fault_runs import Scene, scene_of, stop_of
from shadowviz.experiments.stress.fault_scenes import Script, drawn_scene, script_of
from shadowviz.experiments.stress.fault_verdicts import Sighting, Truth, sharpened, verdict
from shadowviz.experiments.stress.subject_runs import Subject
from shadowviz.experiments.stress.work import CellResult, Group
from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.model.faults import faults_of

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from shadowviz.experiments.stress.blind_child import serve; serve()"
)
MakeCold = Callable[[Scene, int], ColdRun]


def check_blind(subject: Subject, seed: int, group: Group, cold_of: MakeCold) -> Iterator[CellResult]:
    """Results of a group of blind runs; each is judged before it is known what had been put in.

    Raises:
        InvariantError: the other process ends or says something else than it should.
    """
    faults = faults_of(subject.geometry)
    stops = [stop_of(subject, fault, length) for fault in faults for length in group.lengths]
    scene = scene_of(subject, max(stops), seed)
    cold = cold_of(scene, group.lengths[0])
    with _other_process() as (asks, answers):
        for length in group.lengths:
            name = drawn_scene(seed, group.mode, length)
            script = script_of(name, subject, seed, length) if name else None
            expected = cold if script is None else cold_of_script(script, subject, cold, length)
            try:
                send(asks, Go(subject=subject.name, seed=seed, mode=group.mode, length=length))
                asks.flush()
                seen, stop = _look(answers, expected, length, script)
                send(asks, _told(seen))
                asks.flush()
                truth = msgspec.json.decode(answers.readline(), type=Truth)
            except (msgspec.DecodeError, OSError) as error:
                raise InvariantError(f"a blind run at {length} said what cannot be read: {error}") from error
            if script is None:
                truth = sharpened(truth, subject.geometry, length, stop, cold)
            yield verdict(group.mode, length, seen, truth)


def _look(answers: IO[bytes], cold: ColdRun, length: int, script: Script | None) -> tuple[Sighting, int]:
    """Compare what a run sends with the cold run, as it comes; what was seen, and where the run stopped."""
    expected = length if script is None else script.reused
    difference: Difference | None = None
    logits = NO_LOGITS
    turn = 0
    while True:
        match receive(answers):
            case Rows() as head:
                traced = receive_rows(answers, head)
                found = first_differences([traced], {0: cold}, first_turn=turn).get(0)
                turn += 1
                if found is not None and (difference is None or found.order < difference.order):
                    difference = found
            case Logits() as head:
                skipped = max(0, cold.first_logit - head.start)
                values = receive_floats(answers, head.shape)[skipped:]
                more = compare_logits(values, head.start + skipped, cold) if len(values) else NO_LOGITS
                first = more.position if logits.position < 0 else logits.position
                logits = LogitsDifference(first, max(logits.largest, more.largest))
            # Only in a scene is it something to be seen that a run goes on elsewhere.
            case Done() as done if not done.error and (done.reused == expected or script is not None):
                reused = "" if done.refused else another_length(done.reused, expected)
                return Sighting(difference, logits, reused, done.books, done.refused), done.stop
            case other:
                raise InvariantError(f"a blind run at {length} did not go on at {expected}: {other}")


def _told(seen: Sighting) -> Verdict:
    found = seen.difference
    if found is None:
        return Verdict(differs=seen.anything, kind="", layer=-1, row=-1)
    return Verdict(differs=True, kind=found.kind, layer=found.layer, row=found.row)


@contextmanager
def _other_process() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Pipes to and from a process that draws faults; it ends with the context."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, json.dumps(sys.path)]
    process = subprocess.Popen(  # noqa: S603 - the program is written out above
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()
