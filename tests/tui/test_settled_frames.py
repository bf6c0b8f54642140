"""What is printed and not watched is of the moment shown, and what befell a log is told by what helps."""

import os
from pathlib import Path

from walked_logs import LoggedWalk, lines_of, write_log

from shadowviz.sources.states import LogState
from shadowviz.tui.pool_fill import pool_fills
from shadowviz.tui.session import Session


class SlowClock:
    """A clock on which everything takes long."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.15
        return self.now_s


def test_the_pools_of_a_settled_frame_are_those_of_its_moment(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", LoggedWalk(2, 600).events()), clock=SlowClock())
    frame = session.settle()
    assert frame.at == session.follower.head
    assert frame.pools == pool_fills(session.state)
    for seq in (frame.head // 2, frame.head // 3):
        session.go_to(seq)
        frame = session.settle()
        assert (frame.at, frame.pools) == (seq, pool_fills(session.state))
    session.close()


def test_pools_are_counted_anew_once_that_is_due(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", LoggedWalk(2, 600).events()), clock=SlowClock())
    session.settle()
    session.go_to(session.follower.head // 2)
    # Watched, they are counted now and then.
    frames = [session.tick(1.0) for _ in range(1_000)]
    assert frames[-1].pools == pool_fills(session.state) != frames[0].pools
    session.close()


def test_a_broken_log_that_is_cut_off_is_told_as_cut_off_since_it_can_be_read_anew(tmp_path: Path) -> None:
    events = LoggedWalk(2, 60).events()
    lines = lines_of(events).splitlines(keepends=True)
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join([*lines[:40], b'{"type":"nothing"\n', *lines[41:]]))
    session = Session(log)
    assert session.settle().log is LogState.BROKEN
    os.truncate(log, 1_000)
    frame = session.tick(1.0)
    assert frame.log is LogState.TRUNCATED
    assert frame.log.restartable
    log.write_bytes(b"".join(lines))
    session.restart_log()
    assert session.settle().log is LogState.CLOSED
    session.close()


def test_a_frame_tells_at_which_event_its_pools_were_counted(tmp_path: Path) -> None:
    session = Session(write_log(tmp_path / "run.jsonl", LoggedWalk(2, 600).events()), clock=SlowClock())
    assert session.settle().pools_at == session.follower.head
    middle = session.follower.head // 2
    session.go_to(middle)
    frames = [session.tick(1.0) for _ in range(1_000)]
    before = next(frame for frame in frames if frame.at == middle)
    assert (before.pools_at, frames[-1].pools_at) == (session.follower.head, middle)
    session.close()
