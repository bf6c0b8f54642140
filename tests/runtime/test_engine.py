"""One request, or a few, through the engine."""

import pytest

from shadowviz_engine.core.errors import CapacityError, InputError, InvariantError
from shadowviz_engine.core.events import (
    LogClosed,
    LogOpened,
    LookupDone,
    NotStored,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    SpanInserted,
    StepDone,
)
from shadowviz_engine.core.snapshot import pack_ids, state_digest, unpack_ids
from shadowviz_engine.runtime.request import Request

PROMPT = tuple(range(100, 150))


def ask(name: str = "a", token_ids=PROMPT, max_tokens: int = 4, **changes: object) -> Request:
    return Request(id=name, token_ids=token_ids, max_tokens=max_tokens, **changes)


def events_of(sink, *kinds: type):
    return [event for event in sink.events if isinstance(event, kinds)]


def is_empty(engine) -> bool:
    return all(pool.free_pages == pool.num_pages for pool in engine.cache.pools())


def test_a_record_begins_with_the_engine_and_ends_with_the_digest(make_engine):
    engine, sink = make_engine(resume="any", retention="every:16", chunk_tokens=20)
    with engine:
        engine.submit(ask())
        engine.run()
        live = state_digest(engine.cache.node_states(), engine.cache.holder_states())
    assert [event.seq for event in sink.events] == list(range(len(sink.events)))
    opened, closed = sink.events[0], sink.events[-1]
    assert isinstance(opened, LogOpened)
    assert (opened.retention, opened.resume, opened.numerics) == ("every:16", "any", "exact")
    assert (opened.num_full_pages, opened.num_swa_pages, opened.geometry) == (40, 40, engine.model.geometry)
    assert isinstance(closed, LogClosed)
    assert (closed.count, closed.digest) == (len(sink.events) - 1, live)


def test_a_prompt_runs_in_chunks_then_one_token_a_pass(make_engine):
    engine, sink = make_engine(chunk_tokens=20)
    engine.submit(ask())
    engine.run()
    passes = [(event.prefill, event.decode) for event in events_of(sink, StepDone)]
    assert passes == [
        ((("a", 0, 16),), ()),
        ((("a", 16, 32),), ()),
        ((("a", 32, 50),), ()),
        ((), ("a",)),
        ((), ("a",)),
        ((), ("a",)),
    ]
    output = engine.outputs["a"]
    assert len(output.token_ids) == 4
    assert output.reason == "length"
    (finished,) = events_of(sink, RequestFinished)
    assert tuple(unpack_ids(finished.tokens)) == output.token_ids
    (submitted,) = events_of(sink, RequestSubmitted)
    assert submitted.tokens == pack_ids(PROMPT)
    assert submitted.text is None


def test_the_output_is_on_record_before_it_is_stored(make_engine):
    engine, sink = make_engine()
    engine.submit(ask())
    engine.run()
    finished = next(event.seq for event in events_of(sink, RequestFinished))
    prompt, output = events_of(sink, SpanInserted)
    assert prompt.stop == len(PROMPT)
    assert prompt.seq < finished < output.seq
    # The state of the last generated token is never computed.
    assert (output.start, output.stop) == (len(PROMPT), len(PROMPT) + 3)


def test_one_token_needs_no_decoding_and_leaves_the_prompt_alone_in_the_tree(make_engine):
    engine, sink = make_engine()
    engine.submit(ask(max_tokens=1))
    engine.run()
    assert [(span.start, span.stop) for span in events_of(sink, SpanInserted)] == [(0, len(PROMPT))]
    assert [event.decode for event in events_of(sink, StepDone)] == [()]


def test_a_stop_id_ends_the_output_and_is_its_last_token(make_engine):
    engine, _ = make_engine()
    engine.submit(ask("free", max_tokens=6))
    engine.run()
    free = engine.outputs["free"].token_ids
    engine.submit(ask("stopped", max_tokens=6, stop_ids=(free[2],)))
    engine.run()
    stopped = engine.outputs["stopped"]
    assert stopped.reason == "stop"
    assert stopped.token_ids == free[: free.index(free[2]) + 1]


def test_an_identical_prompt_reuses_all_but_its_last_token_under_any(make_engine):
    engine, _ = make_engine(resume="any", retention="window")
    for name in ("first", "again"):
        engine.submit(ask(name))
        engine.run()
    assert engine.outputs["again"].lookup.reused == len(PROMPT) - 1
    assert engine.outputs["again"].token_ids == engine.outputs["first"].token_ids


