"""The process of blind runs: it draws a fault, or in a third of the runs none, and keeps it to itself until asked."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import IO

import msgspec

from shadowviz.experiments.stress.blind_wire import Done, Go, Verdict, receive, send, send_logits, send_rows
from shadowviz.experiments.stress.compare import part_of
from shadowviz.experiments.stress.fault_runs import options_with, request_at, scene_of, stop_of, store_paths
from shadowviz.experiments.stress.fault_verdicts import Truth, truth_of
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.worker import claimed_streams, until_nobody_reads
from shadowviz_engine.core.errors import ShadowvizError
from shadowviz_engine.core.events import FaultInjected, LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.model.fault_forms import Fault, RowFault
from shadowviz_engine.model.faults import PlacedFault, faults_of, place_fault
from shadowviz_engine.model.trace import Traced
from shadowviz_engine.runtime.engine import Engine


def serve() -> None:
    """Answer on stdout what is asked on stdin; nothing else that runs here can write there."""
    asks, answers = claimed_streams()
    with until_nobody_reads(answers):
        _answer(asks, answers)


def _answer(asks: IO[bytes], answers: IO[bytes]) -> None:
    while isinstance(ask := receive(asks), Go):
        try:
            truth = run_one(ask, answers)
        except ShadowvizError as error:
            send(answers, Done(reused=-1, stop=-1, error=str(error)))
            answers.flush()
            sys.exit(error.exit_code)
        answers.flush()
        if not isinstance(receive(asks), Verdict):
            return
        answers.write(msgspec.json.encode(truth) + b"\n")
        answers.flush()


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

        def tell(requests: Sequence[str], traced: Traced) -> None:
            part = part_of(traced, [requests.index(request.id)])
            if len(part.rows):
                send_rows(answers, part)

        engine.watch(tell, lambda _request, start, logits: send_logits(answers, start, logits))
        engine.submit(request)
        engine.run()
    lookup = next(event for event in sink.events if isinstance(event, LookupDone) and event.request == request.id)
    send(answers, Done(reused=lookup.reused, stop=stop))
    if placed is None:
        return Truth()
    acted = [(event.layer, event.row) for event in sink.events if isinstance(event, FaultInjected) and event.request]
    return truth_of(placed.name, placed.fault, subject.geometry, ask.length, stop, acted[0] if acted else None)
