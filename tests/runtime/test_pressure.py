"""Small pools: who waits, who gives way, and that everybody gets the right output in the end."""

from collections import Counter

import pytest

from shadowviz_engine.core.events import (
    LookupDone,
    RequestAborted,
    RequestFinished,
    RequestWaited,
    SpanEvicted,
    StepDone,
)
from shadowviz_engine.core.sinks import NullSink
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

PROMPTS = {name: tuple((7 * i + 40 * n) % 512 for i in range(30)) for n, name in enumerate("abcdef")}


def ask(name: str, max_tokens: int = 4) -> Request:
    return Request(id=name, token_ids=PROMPTS[name], max_tokens=max_tokens)


def events_of(sink, kind: type):
    return [event for event in sink.events if isinstance(event, kind)]


@pytest.fixture(scope="module")
def twelve_alone(small_model):
    """Twelve tokens for every prompt, each run by itself and without a cache."""
    options = EngineOptions(numerics="exact", cache_on=False, num_full_pages=4, num_swa_pages=4, max_running=1)
    with Engine(options, NullSink(), model=small_model) as engine:
        for name in PROMPTS:
            engine.submit(ask(name, 12))
        engine.run()
    return {name: output.token_ids for name, output in engine.outputs.items()}


def run_all(engine, most_passes: int = 2000) -> None:
    for _ in range(most_passes):
        more = engine.step()
        engine.cache.check_invariants()
        if not more:
            return
    pytest.fail(f"still running after {most_passes} passes")


