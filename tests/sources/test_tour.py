"""The tour: a script for the embedded engine that shows every verdict which it can give."""

from functools import cache

import pytest

from shadowviz.replay.explain import Explanation, explain_events
from shadowviz.sources.child_engine import ChildEngine
from shadowviz.sources.child_wire import Answer, Command
from shadowviz.sources.embedded import EmbeddedRun, engine_options
from shadowviz.sources.script import TOUR_OPTIONS, acts_of
from shadowviz.sources.states import EngineState
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.words import TokenWords, words_of
from shadowviz_engine.core.events import Event, LogOpened
from shadowviz_engine.core.kinds import Shape, needed_rows
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.core.verdict import Verdict

OTHER_SOURCES = {
    Verdict.GROUP_MIN,
    Verdict.WRONG_RANK,
    Verdict.TIER_NOT_READ,
    Verdict.HASH_SEED,
    Verdict.METRIC_WRONG,
}
"""What only an engine with KV groups, ranks, tiers or block hashes can give."""


@cache
def tour() -> tuple[tuple[Event, ...], tuple[Answer, ...]]:
    """Events and answers of the tour, without the waits between its steps."""
    tokenizer, sink = default_tokenizer(), MemorySink()
    run = EmbeddedRun(engine_options(TOUR_OPTIONS), [sink], tokenizer)
    engine = ChildEngine(run, tokenizer, sink, acts_of("tour", tokenizer))
    said: list[Answer] = []
    engine.serve(lambda idle_s: Command(id=1, do="stop") if idle_s else None, said.append)
    engine.close()
    return sink.events, tuple(said)


def explained() -> dict[str, Explanation]:
    events, _ = tour()
    opened = events[0]
    assert isinstance(opened, LogOpened)
    return {found.request: found for found in explain_events(events, words_of(opened))}


def test_every_verdict_that_can_happen_happens() -> None:
    given = {found.verdict.verdict for found in explained().values()}
    # See the test below: in this model's geometry no tail reaches further back than its window.
    assert given == set(Verdict) - OTHER_SOURCES - {Verdict.NO_STATE}


def test_in_the_model_of_the_tour_a_window_that_is_there_has_every_tail() -> None:
    events, _ = tour()
    opened = events[0]
    assert isinstance(opened, LogOpened)
    kinds = opened.geometry.kinds
    window = next(kind for kind in kinds if kind.shape is Shape.WINDOW)
    tails = [kind for kind in kinds if kind.shape is Shape.OPEN and kind.gates]
    assert tails
    for length in range(1, 2_000):
        assert all(needed_rows(tail, length).start >= needed_rows(window, length).start for tail in tails)


@pytest.mark.parametrize(
    ("request_id", "label"),
    [
        ("first-of-all", "COLD"),
        ("inbox-next", "FULL_HIT"),
        ("inbox-of-the-clerks", "OTHER_NAMESPACE"),
        ("short-again", "TOO_SHORT(128)"),
        ("review-again", "CAPPED(last token)"),
        ("order-again", "PAGE_ALIGNED(32)"),
        ("clock-08:14:39", "TOKENS_DIFFER(TIME)"),
        ("stop-the-line", "CUT_BY_SWA"),
        ("first-of-all-again", "EVICTED(lru)"),
        ("pupil-at-once", "IN_FLIGHT(pupil)"),
        ("asked-again", "NOT_STORED(abort)"),
        ("asked-after-flush", "NOT_STORED(flush)"),
        ("unlike-all", "UNKNOWN(the memory of what left has overflowed)"),
    ],
)
def test_each_request_of_the_tour_shows_what_its_name_promises(request_id: str, label: str) -> None:
    assert explained()[request_id].verdict.label == label


def test_the_record_of_the_tour_can_be_read_as_text() -> None:
    opened = tour()[0][0]
    assert isinstance(opened, LogOpened)
    assert isinstance(words_of(opened), TokenWords)


def test_no_step_of_the_tour_is_refused() -> None:
    _, said = tour()
    assert [answer.state for answer in said if answer.state] == [EngineState.RUNNING]
    assert all(answer.taken for answer in said)
