"""Random workloads: with the cache on every output equals the cache-off run, and the bookkeeping adds up throughout."""

import random
from collections import Counter
from itertools import product

import pytest

from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.core.errors import ShadowvizError
from shadowviz_engine.core.events import LogClosed, LookupDone
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.core.snapshot import state_digest
from shadowviz_engine.runtime.assembly import EngineModel
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.injection import PASS_FAULTS
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

RETENTIONS = ("all", "window", "every:24", "forks")
RESUMES = ("page", "any")
PAGE = 16
MOST_TOKENS = 150
NUM_SEEDS = 2
NUM_SEEDS_LONG = 20
NUM_ACTIONS = 45


class Workload:
    """An engine under random actions, checked after each."""

    def __init__(self, seed: int, model: EngineModel, clock, **switches: object) -> None:
        self.random = random.Random(seed)
        self.clock = clock
        self.sink = MemorySink()
        full = self.random.choice((10, 10, 11, 12, 14, 18, 40))
        options = EngineOptions(
            numerics="exact",
            num_full_pages=full,
            num_swa_pages=self.random.randint(3, full),
            chunk_tokens=self.random.choice((7, 16, 40, 200)),
            max_running=self.random.choice((2, 4, 8)),
            idle_ttl_s=self.random.choice((0.0, 0.0, 30.0)),
            match_mode=self.random.choice(("partial", "partial", "classic")),
            policy=self.random.choice(("lru", "lfu", "fifo")),
            ghost_entries=self.random.choice((1, 8, 65536)),
            **switches,
        )
        self.engine = Engine(options, self.sink, clock, model)
        self.requests: dict[str, Request] = {}
        self.paths: list[tuple[int, ...]] = []

    def act(self) -> None:
        """One random action, then the check of every invariant."""
        choice = self.random.random()
        if choice < 0.3:
            for _ in range(self.random.choice((1, 1, 3))):
                self.submit()
        elif choice < 0.35 and self.requests.keys() - self.engine.outputs.keys():
            self.engine.abort(self.random.choice([name for name in self.requests if name not in self.engine.outputs]))
        elif choice < 0.40:
            self.clock.advance(self.random.choice((1.0, 40.0)))
        elif choice < 0.405:
            self.engine.flush()
        else:
            self.engine.step()
        self.engine.cache.check_invariants()

    def submit(self) -> None:
        """A prompt that may share a prefix with an earlier one, cut anywhere, or go on from an earlier answer."""
        request = Request(
            id=str(len(self.requests)),
            token_ids=self.prompt(),
            max_tokens=self.random.choice((1, 2, 6, 20)),
            namespace=self.random.choice(("", "", "", "other")),
            temperature=self.random.choice((0.0, 0.0, 0.9)),
            seed=self.random.randrange(2),
            stop_ids=self.random.choice(((), (), (3, 154))),
        )
        self.requests[request.id] = request
        self.engine.submit(request)

    def prompt(self) -> tuple[int, ...]:
        kept: tuple[int, ...] = ()
        if self.paths and self.random.random() < 0.9:
            path = self.random.choice(self.paths)
            kept = path[: self.random.choice((len(path), self.random.randint(0, len(path))))]
        fresh = self.random.choice((0, 1, self.random.randint(1, 30), self.random.randint(1, 80)))
        ids = (*kept, *(self.random.randrange(512) for _ in range(fresh)))[: MOST_TOKENS - 20] or (5,)
        self.paths = [*self.paths[-5:], ids]
        return ids

    def drain(self) -> None:
        """Run what is left; what was answered becomes the stem of later prompts."""
        while self.engine.step():
            self.engine.cache.check_invariants()
        for name, output in self.engine.outputs.items():
            if not output.aborted and self.random.random() < 0.2:
                self.paths.append((*self.requests[name].token_ids, *output.token_ids))


