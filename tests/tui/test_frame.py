"""What a frame says of the moment shown, beside a walk through the state."""

import random
from functools import cache
from pathlib import Path

from walked_logs import LoggedWalk, write_log

from shadowviz.replay.timeline import Budgets
from shadowviz.tui.session import Session
from shadowviz_engine.core.columns import REQUEST_STATES, NodeColumns
from shadowviz_engine.core.events import Event


@cache
def record(seed: int = 2) -> tuple[Event, ...]:
    return LoggedWalk(seed, 120).events()


def test_where_the_version_of_the_tree_stays_nothing_of_it_has_changed(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()), budgets=Budgets(undo=4_000, way_back=30))
    rng, before, num_same = random.Random(5), (-1, b""), 0
    for step in range(160):
        near = min(max(-1, session.timeline.at + rng.choice((-2, -1, 1, 2, 3))), session.follower.head)
        session.go_to(near if step % 4 else rng.randrange(len(record())))
        frame = session.settle()
        now = (frame.tree_version, tree_bytes(session))
        assert now[0] != before[0] or now == before
        num_same += now == before
        before = now
    assert num_same > 2, "some events leave the tree as it is"
    session.close()


def tree_bytes(session: Session) -> bytes:
    state = session.state
    columns = [getattr(state.nodes, name) for name in NodeColumns.__slots__]
    held = repr(sorted(state.held["full"].items()) + sorted(state.held["swa"].items())).encode()
    return b"|".join([*map(bytes, columns), bytes(state.tokens), bytes(state.runs.flat), held])


def test_counts_of_a_frame_are_those_of_a_walk(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", record()))
    for seq in range(0, len(record()), 7):
        session.go_to(seq)
        frame, state = session.settle(), session.state
        names = [REQUEST_STATES[each] for each in state.requests.state]
        assert frame.num_running == names.count("prefill") + names.count("decode")
        assert frame.num_waiting == names.count("queued") + names.count("waiting")
        assert frame.num_nodes == len(list(state.node_states()))
    session.close()
