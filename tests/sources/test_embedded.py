"""The embedded engine as a source of events: arrivals, order, and ends."""

from array import array

import pytest

from shadowviz.sources.embedded import INTERRUPTED, EmbeddedRun, engine_options
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs.requests import PromptRequest
from shadowviz.tokens.words import IdWords, TokenWords, words_of
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LogClosed, LogOpened, LookupDone, RequestAborted, RequestSubmitted, StepDone
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.sinks import MemorySink


def prompt(name: str, at_s: float = 0.0, max_tokens: int = 1) -> PromptRequest:
    return PromptRequest(name, array("q", range(10)), max_tokens, at_s=at_s)


def small() -> EmbeddedRun:
    return EmbeddedRun(engine_options({"model": "tiny-512", "max_running": 1}))


def test_requests_start_in_the_order_given() -> None:
    events = list(small().events([prompt("c"), prompt("a"), prompt("b")]))
    assert isinstance(events[0], LogOpened)
    assert [event.request for event in events if isinstance(event, LookupDone)] == ["c", "a", "b"]
    assert isinstance(events[-1], LogClosed)


def test_a_request_arrives_no_earlier_than_its_time() -> None:
    naps: list[float] = []
    events = list(small().events([prompt("late", at_s=0.4), prompt("now")], sleep=naps.append))
    arrivals = {event.request: event.t_ns for event in events if isinstance(event, RequestSubmitted)}
    assert list(arrivals) == ["now", "late"]
    assert arrivals["late"] >= 0.4e9
    assert naps
    assert max(naps) <= 0.05


def test_a_stopped_run_aborts_what_is_open_and_closes_the_record() -> None:
    sink = MemorySink()
    run = EmbeddedRun(engine_options({"model": "tiny-512"}), [sink])
    events = []
    for event in run.events([prompt("long", max_tokens=10_000), prompt("never", at_s=1e6)]):
        events.append(event)
        if isinstance(event, StepDone):
            run.stop()
    assert [(event.request, event.reason) for event in events if isinstance(event, RequestAborted)] == [
        ("long", INTERRUPTED)
    ]
    assert tuple(events) == sink.events
    replayer = Replayer()
    for event in events:
        replayer.apply(event)
    closed = events[-1]
    assert isinstance(closed, LogClosed)
    replayer.check_closed(closed)


def test_a_request_that_is_refused_leaves_the_run_unstarted() -> None:
    run = small()
    with pytest.raises(InputError):
        list(run.events([PromptRequest("bad", array("q", [900]))]))
    assert not run.started


def test_a_request_that_comes_later_is_refused_before_the_first_runs() -> None:
    sink = MemorySink()
    run = EmbeddedRun(engine_options({"model": "tiny-512"}), [sink])
    with pytest.raises(InputError, match="'bad' has token id 900"):
        list(run.events([prompt("good"), PromptRequest("bad", array("q", [900]), at_s=60.0)]))
    assert not run.started
    assert [type(event) for event in sink.events] == [LogOpened]


@pytest.mark.parametrize(("model", "named"), [("tiny", True), ("tiny-512", False)])
def test_the_record_names_the_tokenizer_where_the_model_knows_its_ids(model: str, named: bool) -> None:
    tokenizer = default_tokenizer()
    run = EmbeddedRun(engine_options({"model": model}), tokenizer=tokenizer)
    opened = next(run.events([prompt("a")]))
    assert isinstance(opened, LogOpened)
    assert opened.tokenizer_fingerprint == (tokenizer.fingerprint if named else "")
    assert isinstance(words_of(opened), TokenWords if named else IdWords)


def test_options_of_the_wrong_kind_are_named() -> None:
    with pytest.raises(InputError, match="resume"):
        engine_options({"resume": "sometimes"})
    with pytest.raises(InputError, match="page_size"):
        engine_options({"page_size": "many"})
