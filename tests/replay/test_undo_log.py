"""The way back within a number of bytes: they are about those that it takes."""

import gc
import tracemalloc

from walked_logs import LoggedWalk

from shadowviz.replay.undo_log import UndoLog
from shadowviz_engine.core.events import StepDone
from shadowviz_engine.core.replayer import Replayer


def test_the_bytes_of_undo_records_are_about_those_that_go_when_they_are_forgotten() -> None:
    walk = LoggedWalk(3, 20).events()[:-1]
    steps = [StepDone(seq=len(walk) + at, t_ns=walk[-1].t_ns + at) for at in range(3_000)]
    tracemalloc.start()
    try:
        state, undo = Replayer(), UndoLog(2**30)
        for event in (*walk, *steps):
            undo.push(state.apply(event))
        told = undo.num_bytes
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        undo.clear()
        gc.collect()
        taken = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken > 1_000_000
    assert 0.8 < told / taken < 1.25
