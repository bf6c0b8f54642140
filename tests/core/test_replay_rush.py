"""Events as they come by the million, and ones that are wrong in a single place: advancing does what steps do."""

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    Event,
    LookupDone,
    RequestFinished,
    RequestSubmitted,
    SlotRun,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
)
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids


def begun() -> Replayer:
    """Requests hold slots: `both` from token 4 on, `full` up to 7, in one pool alone. Node 2 of three is gone."""
    replayer = Replayer()
    events: list[Event] = []
    for name, pools in (("both", ("full", "swa")), ("full", ("full",)), ("others", ("full", "swa")), ("ended", ())):
        base = 100 * len(events)
        events.append(RequestSubmitted(seq=len(events), t_ns=0, request=name, tokens=pack_ids(range(8))))
        for pool in pools:
            slot = base + 50 * (name == "others" and pool == "swa")
            run = (SlotRun(0, 7 if name == "full" else 8, slot),)
            events.append(SlotsTaken(seq=len(events), t_ns=0, request=name, pool=pool, runs=run))
    spans = ((1, 0, 4, "n"), (2, 0, 4, ""), (3, 0, 4, ""))
    for node, start, stop, namespace in spans:
        at, runs = {"seq": len(events), "t_ns": 0}, (SlotRun(0, 4, 0),) if node == 1 else ()
        place = {"node": node, "parent": 0, "request": "both", "start": start, "stop": stop}
        events.append(SpanInserted(**at, **place, full=runs, swa=runs, namespace=namespace))
    events.append(SpanEvicted(seq=len(events), t_ns=0, node=2, reason="lru"))
    events.append(RequestFinished(seq=len(events), t_ns=0, request="ended", reason="stop", tokens=pack_ids([9])))
    for event in events:
        replayer.apply(event)
    return replayer


BEGUN = pickle.dumps(begun())
SEQ = begun().seq + 1
NAMES = st.sampled_from(["both", "both", "full", "others", "ended", "nobody"])


ODD = {
    "node": [5, 3],
    "parent": [0, 1, 2, 3, 4, -1],
    "request": ["both", "full", "others", "ended", "nobody"],
    "start": [0, 2, 4],
    "stop": [4, 6, 8, 9],
    "namespace": ["n", "m"],
    "terminal": [True],
}


@st.composite
def inserted(draw: st.DrawFn) -> SpanInserted:
    """A leaf of the usual form, with up to two places in which it is odd."""
    name, parent, start, base = draw(
        st.sampled_from([("both", 3, 4, 0), ("both", 1, 4, 0), ("full", 0, 0, 300), ("others", 0, 0, 500)])
    )
    stop = draw(st.sampled_from([6, 8]))
    low, high, slot = start, stop, base + start
    odd = draw(st.lists(st.sampled_from([*ODD, "low", "high", "slot", "runs", "swa"]), max_size=2, unique=True))
    low += draw(st.sampled_from([-1, 1])) * ("low" in odd)
    high += "high" in odd
    slot += "slot" in odd
    full = (
        draw(st.sampled_from([(), (SlotRun(low, low + 1, slot), SlotRun(low + 1, high, slot + 1))]))
        if "runs" in odd
        else (SlotRun(low, high, slot),)
    )
    swa = () if name == "full" or "swa" in odd else full
    if "swa" in odd and draw(st.booleans()):
        swa = (SlotRun(low, high, slot + 50),) if draw(st.booleans()) else full
    values = {"node": 4, "parent": parent, "request": name, "start": start, "stop": stop}
    values |= {field: draw(st.sampled_from(ODD[field])) for field in odd if field in ODD}
    return SpanInserted(seq=SEQ, t_ns=0, full=full, swa=swa, **values)


@st.composite
def looked_up(draw: st.DrawFn) -> LookupDone:
    reused, node = draw(st.sampled_from([0, 4, 8, 9, -1])), draw(st.sampled_from([0, 1, 3, 2, 4, -1]))
    sizes = {"num_prompt": 8, "common": 0, "cap": 7, "unit": 1, "matched": 0, "usable": 0}
    return LookupDone(seq=SEQ, t_ns=0, request=draw(NAMES), **sizes, reused=reused, node=node)


def outcome(replayer: Replayer, event: Event, *, advanced: bool) -> tuple[str, bytes]:
    """What was said, and the state afterwards."""
    told = ""
    try:
        if advanced:
            replayer.advance([event])
        else:
            replayer.apply(event)
    except LogError as error:
        told = str(error)
    return told, pickle.dumps(replayer)


@settings(max_examples=1_000)
@given(st.one_of(inserted(), looked_up()))
def test_advancing_over_an_event_does_and_says_what_a_step_does(event: Event) -> None:
    stepped, advanced = pickle.loads(BEGUN), pickle.loads(BEGUN)
    assert outcome(advanced, event, advanced=True) == outcome(stepped, event, advanced=False)


def test_a_leaf_takes_the_slots_that_its_request_holds() -> None:
    """The usual form, so that the property above does not hold of refusals alone."""
    replayer = pickle.loads(BEGUN)
    run = (SlotRun(4, 6, 4),)
    replayer.advance(
        [SpanInserted(seq=SEQ, t_ns=0, node=4, parent=3, request="both", start=4, stop=6, full=run, swa=run)]
    )
    assert (replayer.full_runs(4), replayer.swa_runs(4)) == (run, run)
    assert (replayer.held["full"][0], replayer.held["swa"][0]) == (((6, 8, 6),), ((6, 8, 6),))
