"""Pages in use, counted one by one or by the stretch, also where a log names a slot of any number."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import walked
from tui_logs import write_log

from shadowviz.tui import pool_fill
from shadowviz.tui.frame import PoolFill
from shadowviz.tui.pool_fill import pool_fills
from shadowviz.tui.session import Session
from shadowviz_engine.core.events import LogOpened, RequestSubmitted, SlotRun, SlotsTaken
from shadowviz_engine.core.holdings import LIMIT
from shadowviz_engine.core.presets import preset

RUNS = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 30)), max_size=8)


def slots(runs):
    return tuple(np.array([run[part] for run in runs], dtype=np.int64) for part in (0, 1))


@given(tree=RUNS, other=RUNS, held=RUNS, page=st.sampled_from((1, 4, 16)), far=st.sampled_from((0, 10**12)))
@settings(max_examples=150, deadline=None)
def test_both_ways_of_counting_pages_are_that_of_a_hand(tree, other, held, page, far):
    # What is far away has pages of its own, whose number does not depend on how far.
    runs = [[(slot + far * page * (place % 2), length) for place, (slot, length) in enumerate(one)]
            for one in (tree, other, held)]  # fmt: skip
    free, locked, held = (
        {page_of for slot, length in one for page_of in range(slot // page, (slot + length - 1) // page + 1)}
        for one in runs
    )
    chunks = [(*slots(run), np.full(len(run), is_locked)) for run, is_locked in zip(runs, (False, True), strict=False)]
    highest = max((slot + length for run in runs[:2] for slot, length in run), default=0)
    found = pool_fill._used(chunks, slots(runs[2]), page, highest // page + 1)
    assert found == pool_fill._Used(len(free | locked | held), len(locked), len(held - free - locked))


@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_nodes_counted_a_few_at_a_time_are_those_counted_at_once(chunk, monkeypatch):
    state = walked(3, 60)[1]
    expected = pool_fills(state)
    assert expected[0].used > 0
    monkeypatch.setattr(pool_fill, "CHUNK", chunk)
    assert pool_fills(state) == expected


def test_the_highest_slots_take_no_memory(tmp_path):
    geometry = preset("gemma3")
    assert geometry.page_size == 1
    far = [SlotRun(0, 300, LIMIT - 301), SlotRun(300, LIMIT // 4, 0)]
    events = [
        LogOpened(seq=0, t_ns=0, schema=1, geometry=geometry, num_full_pages=10),
        RequestSubmitted(seq=1, t_ns=0, request="a", tokens=b"\1\0\0\0"),
        SlotsTaken(seq=2, t_ns=0, request="a", pool="full", runs=tuple(far)),
    ]
    session = Session(write_log(tmp_path / "run.jsonl", events, closed=False))
    tracemalloc.start()
    session.settle()
    fills = pool_fills(session.state)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    session.close()
    page = geometry.page_size
    pages = [range(slot // page, (slot + stop - start - 1) // page + 1) for start, stop, slot in far]
    held = sum(map(len, pages))
    assert fills[0] == PoolFill(pool="full", num_pages=10, used=held, locked=0, held=held)
    assert peak < 50_000_000


@pytest.mark.parametrize("dense", [0, 2**22])
def test_no_runs_are_no_pages(monkeypatch, dense):
    monkeypatch.setattr(pool_fill, "MAX_DENSE", dense)
    chunk = (*slots([]), np.zeros(0, dtype=bool))
    assert pool_fill._used([chunk], slots([]), 16, 1) == pool_fill._Used(0, 0, 0)
