"""A child of the interface beside the files and pipes of others: what is not its own, and who holds its way in."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tui_processes import PATIENCE_S, is_running, wait_for

from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
from shadowviz.sources.states import EngineState, LogState
from shadowviz.tui.session import Session

HELD = """
import subprocess, sys, time
from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
child = EngineChild(Setup(options={{}}, log={log!r}))
way_in = child._process.stdin.fileno()
holder = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], pass_fds=[way_in])
print(child.pid, holder.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[EngineChild]:
    """An engine that is to write over a file, and cannot start."""
    log = tmp_path / "run.jsonl"
    log.write_text("mine\n" * 100)
    child = EngineChild(Setup(options={"wrong": 1}, log=str(log), overwrite=True))
    yield child
    child.close(wait_s=PATIENCE_S)


def test_what_an_engine_that_fails_leaves_in_the_file_is_none_of_its_record(failing: EngineChild) -> None:
    session = Session(failing.log, failing)
    wait_for(lambda: not session.tick().engine.alive, "the end of the engine")
    assert failing.state is EngineState.FAILED
    assert "engine option" in failing.words
    assert not failing.has_recorded
    frame = session.tick()
    assert (frame.log, frame.head) == (LogState.WAITING, -1)
    assert failing.log.read_text() == "mine\n" * 100
    session.follower.close()


def test_a_child_whose_parent_was_killed_ends_though_somebody_else_holds_its_way_in(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    parent = subprocess.Popen([sys.executable, "-c", HELD.format(log=str(log))], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        child, holder = map(int, parent.stdout.readline().split())
        # Its file is there once it knows its parent.
        wait_for(log.exists, "the file of the record")
        parent.kill()
    try:
        wait_for(lambda: not is_running(child), "the end of the child")
        assert is_running(holder)
    finally:
        os.kill(holder, signal.SIGKILL)
    assert not log.exists()
