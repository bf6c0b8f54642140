"""Time travel: the state at any event, however it was reached, and the explanations of past lookups."""

import gc
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lookup_runs import ByNumber
from walked_logs import GrowingLog, LoggedWalk, write_log

from shadowviz.replay.explain import Explanation, explain_events
from shadowviz.replay.timeline import Budgets, Timeline
from shadowviz.sources.follow import Follower
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import Event, LookupDone, SpanEvicted, SpanInserted
from shadowviz_engine.core.replayer import Replayer

TIGHT = Budgets(undo=6_000, keyframes=12_000, spacing=7, way_back=20, near=9)
ROOMY = Budgets()
KINDS = ("LookupDone", "SpanInserted", "SpanEvicted", "SpanSplit", "SwaFreed")


@cache
def record(seed: int) -> tuple[Event, ...]:
    return LoggedWalk(seed, 90).events()


@cache
def digests(seed: int) -> list[str]:
    """Digest of a fresh replay after each event; the last one is of the state before the first."""
    state, found = Replayer(), []
    for event in record(seed):
        state.apply(event)
        found.append(state.digest())
    return [*found, Replayer().digest()]


@cache
def explanations(seed: int) -> dict[int, Explanation]:
    return {found.lookup.seq: found for found in explain_events(record(seed), ByNumber())}


def everything_of(state: Replayer) -> object:
    """All that a state holds, the recency of nodes and the progress of requests included, which no digest has."""
    columns = [
        (name, dict(value) if isinstance(value, dict) else list(value))
        for owner in (state.nodes, state.requests)
        for name in owner.__slots__
        if isinstance(value := getattr(owner, name), Sequence | dict) or hasattr(value, "typecode")
    ]
    stores = (list(state.tokens), list(state.runs.flat), list(state.namespaces.names))
    return state.seq, state.opened, columns, stores, {pool: dict(held) for pool, held in state.held.items()}


def timeline_of(events: Sequence[Event], num_there: int, budgets: Budgets) -> tuple[Timeline, GrowingLog]:
    log = GrowingLog(events, num_there)
    return Timeline(log, lambda _: ByNumber(), budgets), log


MOVES = st.one_of(
    st.tuples(st.just("go"), st.floats(0, 1)),
    st.tuples(st.just("step"), st.integers(-30, 30)),
    st.tuples(st.just("next"), st.sampled_from(KINDS)),
    st.tuples(st.just("previous"), st.sampled_from(KINDS)),
    st.tuples(st.just("explain"), st.floats(0, 1)),
    st.tuples(st.just("grow"), st.integers(0, 60)),
    st.tuples(st.just("follow"), st.none()),
    st.tuples(st.just("slice"), st.none()),
)


