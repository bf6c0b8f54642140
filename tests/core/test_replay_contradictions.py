"""Events that contradict the state are refused and leave it as it was."""

import pickle

import pytest

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    Event,
    LogOpened,
    LookupDone,
    PathEnded,
    PathLocked,
    PathUnlocked,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    SlotRun,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    StepDone,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids


def told(*events: Event) -> Replayer:
    replayer = Replayer()
    for event in events:
        replayer.apply(event)
    return replayer


def short_run() -> list[Event]:
    """Request `a` stored [0,6) as node 1 and split it at 4 under node 2; request `b` holds slots and ended."""
    return [
        RequestSubmitted(seq=0, t_ns=0, request="a", tokens=pack_ids(range(6))),
        SlotsTaken(seq=1, t_ns=0, request="a", pool="full", runs=(SlotRun(0, 4, 8), SlotRun(4, 8, 20))),
        SlotsTaken(seq=2, t_ns=0, request="a", pool="swa", runs=(SlotRun(2, 6, 3),)),
        SpanInserted(
            seq=3, t_ns=0, node=1, parent=0, request="a", start=0, stop=6, namespace="n",
            full=(SlotRun(0, 4, 8), SlotRun(4, 6, 20)), swa=(SlotRun(2, 6, 3),),
        ),
        SpanSplit(seq=4, t_ns=0, node=1, at=4, upper=2),
        RequestSubmitted(seq=5, t_ns=0, request="b", tokens=pack_ids(range(4))),
        SlotsTaken(seq=6, t_ns=0, request="b", pool="swa", runs=(SlotRun(0, 4, 30),)),
        RequestFinished(seq=7, t_ns=0, request="b", reason="stop", tokens=b""),
    ]  # fmt: skip


def test_a_split_cuts_runs_at_its_position_and_leaves_the_terminal_mark_below() -> None:
    replayer = told(*short_run(), PathEnded(seq=8, t_ns=0, node=1))
    upper, lower = sorted(replayer.node_states(), key=lambda n: n.start)
    assert (upper.node, upper.parent, upper.start, upper.stop) == (2, 0, 0, 4)
    assert (upper.full, upper.swa) == ((SlotRun(0, 4, 8),), (SlotRun(2, 4, 3),))
    assert (lower.node, lower.parent, lower.start, lower.stop) == (1, 2, 4, 6)
    assert (lower.full, lower.swa) == ((SlotRun(4, 6, 20),), (SlotRun(4, 6, 5),))
    assert (upper.terminal, lower.terminal, lower.namespace) == (False, True, "n")
    assert list(replayer.nodes.children(2)) == [1]
    assert [h.full for h in replayer.holder_states()] == [(SlotRun(6, 8, 22),), ()]


PLACE = {"seq": 8, "t_ns": 0}
HELD = (SlotRun(0, 4, 30),)


