"""Events applied many at once against one by one: the same tree, tokens and slots, whenever somebody looks."""

import random
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walked_logs import LoggedWalk, lines_of

from shadowviz.replay.bulk.columns import Columns, columns_of
from shadowviz.replay.bulk.replay import BulkReplay
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    EVENT_TYPES,
    Event,
    LogClosed,
    LogOpened,
    LookupDone,
    PathEnded,
    PathLocked,
    PathUnlocked,
    RequestFinished,
    RequestSubmitted,
    SlotRun,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.holdings import Run
from shadowviz_engine.core.log_lean import LEAN_TYPES, LeanEvent, decode_lean
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids

REFUSED = (Unsound, LogError)


def lean_of(events: Sequence[Event]) -> list[LeanEvent | Event]:
    """What a reader makes of the events: the first and the last of a log stay whole."""
    lean: list[LeanEvent | Event] = []
    for event in events:
        if isinstance(event, (LogOpened, LogClosed)):
            lean.append(event)
        else:
            decoded = decode_lean(lines_of([event]))
            assert decoded is not None
            lean += decoded
    return lean


def sent(events: Sequence[LeanEvent | Event]) -> Columns:
    """Columns as another process gets them."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(columns_of(events)), type=Columns)


def slots_of(runs: Sequence[Run]) -> list[int]:
    return sorted(slot + place for start, stop, slot in runs for place in range(stop - start))


def picture(state: Replayer) -> dict[str, object]:
    """All that a picture of the tree is made of."""
    nodes, requests = state.nodes, state.requests
    kept = ("parent", "start", "stop", "locks", "terminal", "alive", "created", "evicted")
    living = [node for node in range(len(nodes)) if nodes.alive[node]]
    return {
        "nodes": {name: list(getattr(nodes, name)) for name in kept},
        "namespaces": [state.namespaces.names[row] for row in nodes.namespace],
        "used": [nodes.last_used[node] for node in living],
        "children": [list(nodes.children(node)) for node in living],
        "siblings": [(nodes.next_sibling[node], nodes.previous_sibling[node]) for node in living],
        "runs": [(state.full_runs(node), state.swa_runs(node)) for node in range(len(nodes))],
        "tokens": [state.node_tokens(node).tolist() for node in range(len(nodes))],
        "requests": (requests.names, requests.index, requests.num_prompt.tolist()),
        "prompts": [state.request_tokens(row).tolist() for row in range(len(requests))],
        "queues": [state.namespaces.names[row] for row in requests.namespace],
        "held": {pool: slots_of(list(state.held_runs(pool))) for pool in ("full", "swa")},
        "rest": (state.seq, state.opened),
    }


@given(st.integers(0, 2**32), st.integers(1, 120), st.booleans())
def test_events_applied_in_any_pieces_give_the_state_of_those_applied_one_by_one(
    seed: int, num_steps: int, settle_often: bool
) -> None:
    events = list(LoggedWalk(seed, num_steps).events())
    lean, rng = lean_of(events), random.Random(seed)
    expected, replay = Replayer(), BulkReplay()
    done = 0
    while done < len(events):
        size = rng.randint(1, 60)
        # Somebody may have read the lines around a damaged one whole.
        replay.apply(sent((lean if rng.randrange(4) else events)[done : done + size]))
        expected.advance(events[done : done + size])
        done += size
        if settle_often or done >= len(events):
            replay.settle()
            assert picture(replay.state) == picture(expected)


def test_every_lean_event_is_a_part_of_the_event_of_its_name() -> None:
    whole = {kind.__name__: kind for kind in EVENT_TYPES}
    for kind in LEAN_TYPES:
        fields = {field.name: field for field in msgspec.structs.fields(whole[kind.__name__])}
        for field in msgspec.structs.fields(kind):
            assert (field.required, field.default) == (fields[field.name].required, fields[field.name].default)


def request(name: str, seq: int, num_tokens: int = 8, namespace: str = "") -> list[Event]:
    runs = (SlotRun(0, num_tokens, 100 * seq),)
    tokens = pack_ids(range(num_tokens))
    return [
        RequestSubmitted(seq=seq, t_ns=0, request=name, tokens=tokens, namespace=namespace),
        SlotsTaken(seq=seq + 1, t_ns=0, request=name, pool="full", runs=runs),
    ]


def leaf(seq: int, node: int, parent: int = 0, start: int = 0, stop: int = 8, namespace: str = "") -> SpanInserted:
    """Tokens of request `a`, whose slots nobody took."""
    return SpanInserted(
        seq=seq, t_ns=0, node=node, parent=parent, request="a", start=start, stop=stop, namespace=namespace
    )


def applied(*pieces: Sequence[Event]) -> BulkReplay:
    replay = BulkReplay()
    for piece in pieces:
        replay.apply(sent(lean_of(piece)))
    return replay


@pytest.mark.parametrize("settled", [True, False])
def test_locks_below_a_split_count_above_it(settled: bool) -> None:
    locked = PathLocked(seq=3, t_ns=0, request="a", node=1)
    replay = applied([*request("a", 0), leaf(2, 1), locked, SpanSplit(seq=4, t_ns=0, node=1, at=3, upper=2)])
    if settled:
        replay.settle()
        assert replay.state.nodes.locks.tolist() == [0, 1, 1]
    # Unlocked above, where no lock of its own is: it is that of the node below.
    replay.apply(sent([PathUnlocked(seq=5, t_ns=0, request="a", node=2)]))
    replay.settle()
    assert replay.state.nodes.locks.tolist() == [0, 1, 0]
    with pytest.raises(LogError, match="PathUnlocked at seq 6 cannot apply: node 2 is not locked"):
        replay.apply(sent([PathUnlocked(seq=6, t_ns=0, request="a", node=2)]))


def test_a_leaf_whose_lock_is_not_counted_yet_cannot_be_evicted() -> None:
    first = [*request("a", 0), leaf(2, 1), PathLocked(seq=3, t_ns=0, request="a", node=1)]
    evicted = SpanEvicted(seq=4, t_ns=0, node=1, reason="lru")
    with pytest.raises(Unsound, match="locked or gone"):
        applied(first, [evicted])
    unlocked = PathUnlocked(seq=4, t_ns=0, request="a", node=1)
    assert not applied(first, [unlocked, msgspec.structs.replace(evicted, seq=5)]).state.nodes.alive[1]


def test_tokens_of_an_output_are_those_of_the_node_that_holds_them() -> None:
    ended = RequestFinished(seq=2, t_ns=0, request="a", reason="stop", tokens=pack_ids([77, 78, 79]))
    more = SlotsTaken(seq=3, t_ns=0, request="a", pool="full", runs=(SlotRun(8, 11, 108),))
    across = SpanInserted(seq=4, t_ns=0, node=1, parent=0, request="a", start=0, stop=9)
    behind = SpanInserted(seq=5, t_ns=0, node=2, parent=1, request="a", start=9, stop=11)
    for pieces in (
        [[*request("a", 0), ended, more, across, behind]],
        [request("a", 0), [ended, more], [across], [behind]],
    ):
        state = applied(*pieces).state
        assert [state.node_tokens(node).tolist() for node in (1, 2)] == [[*range(8), 77], [78, 79]]


def test_a_namespace_is_that_of_the_path_however_it_was_split() -> None:
    events = [
        *request("a", 0, namespace="queue"),
        leaf(2, 1, namespace="n"),
        SpanSplit(seq=3, t_ns=0, node=1, at=3, upper=2),
        leaf(4, 3, parent=2, start=3, stop=5),
        SpanSplit(seq=5, t_ns=0, node=2, at=1, upper=4),
        leaf(6, 5, parent=4, start=1, stop=2, namespace="n"),
        leaf(7, 6, stop=1, namespace="m"),
    ]
    for pieces in ([events], [[event] for event in events]):
        replay = applied(*pieces)
        replay.settle()
        names = [replay.state.namespaces.names[row] for row in replay.state.nodes.namespace]
        assert names == ["", "n", "n", "n", "n", "n", "m"]
    wrong = msgspec.structs.replace(events[-2], namespace="m")
    replay = applied([*events[:-2], wrong])
    with pytest.raises(Unsound, match="another namespace"):
        replay.settle()


def both_ways(event: Event) -> tuple[list[list[Event]], list[list[Event]]]:
    """A short run with an event behind it: in one piece, and in two."""
    run = [
        *request("a", 0),
        SlotsTaken(seq=2, t_ns=0, request="a", pool="swa", runs=(SlotRun(2, 6, 3),)),
        SpanInserted(
            seq=3, t_ns=0, node=1, parent=0, request="a", start=0, stop=6, namespace="n",
            full=(SlotRun(0, 6, 0),), swa=(SlotRun(2, 6, 3),),
        ),
        SpanSplit(seq=4, t_ns=0, node=1, at=4, upper=2),
    ]  # fmt: skip
    return [[*run, event]], [run, [event]]


AT = {"seq": 5, "t_ns": 0}
WRONG = [
    RequestSubmitted(**AT, request="a", tokens=b""),
    RequestSubmitted(**AT, request="c", tokens=b"12345"),
    LookupDone(**AT, request="a", num_prompt=8, common=0, cap=7, unit=1, matched=0, usable=0, reused=0, node=3),
    LookupDone(**AT, request="a", num_prompt=8, common=0, cap=7, unit=1, matched=0, usable=0, reused=0, node=-1),
    PathLocked(**AT, request="a", node=3),
    PathLocked(**AT, request="a", node=-1),
    PathUnlocked(**AT, request="a", node=1),
    PathEnded(**AT, node=3),
    SpanSplit(**AT, node=1, at=2, upper=3),
    SpanSplit(**AT, node=1, at=1, upper=4),
    SpanSplit(**AT, node=3, at=1, upper=3),
    SpanInserted(**AT, node=4, parent=0, request="a", start=0, stop=2),
    SpanInserted(**AT, node=3, parent=3, request="a", start=4, stop=6),
    SpanInserted(**AT, node=3, parent=-1, request="a", start=4, stop=6),
    SpanInserted(**AT, node=3, parent=2, request="x", start=4, stop=6),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=9),
    SpanInserted(**AT, node=3, parent=1, request="a", start=4, stop=6),
    SpanInserted(**AT, node=3, parent=0, request="a", start=0, stop=0),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, namespace="m"),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(6, 8, 6),)),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=8, full=(SlotRun(6, 8, 6), SlotRun(5, 6, 4))),
    SpanInserted(**AT, node=3, parent=1, request="a", start=6, stop=8, full=(SlotRun(5, 7, 6),)),
    SpanInserted(**AT, node=3, parent=1, request="a", start=6, stop=8, full=(SlotRun(7, 8, 7), SlotRun(6, 7, 6))),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(5, 5, 6),)),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(4, 6, -1),)),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(4, 6, 2**31 - 1),)),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(4, 6, 2**70),)),
    SpanInserted(**AT, node=3, parent=2, request="a", start=4, stop=6, full=(SlotRun(4, 6, 50),)),
    SwaFreed(**AT, node=2, start=0, stop=2, reason="retention"),
    SwaFreed(**AT, node=2, start=2, stop=5, reason="retention"),
    SwaPublished(**AT, node=2, request="a", runs=(SlotRun(2, 4, 3),)),
    SwaPublished(**AT, node=1, request="a", runs=(SlotRun(0, 2, 3),)),
    SwaPublished(**AT, node=2, request="a", runs=(SlotRun(0, 2, 30),)),
    SwaPublished(**AT, node=9, request="a", runs=(SlotRun(0, 2, 30),)),
    SwaPublished(**AT, node=-1, request="a", runs=(SlotRun(0, 2, 30),)),
    SwaPublished(**AT, node=2, request="a", runs=(SlotRun(0, 2, 2**70),)),
    SpanEvicted(**AT, node=2, reason="lru"),
    SpanEvicted(**AT, node=3, reason="lru"),
    SlotsTaken(**AT, request="a", pool="full", runs=(SlotRun(6, 8, 7),)),
    SlotsTaken(**AT, request="a", pool="full", runs=(SlotRun(3, 3, 9),)),
    SlotsTaken(**AT, request="a", pool="full", runs=(SlotRun(0, 1, 2**31),)),
    SlotsTaken(**AT, request="a", pool="full", runs=(SlotRun(0, 1, -1),)),
    SlotsFreed(**AT, request="a", pool="swa", runs=(SlotRun(2, 5, 32),)),
    SlotsFreed(**AT, request="a", pool="full", runs=(SlotRun(3, 1, 32),)),
    LogOpened(**AT, schema=1, geometry=preset("recall")),
]


@pytest.mark.parametrize("event", WRONG)
def test_what_contradicts_the_tree_or_its_slots_is_noticed(event: Event) -> None:
    first = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall"))
    for pieces in both_ways(event):
        replay = BulkReplay()
        replay.apply(sent([first]))
        with pytest.raises(REFUSED):  # noqa: PT012 - either tells
            for piece in pieces:
                replay.apply(sent(piece if isinstance(event, LogOpened) else lean_of(piece)))
            replay.settle()


def test_the_short_run_itself_is_sound() -> None:
    for pieces in both_ways(PathEnded(**AT, node=2)):
        replay = applied(*pieces)
        replay.settle()
        assert (replay.state.full_runs(2), replay.state.swa_runs(1)) == (((0, 4, 0),), ((4, 6, 5),))
        assert list(replay.state.held_runs("full")) == [(6, 8, 6)]


def test_a_child_that_outlives_its_parent_or_comes_behind_it_is_noticed() -> None:
    run = [*request("a", 0), leaf(2, 1, stop=4), leaf(3, 2, parent=1, start=4)]
    gone = SpanEvicted(seq=4, t_ns=0, node=1, reason="lru")
    child_gone = SpanEvicted(seq=5, t_ns=0, node=2, reason="lru")
    for pieces in (
        [[*run, gone]],
        [[*run, gone, child_gone]],
        [run, [gone]],
        [[*run[:3], msgspec.structs.replace(gone, seq=3)], [leaf(4, 2, 1, 4)]],
    ):
        replay = applied(*pieces)
        with pytest.raises(Unsound, match="without its parent"):
            replay.settle()


def test_a_parent_that_comes_behind_its_child_is_noticed() -> None:
    later = [*request("a", 0), leaf(2, 1, parent=2, start=4), leaf(3, 2, stop=4)]
    with pytest.raises(Unsound, match="its parent is later"):
        applied(later)


def test_a_lookup_of_a_node_that_is_not_there_yet_or_any_more_is_noticed() -> None:
    looked_up = LookupDone(
        seq=3, t_ns=0, request="a", num_prompt=8, common=0, cap=7, unit=1, matched=0, usable=0, reused=0, node=2
    )
    split = SpanSplit(seq=4, t_ns=0, node=1, at=3, upper=2)
    gone = SpanEvicted(seq=3, t_ns=0, node=1, reason="lru")
    late = msgspec.structs.replace(looked_up, seq=4, node=1)
    for pieces in ([[*request("a", 0), leaf(2, 1), looked_up, split]], [[*request("a", 0), leaf(2, 1), gone, late]]):
        replay = applied(*pieces)
        with pytest.raises(Unsound, match="looked up that was not there"):
            replay.settle()
