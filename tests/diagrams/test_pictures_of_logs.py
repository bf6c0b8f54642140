"""Pictures of a log that was read for its tree alone: the same as those of its whole replay."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_runs import ByNumber
from trees import caption_of
from walked_logs import LoggedWalk, write_log

from shadowviz.diagrams.changes_of import Side, changes_diagram
from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.memory_of import memory_diagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.replay import tree_moment
from shadowviz.replay.bulk import way
from shadowviz.replay.moment import moment_at, of_request, state_at
from shadowviz.replay.tree_moment import request_tree_at, tree_at, trees_at
from shadowviz.sources.logfile import LogFile
from shadowviz_engine.core.events import RequestSubmitted
from shadowviz_engine.core.replayer import Replayer

STORED = Path(__file__).parents[2] / "fixtures" / "logs" / "schema-1.jsonl"


@pytest.fixture(autouse=True, scope="module")
def read_in_bulk() -> object:
    """The first chunk of a log is always read whole: here it is its first line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(way, "CHUNK_BYTES", 200)
        patch.setattr(tree_moment, "LARGE_BYTES", 0)
        # What is wrong would be read again one by one.
        patch.setattr(tree_moment, "_UNTOLD", ())
        yield


def pictures(state: Replayer, requests: list[str]) -> list[object]:
    """Every diagram of a state, in several forms."""
    caption = caption_of(state)
    options = [
        TreeOptions(),
        TreeOptions(collapse=True, max_boxes=9),
        TreeOptions(min_tokens=5, depth=2),
        *(TreeOptions(request=request) for request in requests),
    ]
    trees = [tree_diagram(caption, state, chosen, words=ByNumber()) for chosen in options]
    return [*trees, memory_diagram(caption, state, ByNumber())]


def check_pictures(log: LogFile, at: int | None) -> tuple[Replayer, Replayer]:
    """The pictures at an event are the same; the states that they show."""
    bulk, whole = tree_at(log, at), state_at(log.events(), at)
    assert (bulk.seq, bulk.last_seq) == (whole.seq, whole.last_seq)
    if whole.state.opened is not None:
        requests = list(whole.state.requests.index)[-2:]
        for request in requests[:1]:
            check_lookup(log, request, at)
        assert pictures(bulk.state, requests) == pictures(whole.state, requests)
    return bulk.state, whole.state


def check_lookup(log: LogFile, request: str, at: int | None) -> None:
    """The state is the same where one lookup was explained on the way, and so is what is said of it."""
    bulk = request_tree_at(log, ByNumber(), request, at)
    whole = moment_at(log.events(), ByNumber(), at, of_request(request))
    assert bulk.explanations == whole.explanations[:1]
    assert (bulk.seq, bulk.last_seq) == (whole.seq, whole.last_seq)
    assert list(bulk.state.node_states()) == list(whole.state.node_states())
    assert bulk.state.nodes.last_used == whole.state.nodes.last_used


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 80))
def test_pictures_of_a_random_run_are_the_same_at_any_event(
    tmp_path_factory: pytest.TempPathFactory, seed: int, num_steps: int
) -> None:
    events = LoggedWalk(seed, num_steps).events()
    log = LogFile(write_log(tmp_path_factory.mktemp("logs") / "log.jsonl", events))
    places = [None, *random.Random(seed).choices(range(len(events)), k=4)]
    bulk, whole = zip(*(check_pictures(log, at) for at in places), strict=True)
    sides = [[Side(caption_of(state), state, ByNumber()) for state in states[:2]] for states in (bulk, whole)]
    if whole[1].opened is not None:
        expected = changes_diagram(*sides[1])
        assert changes_diagram(*sides[0]) == expected
        # Of one reading, both states share what only grows.
        both = trees_at(log, *places[:2])
        assert changes_diagram(*(Side(caption_of(one.state), one.state, ByNumber()) for one in both)) == expected


def test_pictures_of_a_recorded_run_are_the_same_at_every_event() -> None:
    log = LogFile(STORED)
    submitted = [event.seq for event in log.events() if isinstance(event, RequestSubmitted)]
    assert submitted, "the run has requests"
    for at in range(log.summary.num_events):
        check_pictures(log, at)