@given(st.integers(0, 11), st.lists(MOVES, max_size=25), st.sampled_from([TIGHT, ROOMY]))
def test_however_an_event_is_reached_its_state_is_that_of_a_fresh_replay(
    seed: int, moves: list[tuple[str, object]], budgets: Budgets
) -> None:
    events = record(seed)
    timeline, log = timeline_of(events, len(events) // 2, budgets)
    for move, value in moves:
        make(timeline, log, move, value, seed)
        if move != "slice":
            timeline.advance()
            assert timeline.at == timeline.target
        assert not timeline.fault
        assert timeline.state.digest() == digests(seed)[timeline.at]
        assert timeline.state.seq == timeline.at


def make(timeline: Timeline, log: GrowingLog, move: str, value: object, seed: int) -> None:
    """One move; where it says where it leads, that is checked."""
    at = timeline.at
    match move, value:
        case "go", float(part):
            timeline.go_to(round(part * (log.head + 1)) - 1)
        case "step", int(by):
            timeline.step(by)
            assert timeline.target == max(-1, min(log.head, at + by))
        case "next", str(kind):
            found = log.next_of([kind], at)
            assert timeline.aim_at_next([kind]) == (found is not None)
            assert found is None or timeline.target == found
        case "previous", str(kind):
            found = log.previous_of([kind], at)
            assert timeline.aim_at_previous([kind]) == (found is not None)
            assert found is None or timeline.target == found
        case "explain", float(part):
            seqs = [seq for seq in explanations(seed) if seq <= log.head]
            if seqs:
                seq = seqs[round(part * (len(seqs) - 1))]
                assert timeline.explanation(seq) == explanations(seed)[seq]
                assert timeline.at == at
        case "grow", int(num):
            log.grow(num)
        case "follow", _:
            timeline.follow()
            assert timeline.target == log.head
        case "slice", _:
            timeline.advance(0.0)


@pytest.mark.parametrize("budgets", [TIGHT, ROOMY])
def test_a_state_that_was_left_and_reached_again_has_all_that_it_had(budgets: Budgets) -> None:
    events = record(3)
    fresh = {}
    state = Replayer()
    for event in events:
        state.apply(event)
        if event.seq % 37 == 0:
            fresh[event.seq] = everything_of(state)
    timeline, _ = timeline_of(events, len(events), budgets)
    timeline.advance()
    for seq in [*sorted(fresh, reverse=True), *sorted(fresh), *sorted(fresh, key=lambda seq: seq * 7919 % 101)]:
        timeline.go_to(seq)
        assert everything_of(timeline.state) == fresh[seq]


def test_every_lookup_is_explained_as_it_was_met_whatever_is_shown() -> None:
    events, expected = record(5), explanations(5)
    timeline, _ = timeline_of(events, len(events), TIGHT)
    for at in (-1, len(events) // 3, len(events) - 1):
        timeline.go_to(at)
        for seq in sorted(expected, key=lambda seq: seq * 7919 % 1009):
            assert timeline.explanation(seq) == expected[seq]
        timeline = timeline_of(events, len(events), TIGHT)[0]


def test_an_explanation_that_takes_long_is_given_when_it_is_asked_for_again() -> None:
    events = LoggedWalk(4, 500).events()
    *_, last = explain_events(events, ByNumber())
    seq = last.lookup.seq
    timeline, _ = timeline_of(events, len(events), TIGHT)
    timeline.go_to(-1)
    asked = 1
    while (found := timeline.explanation(seq, 0.0)) is None:
        asked += 1
    assert found == last
    assert asked > 1
    assert timeline.explained(seq) is found


def test_only_lookups_are_explained() -> None:
    events = record(4)
    timeline, _ = timeline_of(events, len(events), ROOMY)
    seq = next(event.seq for event in events if isinstance(event, SpanInserted))
    with pytest.raises(LogError, match="is a SpanInserted, expected a lookup"):
        timeline.explanation(seq)


def test_an_event_that_cannot_apply_ends_the_way_there_and_the_moments_before_it_stay() -> None:
    events = list(record(6))
    bad = next(event.seq for event in events if isinstance(event, SpanEvicted))
    events[bad] = msgspec.structs.replace(events[bad], node=9_999)
    timeline, _ = timeline_of(events, len(events), TIGHT)
    assert timeline.advance()
    assert timeline.at == bad - 1
    assert "node 9999 was never made" in timeline.fault
    timeline.go_to(bad // 2)
    assert timeline.state.digest() == digests(6)[bad // 2]
    with pytest.raises(LogError, match="never made"):
        timeline.go_to(len(events) - 1)


def test_events_that_are_not_there_are_refused() -> None:
    timeline, _ = timeline_of(record(1), 50, ROOMY)
    for seq in (50, -2):
        with pytest.raises(InputError, match=f"no event {seq}: expected -1 .* to 49"):
            timeline.aim(seq)


def test_what_time_travel_holds_stays_within_its_bytes() -> None:
    events = record(7)
    timeline, _ = timeline_of(events, len(events), TIGHT)
    while not timeline.advance(0.0):
        assert timeline.held_bytes <= TIGHT.undo + 2 * TIGHT.keyframes


def test_a_step_back_within_the_undo_records_makes_no_other_state() -> None:
    events = record(8)
    timeline, _ = timeline_of(events, len(events), ROOMY)
    timeline.advance()
    state = timeline.state
    for _ in range(100):
        timeline.step(-1)
        timeline.advance()
    assert timeline.state is state
    assert timeline.at == len(events) - 101


def test_sums_of_lookups_hold_for_any_moment() -> None:
    events = record(9)
    timeline, _ = timeline_of(events, len(events), TIGHT)
    timeline.advance()
    lookups = [event for event in events if isinstance(event, LookupDone)]
    for seq in (-1, 10, len(events) // 2, len(events) - 1):
        before = [lookup for lookup in lookups if lookup.seq <= seq]
        sums = timeline.chronicle.sums(seq)
        assert sums.num_lookups == len(before)
        assert sums.prompt_tokens == sum(lookup.num_prompt for lookup in before)
        assert sums.reused_tokens == sum(lookup.reused for lookup in before)


def test_a_followed_file_gives_the_same_states_as_its_events(tmp_path: Path) -> None:
    events = record(10)
    follower = Follower(write_log(tmp_path / "run.jsonl", events))
    timeline = Timeline(follower, lambda _: ByNumber(), TIGHT)
    timeline.advance()
    for seq in (len(events) - 1, 40, 3, len(events) - 5):
        timeline.go_to(seq)
        assert timeline.state.digest() == digests(10)[seq]
    for seq, expected in list(explanations(10).items())[::5]:
        assert timeline.explanation(seq) == expected
    follower.close()
    gc.collect()