def test_a_window_kept_one_row_short_costs_the_reuse_that_retention_promised(make_engine):
    engine, _ = make_engine(resume="any", retention="window", faults=("window_off_by_one",))
    for name in ("first", "again"):
        engine.submit(ask(name))
        engine.run()
    assert engine.outputs["again"].lookup.reused < len(PROMPT) - 1
    assert engine.outputs["again"].token_ids == engine.outputs["first"].token_ids


def test_two_identical_prompts_in_one_pass_are_both_computed_and_the_second_is_told_why(make_engine):
    engine, sink = make_engine(chunk_tokens=200)
    engine.submit(ask("a"))
    engine.submit(ask("b"))
    engine.run()
    first, second = events_of(sink, LookupDone)
    assert first.in_flight is None
    assert (second.in_flight.request, second.in_flight.common, second.reused) == ("a", len(PROMPT), 0)
    assert engine.outputs["a"].token_ids == engine.outputs["b"].token_ids


def test_without_the_cache_nothing_is_reused_or_stored(make_engine):
    engine, sink = make_engine(cache_on=False)
    for name in ("a", "b"):
        engine.submit(ask(name))
        engine.run()
    assert [event.reused for event in events_of(sink, LookupDone)] == [0, 0]
    assert {event.reason for event in events_of(sink, NotStored)} == {"off"}
    assert not events_of(sink, SpanInserted)
    assert is_empty(engine)


def test_a_namespace_is_a_cache_of_its_own(make_engine):
    engine, _ = make_engine(resume="any")
    for name, namespace in (("a", ""), ("b", "tenant"), ("c", "tenant")):
        engine.submit(ask(name, namespace=namespace))
        engine.run()
    assert [engine.outputs[name].lookup.reused for name in "abc"] == [0, 0, len(PROMPT) - 1]
    assert engine.outputs["b"].lookup.namespace.common == len(PROMPT)


def test_times_run_from_submission_by_the_given_clock(make_engine, clock):
    engine, sink = make_engine()
    engine.submit(ask(max_tokens=3))
    clock.advance(2.0)
    engine.step()
    for _ in range(2):
        clock.advance(0.5)
        engine.step()
    output = engine.outputs["a"]
    assert (output.ttft_ns, output.decode_ns) == (2_000_000_000, 1_000_000_000)
    (finished,) = events_of(sink, RequestFinished)
    assert (finished.ttft_ns, finished.decode_ns) == (output.ttft_ns, output.decode_ns)
    assert finished.t_ns == 3_000_000_000


def test_an_idle_path_leaves_when_its_time_is_over(make_engine, clock):
    engine, _ = make_engine(idle_ttl_s=10.0, resume="any")
    engine.submit(ask())
    engine.run()
    clock.advance(9.0)
    engine.step()
    assert engine.probe(PROMPT).reused == len(PROMPT) - 1
    clock.advance(2.0)
    engine.step()
    assert engine.probe(PROMPT).reused == 0
    assert engine.probe(PROMPT).left.reason == "ttl"


def test_a_probe_says_what_a_prompt_would_reuse_and_leaves_no_trace(make_engine):
    engine, sink = make_engine(resume="any")
    engine.submit(ask())
    engine.run()
    before = len(sink.events)
    found = engine.probe([*PROMPT[:30], 1, 2, 3])
    assert (found.common, found.reused) == (30, 30)
    assert len(sink.events) == before


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_same_seed_gives_the_same_output_alone_and_in_a_batch(make_engine, temperature):
    switches = {"temperature": temperature, "top_p": 0.9, "seed": 5, "max_tokens": 8}
    alone, _ = make_engine()
    alone.submit(ask(**switches))
    alone.run()
    batch, _ = make_engine(chunk_tokens=17)
    for name, start in (("x", 3), ("a", 100), ("y", 250)):
        batch.submit(ask(name, tuple(range(start, start + 50)), **switches))
    batch.run()
    assert batch.outputs["a"].token_ids == alone.outputs["a"].token_ids


def test_another_seed_gives_another_output(make_engine):
    engine, _ = make_engine()
    for seed in range(4):
        engine.submit(ask(str(seed), temperature=2.0, seed=seed, max_tokens=8))
    engine.run()
    assert len({output.token_ids for output in engine.outputs.values()}) == 4


