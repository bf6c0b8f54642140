"""The process of blind runs: it draws a fault, or in a third of the runs none, and keeps it to itself until asked."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import IO

import msgspec
from torch import Tensor

from shadowviz.experiments.stress.blind_wire import Done, Go, Verdict, receive, send, send_logits, send_rows
from shadowviz.experiments.stress.compare import part_of
from shadowviz.experiments.stress.fault_plays import broken_books, perform
from shadowviz.experiments.stress.fault_runs import options_with, request_at, scene_of, stop_of, store_paths
from shadowviz.experiments.stress.fault_scenes import drawn_scene, script_of
from shadowviz.experiments.stress.fault_traps import TRAP_FAULTS, TrapFault
from shadowviz.experiments.stress.fault_verdicts import Truth, truth_of
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.worker import claimed_streams, until_nobody_reads
from shadowviz_engine.core.errors import ShadowvizError
from shadowviz_engine.core.events import FaultInjected, LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.model.fault_forms import Fault, RowFault
from shadowviz_engine.model.faults import PlacedFault, faults_of, place_fault
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.trace import Traced
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.request import Request


def serve() -> None:
    """Answer on stdout what is asked on stdin; nothing else that runs here can write there."""
    asks, answers = claimed_streams()
    with until_nobody_reads(answers):
        _answer(asks, answers)


def _answer(asks: IO[bytes], answers: IO[bytes]) -> None:
    while isinstance(ask := receive(asks), Go):
        try:
            scene = drawn_scene(ask.seed, ask.mode, ask.length)
            truth = run_scene(ask, scene, answers) if scene else run_one(ask, answers)
        except ShadowvizError as error:
            send(answers, Done(reused=-1, stop=-1, error=str(error)))
            answers.flush()
            sys.exit(error.exit_code)
        answers.flush()
        if not isinstance(receive(asks), Verdict):
            return
        answers.write(msgspec.json.encode(truth) + b"\n")
        answers.flush()


def draw_trap(ask: Go, scene: str, geometry: Geometry) -> TrapFault | None:
    """The fault of a scene, the same for the same numbers; None = no fault."""
    chance = random.Random(f"blind trap {ask.seed} {ask.mode} {ask.length}")
    there = [one for one in TRAP_FAULTS.values() if scene in one.scenes and not one.absent(geometry, ask.length)]
    return chance.choice(there) if there and chance.randrange(3) else None


def draw(geometry: Geometry, seed: int, mode: str, length: int) -> PlacedFault | None:
    """The fault of a run, the same for the same numbers; None = no fault."""
    chance = random.Random(f"blind fault {seed} {mode} {length}")
    if chance.randrange(3) == 0:
        return None
    fault: Fault = chance.choice([item for item in faults_of(geometry) if not item.reason_absent(geometry, length)])
    layers = geometry.kind(fault.kind).owners
    if isinstance(fault, RowFault) and chance.randrange(2):
        return place_fault(f"{fault.name}@{chance.choice(layers)}", geometry)
    return place_fault(fault.name, geometry)


def run_one(ask: Go, answers: IO[bytes]) -> Truth:
    """One run, sent as it goes; what had been put in."""
    subject = cached_subject(ask.subject)
    placed = draw(subject.geometry, ask.seed, ask.mode, ask.length)
    stop = stop_of(subject, None if placed is None else placed.fault, ask.length)
    scene = scene_of(subject, stop, ask.seed)
    sink = MemorySink()
    names = () if placed is None else (placed.name,)
    with Engine(options_with(scene.model, stop, names), sink, model=scene.model) as engine:
        store_paths(engine, scene)
        request = request_at(scene, ask.length, stop)
        _submit(engine, request, answers)
        engine.run()
    send(answers, Done(reused=_reused(sink, request), stop=stop))
    if placed is None:
        return Truth()
    acted = [(event.layer, event.row) for event in sink.events if isinstance(event, FaultInjected) and event.request]
    return truth_of(placed.name, placed.fault, subject.geometry, ask.length, stop, acted[0] if acted else None)


def run_scene(ask: Go, scene: str, answers: IO[bytes]) -> Truth:
    """One scene, of which the request that is looked at is sent as it goes; what had been put in."""
    subject = cached_subject(ask.subject)
    fault = draw_trap(ask, scene, subject.geometry)
    script = script_of(scene, subject, ask.seed, ask.length)
    sink = MemorySink()
    options = script.options(() if fault is None else (fault.name,))
    with Engine(options, sink, model=subject.model(Numerics.EXACT)) as engine:
        refused = perform(script, engine, lambda: _submit(engine, script.request, answers))
        books = broken_books(engine)
    stop = len(script.tokens)
    send(answers, Done(reused=_reused(sink, script.request), stop=stop, books=books, refused=refused))
    if fault is None:
        return Truth()
    return fault.truth(subject.geometry, ask.length, stop, subject.tokens(ask.length + 2, ask.seed))


def _submit(engine: Engine, request: Request, answers: IO[bytes]) -> None:
    """Submit a request, and send what is found, stored and read of it."""

    def tell(requests: Sequence[str], traced: Traced) -> None:
        if request.id not in requests:
            return
        part = part_of(traced, [requests.index(request.id)])
        if len(part.rows):
            send_rows(answers, part)

    def tell_logits(name: str, start: int, logits: Tensor) -> None:
        if name == request.id:
            send_logits(answers, start, logits)

    engine.watch(tell, tell_logits)
    engine.submit(request)


def _reused(sink: MemorySink, request: Request) -> int:
    """Length that a request went on from; -1 = it never started."""
    lookups = [one for one in sink.events if isinstance(one, LookupDone) and one.request == request.id]
    return lookups[0].reused if lookups else -1