def test_a_full_pool_makes_the_next_wait_and_says_so_once(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "ab":
        engine.submit(ask(name, max_tokens=3))
    engine.submit(ask("c", max_tokens=2))
    run_all(engine)
    waits = [(event.request, event.pool) for event in events_of(sink, RequestWaited)]
    assert waits == [("c", "full")]
    # Nobody overtakes: `c` would have fitted beside the others only after one of them ended.
    assert [event.request for event in events_of(sink, LookupDone)] == ["a", "b", "c"]
    ended = {event.request: event.seq for event in events_of(sink, RequestFinished)}
    started = {event.request: event.seq for event in events_of(sink, LookupDone)}
    assert started["c"] > min(ended["a"], ended["b"])


def test_at_most_max_running_requests_share_a_pass(make_engine):
    engine, sink = make_engine(max_running=2)
    for name in PROMPTS:
        engine.submit(ask(name))
    run_all(engine)
    assert max(len(event.prefill) + len(event.decode) for event in events_of(sink, StepDone)) == 2
    assert not events_of(sink, RequestWaited)


def test_when_none_can_go_on_the_youngest_starts_again_and_its_output_is_unchanged(make_engine, twelve_alone):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "ab":
        engine.submit(ask(name, max_tokens=12))
    run_all(engine)
    assert [event.request for event in events_of(sink, LookupDone)] == ["a", "b", "b"]
    assert [event.request for event in events_of(sink, RequestWaited)] == ["b"]
    finished = [event.request for event in events_of(sink, RequestFinished)]
    assert finished == ["a", "b"]
    assert {name: engine.outputs[name].token_ids for name in "ab"} == {name: twelve_alone[name] for name in "ab"}


def test_one_that_gave_way_starts_before_those_submitted_after_it(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "abc":
        engine.submit(ask(name, max_tokens=12))
    run_all(engine)
    assert [event.request for event in events_of(sink, LookupDone)][:3] == ["a", "b", "b"]
    assert list(engine.outputs) == ["a", "b", "c"]


def test_once_another_has_ended_requests_run_side_by_side_again(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "ab":
        engine.submit(ask(name, max_tokens=12))
    run_all(engine)
    engine.flush()
    before = len(sink.events)
    for name in "cd":
        engine.submit(ask(name, max_tokens=2))
    run_all(engine)
    first = next(event for event in sink.events[before:] if isinstance(event, StepDone))
    assert [name for name, _, _ in first.prefill] == ["c", "d"]


def test_one_that_gave_way_and_is_aborted_in_the_queue_has_computed_nothing(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "ab":
        engine.submit(ask(name, max_tokens=12))
    while not events_of(sink, RequestWaited):
        engine.step()
    engine.abort("b")
    (aborted,) = events_of(sink, RequestAborted)
    assert (aborted.request, aborted.computed) == ("b", 0)
    assert engine.outputs["b"].token_ids == ()


def test_a_prompt_alone_in_a_pool_that_holds_no_whole_chunk_runs_page_by_page(make_engine):
    engine, sink = make_engine(num_full_pages=5, num_swa_pages=2, chunk_tokens=512)
    prompt = tuple(range(70))
    engine.submit(Request(id="a", token_ids=prompt, max_tokens=5))
    run_all(engine)
    chunks = [event.prefill[0][1:] for event in events_of(sink, StepDone) if event.prefill]
    assert chunks == [(0, 16), (16, 32), (32, 48), (48, 64), (64, 70)]
    assert not events_of(sink, RequestWaited)


def test_a_request_that_started_again_keeps_the_time_of_its_first_token(make_engine, clock):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "ab":
        engine.submit(ask(name, max_tokens=12))
    more = True
    while more:
        clock.advance(1.0)
        more = engine.step()
    assert [engine.outputs[name].ttft_ns for name in "ab"] == [1_000_000_000, 1_000_000_000]
    first, _ = (event for event in events_of(sink, LookupDone) if event.request == "b")
    assert engine.outputs["b"].lookup == first
    assert engine.outputs["b"].decode_ns > 11_000_000_000


@pytest.mark.parametrize(
    ("full", "swa", "chunk_tokens"), [(3, 2, 512), (3, 3, 5), (4, 2, 24), (5, 4, 16), (8, 3, 5), (8, 3, 512)]
)
def test_the_smallest_pools_serve_everybody_in_the_end(make_engine, twelve_alone, full, swa, chunk_tokens):
    engine, sink = make_engine(num_full_pages=full, num_swa_pages=swa, chunk_tokens=chunk_tokens, resume="any")
    for name in PROMPTS:
        engine.submit(ask(name, max_tokens=12))
    run_all(engine)
    assert {name: output.token_ids for name, output in engine.outputs.items()} == twelve_alone
    per_wait = Counter(event.request for event in events_of(sink, RequestWaited))
    starts = Counter(event.request for event in events_of(sink, LookupDone))
    assert all(per_wait[name] <= starts[name] for name in PROMPTS)
    engine.flush()
    assert all(pool.free_pages == pool.num_pages for pool in engine.cache.pools())


def test_a_path_that_holds_more_pages_than_its_length_is_given_up_for_the_request_that_needs_them(make_engine):
    """Forks inside a page: each branch takes a page at the same offset, and the whole path is locked."""
    engine, sink = make_engine(num_full_pages=6, num_swa_pages=6, resume="any")
    stem = tuple(range(200, 300))
    path: tuple[int, ...] = ()
    for number, length in enumerate((4, 8, 12, 14)):
        path = stem[:length]
        engine.submit(Request(id=f"fork {number}", token_ids=(*path, 500 + number), max_tokens=1))
        run_all(engine)
    assert engine.probe((*path, 1)).reused == 14
    long = (*path, *range(300, 300 + 80))
    engine.submit(Request(id="long", token_ids=long, max_tokens=2))
    run_all(engine)
    assert len(events_of(sink, SpanEvicted)) > 0
    alone, _ = make_engine(cache_on=False)
    alone.submit(Request(id="long", token_ids=long, max_tokens=2))
    alone.run()
    assert engine.outputs["long"].token_ids == alone.outputs["long"].token_ids


def test_aborting_those_that_run_lets_the_waiting_one_start(make_engine, twelve_alone):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "abc":
        engine.submit(ask(name, max_tokens=10))
    engine.step()
    engine.step()
    assert [event.request for event in events_of(sink, RequestWaited)] == ["c"]
    engine.abort("a")
    engine.abort("b")
    run_all(engine)
    assert engine.outputs["c"].token_ids == twelve_alone["c"][:10]


def test_an_aborted_waiting_request_never_starts(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    for name in "abc":
        engine.submit(ask(name, max_tokens=3))
    engine.step()
    engine.abort("c")
    run_all(engine)
    assert [event.request for event in events_of(sink, LookupDone)] == ["a", "b"]
    assert engine.outputs["c"].lookup is None