CONTRADICTIONS: list[tuple[Event, str]] = [
    (RequestSubmitted(**PLACE, request="a", tokens=b""), "request 'a' was submitted before"),
    (RequestSubmitted(**PLACE, request="c", tokens=b"12345"), "5 bytes of tokens"),
    (RequestWaited(**PLACE, request="x", pool="full", needed_pages=1, free_pages=0), "'x' was never submitted"),
    (RequestAborted(**PLACE, request="b", reason="client"), "'b' has already ended"),
    (RequestAborted(**PLACE, request="a", reason="client", computed=-1), "-1 tokens computed"),
    (StepDone(**PLACE, prefill=(("a", 0, 7),)), r"chunk \[0,7\) of a prompt of 6 tokens"),
    (StepDone(**PLACE, decode=("a", "b")), "'b' has already ended"),
    (PathLocked(**PLACE, request="a", node=3), "node 3 was never made"),
    (PathLocked(**PLACE, request="a", node=-1), "node -1 was never made"),
    (PathUnlocked(**PLACE, request="a", node=1), "node 1 is not locked"),
    (SpanSplit(**PLACE, node=1, at=2, upper=3), "2 tokens do not cut node 1 of 2"),
    (SpanSplit(**PLACE, node=1, at=1, upper=4), "node 4 is not the next new id: expected 3"),
    (SpanInserted(**PLACE, node=3, parent=2, request="a", start=4, stop=7), r"span \[4,7\) of 6 tokens known"),
    (SpanInserted(**PLACE, node=3, parent=1, request="a", start=4, stop=6), "its parent 1 stops at 6"),
    (
        SpanInserted(**PLACE, node=3, parent=2, request="a", start=4, stop=6, namespace="m"),
        "namespace 'm' under a parent in 'n'",
    ),
    (
        SpanInserted(**PLACE, node=3, parent=0, request="b", start=0, stop=3, swa=HELD),
        r"runs \[0,4\) reach outside \[0,3\)",
    ),
    (
        SpanInserted(**PLACE, node=3, parent=0, request="b", start=0, stop=3, swa=(SlotRun(0, 3, 31),)),
        "its request does not hold all of the swa slots",
    ),
    (
        SpanInserted(**PLACE, node=3, parent=0, request="b", start=0, stop=4, full=(SlotRun(0, 4, 9),)),
        "its request does not hold all of the full slots",
    ),
    (SwaFreed(**PLACE, node=2, start=0, stop=2, reason="retention"), r"no window rows in \[0,2\)"),
    (SwaFreed(**PLACE, node=2, start=2, stop=5, reason="retention"), r"\[2,5\) of node 2, which is \[0,4\)"),
    (SwaPublished(**PLACE, node=2, request="b", runs=HELD), "node 2 has window rows of these tokens already"),
    (SwaPublished(**PLACE, node=1, request="b", runs=HELD), r"reach outside \[4,6\)"),
    (SpanEvicted(**PLACE, node=2, reason="lru"), "node 2 is no leaf: node 1 is its child"),
    (SlotsTaken(**PLACE, request="a", pool="l2", runs=()), "there is no pool 'l2'"),
    (SlotsTaken(**PLACE, request="a", pool="full", runs=(SlotRun(5, 7, 9),)), "holds full slots of these tokens"),
    (SlotsTaken(**PLACE, request="a", pool="full", runs=(SlotRun(3, 3, 9),)), r"run \[3,3\) is empty"),
    (SlotsTaken(**PLACE, request="a", pool="full", runs=(SlotRun(0, 1, 2**31),)), "slot 2147483648 is out"),
    (SlotsFreed(**PLACE, request="b", pool="swa", runs=(SlotRun(2, 5, 32),)), "does not hold all of the swa slots"),
    (SlotsFreed(**PLACE, request="a", pool="swa", runs=(SlotRun(3, 1, 32),)), r"run \[3,1\) is empty"),
    (SwaPublished(**PLACE, node=1, request="a", runs=(SlotRun(6, 4, 32),)), r"run \[6,4\) is empty"),
    (RequestFinished(**PLACE, request="x", reason="length", tokens=b""), "'x' was never submitted"),
    (PathEnded(seq=7, t_ns=0, node=1), "it follows seq 7, expected a later one"),
    (
        LookupDone(
            **PLACE, request="a", num_prompt=6, common=0, cap=5, unit=1, matched=7, usable=7, reused=7
        ),
        "reused 7 of a prompt of 6 tokens",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("event", "found"), CONTRADICTIONS)
def test_an_event_that_contradicts_the_state_is_named_and_changes_nothing(event: Event, found: str) -> None:
    replayer = told(*short_run())
    before = pickle.dumps(replayer)
    with pytest.raises(LogError, match=f"{type(event).__name__} at seq {event.seq} cannot apply: .*{found}"):
        replayer.apply(event)
    assert pickle.dumps(replayer) == before


def test_advancing_stops_before_the_event_that_contradicts_and_has_applied_those_before() -> None:
    replayer, expected = Replayer(), told(*short_run())
    bad = PathEnded(seq=8, t_ns=0, node=3)
    late = PathEnded(seq=9, t_ns=0, node=1)
    with pytest.raises(LogError, match="PathEnded at seq 8 cannot apply: node 3 was never made"):
        replayer.advance([*short_run(), bad, late])
    assert pickle.dumps(replayer) == pickle.dumps(expected)
    with pytest.raises(LogError, match="it follows seq 7, expected a later one"):
        replayer.advance([PathEnded(seq=7, t_ns=0, node=1)])
    with pytest.raises(LogError, match="expected a later one"):
        replayer.advance([PathEnded(seq=2**63, t_ns=0, node=1)])
    assert pickle.dumps(replayer) == pickle.dumps(expected)


def test_a_locked_leaf_and_an_evicted_node_cannot_be_evicted() -> None:
    replayer = told(*short_run(), PathLocked(seq=8, t_ns=0, request="a", node=1))
    with pytest.raises(LogError, match="node 1 has 1 locks"):
        replayer.apply(SpanEvicted(seq=9, t_ns=0, node=1, reason="lru"))
    replayer.apply(PathUnlocked(seq=9, t_ns=0, request="a", node=1))
    replayer.apply(SpanEvicted(seq=10, t_ns=0, node=1, reason="lru"))
    with pytest.raises(LogError, match="node 1 was evicted at seq 10"):
        replayer.apply(PathEnded(seq=11, t_ns=0, node=1))


def test_a_namespace_is_that_of_the_path_and_is_forgotten_when_its_first_node_is_undone() -> None:
    replayer = told(*short_run()[:3])
    child = SpanInserted(seq=4, t_ns=0, node=2, parent=1, request="a", start=3, stop=6)
    first = replayer.apply(SpanInserted(seq=3, t_ns=0, node=1, parent=0, request="a", start=0, stop=3, namespace="n"))
    second = replayer.apply(child)
    assert [node.namespace for node in replayer.node_states()] == ["n", "n"]
    replayer.undo(second)
    replayer.undo(first)
    assert replayer.namespaces.names == [""]


def test_a_log_is_opened_once() -> None:
    opened = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall"))
    replayer = told(opened)
    assert replayer.opened == opened
    with pytest.raises(LogError, match="LogOpened at seq 1 cannot apply: a log was opened at seq 0 already"):
        replayer.apply(LogOpened(seq=1, t_ns=0, schema=1, geometry=preset("recall")))


@pytest.mark.parametrize(("event", "found"), CONTRADICTIONS)
def test_advancing_finds_what_single_steps_find_and_changes_nothing(event: Event, found: str) -> None:
    replayer = told(*short_run())
    before = pickle.dumps(replayer)
    with pytest.raises(LogError, match=f"{type(event).__name__} at seq {event.seq} cannot apply: .*{found}"):
        replayer.advance([event])
    assert pickle.dumps(replayer) == before
