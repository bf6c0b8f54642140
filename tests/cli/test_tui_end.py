"""Ctrl-C at the end of the interface gives up what is waited for, and nothing else."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from tui_logs import chat_log
from tui_processes import is_running, wait_for

from shadowviz.cli.tui_end import end, end_code
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.helpers import start_told
from shadowviz.tui.keeping import KeptLog
from shadowviz.tui.session import Session
from shadowviz.tui.stress_run import StressRun

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are looked up in /proc")


def is_open(path: Path) -> bool:
    """Whether this process holds a file open."""
    return any(os.path.realpath(link) == str(path) for link in Path("/proc/self/fd").iterdir())


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[ShadowvizApp]:
    """An interface whose record went on after the user had it kept."""
    log = chat_log(tmp_path / "run.jsonl")
    whole = log.read_bytes()
    log.write_bytes(whole[:20_000])
    app = ShadowvizApp(Session(log), "run")
    app.session.tick()
    app.kept[log] = KeptLog(log, str(tmp_path / "kept.jsonl"))
    log.write_bytes(whole)
    yield app
    app.session.close()


def ctrl_c_after(words: str, capsys: pytest.CaptureFixture[str], said: list[str]) -> None:
    """Press Ctrl-C once something has been written."""

    def press() -> None:
        while words not in "".join(said):
            said.append(capsys.readouterr().err)
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=press, daemon=True).start()


def assert_all_is_closed(app: ShadowvizApp, said: str) -> None:
    log = app.session.follower.path
    assert (log.parent / "kept.jsonl").read_bytes() == log.read_bytes()
    assert "kept.jsonl has the whole record" in said
    assert not is_open(log)


def test_ctrl_c_while_a_file_is_written_loses_no_record_that_was_kept(
    ended: ShadowvizApp, capsys: pytest.CaptureFixture[str]
) -> None:
    done, said = Event(), list[str]()
    assert is_open(ended.session.follower.path)
    start_told(ended, lambda: str(done.wait()))
    ctrl_c_after("a file is being written", capsys, said)
    try:
        with pytest.raises(KeyboardInterrupt):
            end(ended, ended.session, None)
    finally:
        done.set()
    assert_all_is_closed(ended, "".join(said) + capsys.readouterr().err)


def test_ctrl_c_while_a_stress_run_stops_closes_the_rest_and_says_how_to_go_on(
    ended: ShadowvizApp, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record, said = tmp_path / "stress.jsonl", list[str]()
    run = StressRun(["stress", "tiny-512", "--lengths", "1:60001", "-o", str(record)], record)
    ended.runs.begin_stress(run)
    try:
        wait_for(lambda: run.has_record, "the record of the run")
        # It cannot hear that it is to end.
        os.kill(run.child.pid, signal.SIGSTOP)
        ctrl_c_after("the stress run is being stopped", capsys, said)
        with pytest.raises(KeyboardInterrupt):
            end(ended, ended.session, None)
    finally:
        os.kill(run.child.pid, signal.SIGCONT)
        run.child.close()
    assert not is_running(run.child.pid)
    shown = "".join(said) + capsys.readouterr().err
    assert f"go on with: shadowviz stress --continue {record}" in shown
    assert_all_is_closed(ended, shown)


def test_a_kept_record_that_cannot_be_completed_is_told_by_the_exit_code_and_the_next_one_is(
    ended: ShadowvizApp, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = ended.session.follower.path
    ended.kept[tmp_path / "another"] = KeptLog(log, str(tmp_path / "next.jsonl"))
    (tmp_path / "kept.jsonl").write_text("theirs")
    end(ended, ended.session, None)
    said = capsys.readouterr().err
    assert "kept.jsonl was changed or moved meanwhile" in said
    assert "next.jsonl has the whole record" in said
    assert end_code(ended) == 2
    assert (tmp_path / "next.jsonl").read_bytes() == log.read_bytes()
