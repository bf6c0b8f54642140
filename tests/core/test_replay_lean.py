"""Lean events against whole ones: the same tree, tokens and slots, whenever somebody looks."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walked_logs import LoggedWalk, lines_of

from shadowviz_engine.core.columns import NodeColumns
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    EVENT_TYPES,
    Event,
    LogClosed,
    LogOpened,
    PathLocked,
    PathUnlocked,
    RequestSubmitted,
    SlotRun,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
)
from shadowviz_engine.core.log_lean import LEAN_TYPES, LeanEvent, decode_lean
from shadowviz_engine.core.replay_lean import LeanReplay
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids


def lean_of(events: list[Event]) -> list[LeanEvent | Event]:
    """What a reader makes of the events: the first and the last of a log stay whole."""
    lean: list[LeanEvent | Event] = []
    for event in events:
        if isinstance(event, (LogOpened, LogClosed)):
            lean.append(event)
        else:
            decoded = decode_lean([lines_of([event])])
            assert decoded is not None
            lean += decoded
    return lean


def picture(state: Replayer) -> dict[str, object]:
    """All that a picture of the tree is made of."""
    requests = state.requests
    ids = [state.request_tokens(row).tolist() for row in range(len(requests))]
    return {
        "nodes": {name: list(getattr(state.nodes, name)) for name in NodeColumns.__slots__},
        "runs": [(state.full_runs(node), state.swa_runs(node)) for node in range(len(state.nodes))],
        "tokens": state.tokens.tolist(),
        "requests": (requests.names, requests.index, requests.namespace.tolist(), requests.num_prompt.tolist(), ids),
        "held": {pool: set(runs.items()) for pool, runs in state.held.items()},
        "rest": (state.seq, state.opened, state.namespaces.names, state.digest()),
    }


@given(st.integers(0, 2**32), st.integers(1, 120), st.booleans())
def test_lean_events_in_any_pieces_give_the_state_of_whole_ones(seed: int, num_steps: int, settle_often: bool) -> None:
    events = list(LoggedWalk(seed, num_steps).events())
    lean, rng = lean_of(events), random.Random(seed)
    state, expected = Replayer(), Replayer()
    replay = LeanReplay(state)
    done = 0
    while done < len(events):
        size = rng.randint(1, 30)
        # Somebody may have read the lines around a damaged one whole.
        piece = (lean if rng.randrange(4) else events)[done : done + size]
        replay.apply(piece)
        expected.advance(events[done : done + size])
        done += size
        if settle_often or done >= len(events):
            replay.settle()
            assert picture(state) == picture(expected)


@given(st.integers(0, 2**32))
def test_a_settled_state_can_be_gone_on_from_by_another(seed: int) -> None:
    events = list(LoggedWalk(seed, 60).events())
    middle = len(events) // 2
    state, expected = Replayer(), Replayer()
    for piece in (events[:middle], events[middle:]):
        replay = LeanReplay(state)
        replay.apply(lean_of(piece))
        replay.settle()
        expected.advance(piece)
        assert picture(state) == picture(expected)


def test_every_lean_event_is_a_part_of_the_event_of_its_name() -> None:
    whole = {kind.__name__: kind for kind in EVENT_TYPES}
    for kind in LEAN_TYPES:
        fields = {field.name: field for field in msgspec.structs.fields(whole[kind.__name__])}
        for field in msgspec.structs.fields(kind):
            assert (field.required, field.default) == (fields[field.name].required, fields[field.name].default)


def request(name: str, seq: int, num_tokens: int = 8) -> list[Event]:
    runs = (SlotRun(0, num_tokens, 100 * seq),)
    return [
        RequestSubmitted(seq=seq, t_ns=0, request=name, tokens=pack_ids(range(num_tokens))),
        SlotsTaken(seq=seq + 1, t_ns=0, request=name, pool="full", runs=runs),
    ]


def applied(*events: Event) -> LeanReplay:
    replay = LeanReplay(Replayer())
    replay.apply(lean_of(list(events)))
    return replay


@pytest.mark.parametrize("settled", [True, False])
def test_locks_below_a_split_count_above_it(settled: bool) -> None:
    inserted = SpanInserted(seq=2, t_ns=0, node=1, parent=0, request="a", start=0, stop=8, full=(SlotRun(0, 8, 0),))
    locked = PathLocked(seq=3, t_ns=0, request="a", node=1)
    replay = applied(*request("a", 0), inserted, locked, SpanSplit(seq=4, t_ns=0, node=1, at=3, upper=2))
    if settled:
        replay.settle()
        assert replay.state.nodes.locks.tolist() == [0, 1, 1]
    # Unlocked above, where no lock of its own is: it is that of the node below.
    replay.apply([PathUnlocked(seq=5, t_ns=0, request="a", node=2)])
    replay.settle()
    assert replay.state.nodes.locks.tolist() == [0, 1, 0]
    with pytest.raises(LogError, match="PathUnlocked at seq 6 cannot apply: node 2 is not locked"):
        replay.apply([PathUnlocked(seq=6, t_ns=0, request="a", node=2)])


def test_a_leaf_whose_lock_is_not_counted_yet_cannot_be_evicted() -> None:
    inserted = SpanInserted(seq=2, t_ns=0, node=1, parent=0, request="a", start=0, stop=8, full=(SlotRun(0, 8, 0),))
    replay = applied(*request("a", 0), inserted, PathLocked(seq=3, t_ns=0, request="a", node=1))
    evicted = SpanEvicted(seq=4, t_ns=0, node=1, reason="lru")
    with pytest.raises(LogError, match="SpanEvicted at seq 4 cannot apply: node 1 has 1 locks"):
        replay.apply(lean_of([evicted]))
    replay.apply(lean_of([PathUnlocked(seq=4, t_ns=0, request="a", node=1), evicted]))
    assert not replay.state.nodes.alive[1]


def test_slots_that_nobody_held_are_told_at_once_and_wrong_ones_when_they_are_counted() -> None:
    more = SlotsFreed(seq=2, t_ns=0, request="a", pool="full", runs=(SlotRun(0, 9, 0),))
    with pytest.raises(LogError, match=r"SlotsFreed at seq 2 cannot apply: .*not hold all of the full slots"):
        applied(*request("a", 0), more)
    others = SlotsFreed(seq=2, t_ns=0, request="a", pool="full", runs=(SlotRun(0, 4, 50),))
    replay = applied(*request("a", 0), others)
    with pytest.raises(LogError, match=r"SlotsFreed at seq 2 cannot apply: .*not hold all of the full slots"):
        replay.settle()
    twice = SlotsTaken(seq=2, t_ns=0, request="a", pool="full", runs=(SlotRun(7, 9, 50),))
    replay = applied(*request("a", 0), twice)
    with pytest.raises(LogError, match=r"SlotsTaken at seq 2 cannot apply: .*slots of these tokens already"):
        replay.settle()
    for wrong in (SlotsTaken, SlotsFreed):
        with pytest.raises(LogError, match=f"{wrong.__name__} at seq 0 cannot apply: request 'x' was never submitted"):
            applied(wrong(seq=0, t_ns=0, request="x", pool="full", runs=()))
        with pytest.raises(LogError, match="there is no pool 'l2'"):
            LeanReplay(Replayer()).apply([wrong(seq=0, t_ns=0, request="x", pool="l2", runs=())])
