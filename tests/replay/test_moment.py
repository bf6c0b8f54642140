"""A run at one event: the state after it, the newest event, and the lookups that somebody asks about."""

import random
from collections.abc import Sequence

import msgspec
import pytest
from cache_driver import Driver, options
from lookup_runs import ByNumber
from trees import opened_of

from shadowviz.replay.explain import explain_events
from shadowviz.replay.moment import Moment, everything, lookup_of, moment_at, of_request, state_at
from shadowviz.replay.tree_moment import tree_at, trees_at
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import Event, LogClosed, LookupDone
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer


@pytest.fixture(scope="module")
def events() -> Sequence[Event]:
    """Requests with common beginnings on a small cache, as a log has them."""
    geometry, chosen = preset("recall"), options(num_full_pages=30, num_swa_pages=20)
    driver = Driver(geometry, chosen)
    rng = random.Random(3)
    stems = [[rng.randrange(4) for _ in range(60)] for _ in range(4)]
    for _ in range(25):
        stem = rng.choice(stems)
        driver.run([*stem[: rng.randrange(1, 60)], *(rng.randrange(4) for _ in range(rng.randrange(20)))], output=[1])
    run = [opened_of(geometry, chosen), *driver.events]
    run = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(run)]
    closed = LogClosed(seq=len(run), t_ns=0, count=len(run), digest=driver.digest())
    return [*run, closed]


class Live:
    """A run that is in memory alone."""

    log = None

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events

    def events(self) -> Sequence[Event]:
        return self._events

    def tell_progress(self, _num_events: int) -> None:
        raise AssertionError("no record is read")


def test_the_state_at_an_event_is_that_of_the_events_up_to_it(events: Sequence[Event]) -> None:
    for at in (0, 1, 57, len(events) // 2, len(events) - 2, len(events) - 1):
        state = Replayer()
        for event in events[: at + 1]:
            state.apply(event)
        for found in (moment_at(events, ByNumber(), at), state_at(events, at), tree_at(Live(events), at)):
            assert (found.seq, found.last_seq) == (at, len(events) - 1)
            assert found.state.digest() == state.digest()


def test_two_moments_are_those_asked_for_one_by_one(events: Sequence[Event]) -> None:
    last = len(events) - 1
    for first, second in ((57, 200), (200, 57), (None, 30), (30, None), (56, 57), (80, 80), (-1, last), (None, None)):
        both = trees_at(Live(events), first, second)
        for found, at in zip(both, (first, second), strict=True):
            expected = state_at(events, at)
            assert (found.seq, found.last_seq) == (expected.seq, last)
            assert found.state.digest() == expected.state.digest()
            assert list(found.state.requests.index) == list(expected.state.requests.index)
            assert found.state.nodes.last_used == expected.state.nodes.last_used
    with pytest.raises(InputError, match=f"no event {len(events)}: expected one up to {last}"):
        trees_at(Live(events), len(events), 3)
    with pytest.raises(InputError, match=f"no event {len(events)}: expected one up to {last}"):
        trees_at(Live(events), None, len(events))
    forged = [*events[:-1], msgspec.structs.replace(events[-1], digest="0" * 32)]
    with pytest.raises(LogError, match="digest"):
        trees_at(Live(forged), 3, None)


def test_before_the_first_event_there_is_nothing(events: Sequence[Event]) -> None:
    for found in (moment_at(events, ByNumber(), -1), tree_at(Live(events), -1)):
        assert (found.seq, found.last_seq, len(found.state.nodes)) == (-1, len(events) - 1, 1)


def test_only_what_is_wanted_is_explained_and_in_the_same_words(events: Sequence[Event]) -> None:
    whole = list(explain_events(events, ByNumber()))
    one = whole[len(whole) // 2].request
    assert list(moment_at(events, ByNumber(), wanted=everything).explanations) == whole
    wanted = moment_at(events, ByNumber(), wanted=of_request(one)).explanations
    assert list(wanted) == [explanation for explanation in whole if explanation.request == one]
    half = len(events) // 2
    assert list(moment_at(events, ByNumber(), half).explanations) == [e for e in whole if e.lookup.seq <= half]


def test_an_event_that_the_run_lacks_is_told_with_the_last_one(events: Sequence[Event]) -> None:
    with pytest.raises(InputError, match=f"no event {len(events)}: expected one up to {len(events) - 1}"):
        moment_at(events, ByNumber(), len(events))
    with pytest.raises(InputError, match=f"no event {len(events)}: expected one up to {len(events) - 1}"):
        tree_at(Live(events), len(events))
    for before in (lambda: moment_at(events, ByNumber(), -2), lambda: tree_at(Live(events), -2)):
        with pytest.raises(InputError, match="before the first"):
            before()
    assert tree_at(Live([])).last_seq == -1


def test_a_state_that_is_not_the_engines_is_told_at_the_end_alone(events: Sequence[Event]) -> None:
    forged = [*events[:-1], msgspec.structs.replace(events[-1], digest="0" * 32)]
    with pytest.raises(LogError, match="digest"):
        moment_at(forged, ByNumber())
    assert isinstance(moment_at(forged, ByNumber(), len(forged) - 2), Moment)
    with pytest.raises(LogError, match="digest"):
        tree_at(Live(forged))
    assert tree_at(Live(forged), len(forged) - 2).seq == len(forged) - 2


def test_the_first_lookup_of_a_request_is_its_lookup(events: Sequence[Event]) -> None:
    found = lookup_of(events, "r7")
    assert found == next(event for event in events if isinstance(event, LookupDone) and event.request == "r7")
    with pytest.raises(InputError, match="'nobody'"):
        lookup_of(events, "nobody")