@pytest.mark.parametrize("passes", [0, 1, 2, 3, 5])
def test_after_an_abort_nothing_is_held(make_engine, passes):
    """Queued (0 passes), in mid-prefill (1, 2), at the end of the prompt (3), decoding (5)."""
    engine, sink = make_engine(chunk_tokens=20)
    engine.submit(ask(max_tokens=9))
    for _ in range(passes):
        engine.step()
    engine.abort("a", "client")
    engine.cache.check_invariants()
    assert not list(engine.cache.holder_states())
    (aborted,) = events_of(sink, RequestAborted)
    assert (aborted.reason, aborted.computed) == ("client", (0, 16, 32, 50, 52)[(0, 1, 2, 3, 5).index(passes)])
    output = engine.outputs["a"]
    assert output.aborted
    assert len(output.token_ids) == max(0, passes - 2)
    assert not engine.step()
    engine.flush()
    assert is_empty(engine)


def test_aborting_twice_or_after_the_end_does_nothing_but_an_unknown_id_is_refused(make_engine):
    engine, sink = make_engine()
    engine.submit(ask("a"))
    engine.abort("a")
    engine.submit(ask("b"))
    engine.run()
    before = len(sink.events)
    engine.abort("a")
    engine.abort("b")
    assert len(sink.events) == before
    with pytest.raises(InputError, match="'c' is unknown"):
        engine.abort("c")


def test_closing_aborts_what_is_left_and_takes_nothing_more(make_engine):
    engine, sink = make_engine(chunk_tokens=20)
    engine.submit(ask("running"))
    engine.step()
    engine.submit(ask("queued"))
    engine.close()
    engine.close()
    assert [event.reason for event in events_of(sink, RequestAborted)] == ["closed", "closed"]
    assert isinstance(sink.events[-1], LogClosed)
    for call in (engine.step, engine.flush, lambda: engine.submit(ask("late")), lambda: engine.abort("queued")):
        with pytest.raises(InputError, match="is closed"):
            call()


def test_a_request_that_cannot_run_is_refused_and_leaves_no_trace(make_engine):
    engine, sink = make_engine()
    engine.submit(ask("a"))
    before = len(sink.events)
    for wrong, words in (
        (ask("a"), "'a' was submitted before"),
        (ask("b", ()), "empty prompt"),
        (ask("c", (1, 512)), "token id 512"),
        (ask("d", max_tokens=0), "max_tokens must be at least 1"),
        (ask("e", max_tokens=500), "the model has 512 positions"),
    ):
        with pytest.raises(InputError, match=words):
            engine.submit(wrong)
    assert len(sink.events) == before
    engine.run()
    with pytest.raises(InputError, match="'a' was submitted before"):
        engine.submit(ask("a"))


def test_a_request_that_can_never_fit_is_refused_at_once_with_the_bytes_it_takes(make_engine):
    engine, sink = make_engine(num_full_pages=4, num_swa_pages=4)
    with pytest.raises(CapacityError) as refusal:
        engine.submit(ask(max_tokens=16))
    words = str(refusal.value)
    assert words.startswith(
        "request 'a' can never fit: it needs 5 pages of 16 tokens, the full pool has 4; give --pool-bytes "
    )
    assert len(sink.events) == 1
    engine.submit(ask("b", max_tokens=15))
    engine.run()
    larger, _ = make_engine(pool_bytes=int(words.split()[-3]))
    larger.submit(ask(max_tokens=16))
    larger.run()
    assert larger.outputs["a"].token_ids[:15] == engine.outputs["b"].token_ids


def test_a_failed_pass_is_raised_and_leaves_a_record_without_an_end(make_engine):
    engine, sink = make_engine()
    engine.submit(ask())
    engine.step()
    for label, layer in engine._runner.buffers.keys:
        engine._runner.buffers.rows(label, layer).fill_(float("nan"))
    with pytest.raises(InvariantError, match="request 'a' has logit nan"):
        engine.run()
    with pytest.raises(InputError, match="failed in a pass"):
        engine.submit(ask("b"))
    engine.close()
    assert not events_of(sink, LogClosed)
    assert [event.seq for event in sink.events] == list(range(len(sink.events)))


def test_prompt_text_is_on_record_only_when_it_is_given(make_engine):
    engine, sink = make_engine()
    engine.submit(ask("a", text="hello"))
    engine.submit(ask("b"))
    assert [event.text for event in events_of(sink, RequestSubmitted)] == ["hello", None]