def run_workload(seed: int, model: EngineModel, oracle, clock, num_actions: int, **switches: object) -> Workload:
    """Act, drain, compare every output, and leave the pools empty and the record equal to the state."""
    work = Workload(seed, model, clock, **switches)
    for _ in range(3):
        for _ in range(num_actions // 3):
            work.act()
        work.drain()
    for name, output in work.engine.outputs.items():
        right = oracle.output(work.requests[name])
        assert output.token_ids == (right[: len(output.token_ids)] if output.aborted else right), f"request {name}"
    check_record(work.sink, work.engine)
    work.engine.flush()
    work.engine.cache.check_invariants()
    assert all(pool.free_pages == pool.num_pages for pool in work.engine.cache.pools())
    assert not work.engine.cache.full_to_swa.any()
    work.engine.close()
    check_closed(work.sink)
    return work


def check_record(sink: MemorySink, engine: Engine) -> None:
    """The replayed state is the live state, here with everything still in the tree."""
    assert replayed(sink).digest() == state_digest(engine.cache.node_states(), engine.cache.holder_states())


def check_closed(sink: MemorySink) -> None:
    closed = sink.events[-1]
    assert isinstance(closed, LogClosed)
    assert replayed(sink).digest() == closed.digest


def replayed(sink: MemorySink) -> Replayer:
    replayer = Replayer()
    for event in sink.events:
        replayer.apply(event)
    return replayer


@pytest.mark.parametrize("resume", RESUMES)
@pytest.mark.parametrize("retention", RETENTIONS)
@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_the_cache_changes_no_output_and_its_books_balance(small_model, oracle, clock, resume, retention, seed):
    work = run_workload(seed, small_model, oracle, clock, NUM_ACTIONS, resume=resume, retention=retention)
    assert work.engine.outputs.keys() == work.requests.keys()


@pytest.mark.slow
@pytest.mark.parametrize("resume", RESUMES)
@pytest.mark.parametrize("retention", RETENTIONS)
@pytest.mark.parametrize("seed", range(NUM_SEEDS, NUM_SEEDS_LONG))
def test_the_cache_changes_no_output_over_long_workloads(small_model, oracle, clock, resume, retention, seed):
    work = run_workload(seed, small_model, oracle, clock, 4 * NUM_ACTIONS, resume=resume, retention=retention)
    assert work.engine.outputs.keys() == work.requests.keys()


def test_workloads_meet_everything_that_the_cache_and_the_scheduler_do(small_model, oracle, clock):
    """A workload that never waits, evicts or starts again would prove little."""
    met: Counter[str] = Counter()
    for seed, (resume, retention) in enumerate(product(RESUMES, ("all", "window"))):
        work = run_workload(100 + seed, small_model, oracle, clock, 60, resume=resume, retention=retention)
        for event in work.sink.events:
            reason = getattr(event, "reason", "")
            met[f"{type(event).__name__} {reason}".strip()] += 1
            if isinstance(event, LookupDone):
                met["reuse"] += event.reused > 0
                met["reuse within a page"] += event.reused % PAGE > 0
                met["cut by a kind"] += bool(event.kinds)
                met["in flight"] += event.in_flight is not None
    wanted = {
        *("RequestWaited", "NotStored retracted", "RequestAborted client", "SpanSplit", "SwaPublished"),
        *("SwaFreed pressure", "SpanEvicted flush", "SpanEvicted ttl", "CacheFlushed", "RequestFinished stop"),
        *("reuse", "reuse within a page", "cut by a kind", "in flight"),
    }
    assert not {name for name in wanted if not met[name]}


def run_faulty_workloads(fault: str, model: EngineModel, oracle, clock) -> None:
    for seed, resume, retention in product(range(4), RESUMES, ("window", "all")):
        switches = {"resume": resume, "retention": retention, "faults": (fault,)}
        run_workload(seed, model, oracle, clock, NUM_ACTIONS, **switches)


RARE = {"window_off_by_one", "abort_published"}
"""Faults that few random actions provoke; `test_book_faults` provokes them."""


@pytest.mark.parametrize("fault", sorted((FAULTS | PASS_FAULTS).keys() - RARE))
def test_every_fault_that_breaks_the_books_is_caught_by_a_workload(small_model, oracle, clock, fault):
    """Whatever check finds it: an invariant, the model's demand for its rows, a wrong token, the pools, the record."""
    with pytest.raises((AssertionError, ShadowvizError)):
        run_faulty_workloads(fault, small_model, oracle, clock)
