"""The engine in a child process: what it is told, what it records, and how it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tui_processes import PATIENCE_S, is_running, wait_for

from shadowviz.sources.child import EngineChild, sidecar_of, successor
from shadowviz.sources.child_wire import Answer, Setup
from shadowviz.sources.logfile import LogFile
from shadowviz.sources.states import EngineState
from shadowviz_engine.core.events import LookupDone, RequestAborted, RequestSubmitted, StepDone

SMALL = {"model": "tiny", "page_size": 128, "num_full_pages": 8, "num_swa_pages": 8, "chunk_tokens": 128}

ORPHAN = """
import sys, time
from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
child = EngineChild(Setup(options={options!r}, log={log!r}))
print(child.pid, flush=True)
while child.state.value == "starting":
    child.poll(); time.sleep(0.02)
child.submit_text("A prompt that takes a while. " * 20)
print(child.state.value, flush=True)
time.sleep(1000)
"""


class Watched:
    """A child whose answers are kept."""

    def __init__(self, child: EngineChild) -> None:
        self.child = child
        self.answers: list[Answer] = []

    def poll(self) -> EngineState:
        self.answers += self.child.poll()
        return self.child.state

    def reach(self, state: EngineState) -> None:
        wait_for(lambda: self.poll() is state, f"{state}, found {self.child.state} {self.child.words}")

    def answer(self, number: int) -> Answer:
        def found() -> bool:
            self.poll()
            return any(answer.id == number for answer in self.answers)

        wait_for(found, f"the answer to command {number}")
        return next(answer for answer in self.answers if answer.id == number)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    children = []

    def start(**changes: object) -> Watched:
        setup = Setup(**({"options": SMALL, "log": str(tmp_path / "run.jsonl")} | changes))
        children.append(EngineChild(setup))
        return Watched(children[-1])

    yield start
    for child in children:
        child.close(wait_s=PATIENCE_S)


def test_an_engine_takes_every_command_and_closes_its_record(started: Callable[..., Watched]) -> None:
    watched = started()
    child = watched.child
    watched.reach(EngineState.RUNNING)
    refused = watched.answer(child.step())
    assert (refused.taken, refused.words) == (False, "the engine runs: pause it before a single pass")
    assert watched.answer(child.pause()).taken
    assert watched.poll() is EngineState.PAUSED
    (chat,) = watched.answer(child.submit_chat("Who was first?", system="Be brief. " * 60)).requests
    (text,) = watched.answer(child.submit_text("[bold]\x1b[31mplain")).requests
    bad = watched.answer(child.submit({"prompt": "x", "temperature": -1}))
    assert (bad.taken, "temperature is -1" in bad.words) == (False, True)
    too_long = watched.answer(child.submit({"token_ids": [5] * 5_000}))
    assert (too_long.taken, "can never fit" in too_long.words) == (False, True)
    assert not watched.answer(child.abort("nobody")).taken
    assert not [event for event in LogFile(child.log).events() if isinstance(event, StepDone)]
    assert watched.answer(child.step()).taken
    assert len([event for event in LogFile(child.log).events() if isinstance(event, StepDone)]) == 1
    assert watched.answer(child.abort(chat)).taken
    assert watched.answer(child.resume()).taken
    assert watched.answer(child.flush()).taken
    child.close(wait_s=PATIENCE_S)
    assert child.state is EngineState.STOPPED
    log = LogFile(child.log)
    log.replay()
    assert log.summary.complete
    submitted = [event.request for event in log.events() if isinstance(event, RequestSubmitted)]
    assert submitted == [chat, text]
    aborted = [(event.request, event.reason) for event in log.events() if isinstance(event, RequestAborted)]
    assert aborted[0] == (chat, "client")


def test_an_engine_that_is_killed_is_told_and_another_records_beside_its_log(
    started: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = started(options=SMALL | {"record": "full", "sidecar": sidecar_of(tmp_path / "run.jsonl")})
    watched.reach(EngineState.RUNNING)
    os.kill(watched.child.pid, signal.SIGKILL)
    watched.reach(EngineState.KILLED)
    assert "ended from outside (signal 9, SIGKILL)" in watched.child.words
    watched.child.submit_text("to nobody")
    assert LogFile(watched.child.log).summary.lost is not None
    second = Watched(successor(watched.child))
    try:
        assert second.child.log == tmp_path / "run-2.jsonl"
        assert second.child.setup.options["sidecar"] == str(tmp_path / "run-2.jsonl.topk")
        second.reach(EngineState.RUNNING)
        (name,) = second.answer(second.child.submit_text("Once more.")).requests
        wait_for(
            lambda: any(isinstance(event, LookupDone) for event in LogFile(second.child.log).events()), "its lookup"
        )
    finally:
        second.child.close(wait_s=PATIENCE_S)
    assert LogFile(second.child.log).summary.complete
    assert name


def test_quitting_while_the_model_loads_ends_the_child_and_leaves_no_record(
    started: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = started()
    watched.child.close(wait_s=PATIENCE_S)
    assert watched.child.state is EngineState.STOPPED
    assert not is_running(watched.child.pid)
    log = tmp_path / "run.jsonl"
    assert not log.exists() or LogFile(log).summary.complete


def test_quitting_while_the_model_loads_leaves_what_was_in_the_file(
    started: Callable[..., Watched], tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text("mine")
    watched = started(overwrite=True)
    watched.child.close(wait_s=PATIENCE_S)
    assert watched.child.state is EngineState.STOPPED
    assert log.read_text() == "mine" or LogFile(log).summary.complete


def test_no_child_is_left_when_its_parent_is_killed_and_its_record_is_closed(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN.format(options=SMALL, log=str(log))], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        assert parent.stdout.readline() == "running\n"
        assert is_running(pid)
        parent.kill()
    wait_for(lambda: not is_running(pid), "the end of the child")
    assert LogFile(log).summary.complete


def test_a_signal_from_outside_ends_the_engine_and_closes_its_record(started: Callable[..., Watched]) -> None:
    watched = started()
    watched.reach(EngineState.RUNNING)
    os.kill(watched.child.pid, signal.SIGTERM)
    watched.reach(EngineState.STOPPED)
    assert LogFile(watched.child.log).summary.complete


@pytest.mark.parametrize("setup", [b"", b"no setup\n"], ids=["it waits for its setup", "nobody takes its answer"])
def test_a_signal_ends_a_child_that_waits_for_its_parent(setup: bytes) -> None:
    taken, answers = os.pipe()
    os.set_blocking(answers, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(answers, bytes(4096))
    os.set_blocking(answers, True)
    command = [sys.executable, "-m", "shadowviz.sources.child_main"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=answers, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(setup)
        child.stdin.flush()
        heeds = Path(f"/proc/{child.pid}/status")
        # Signal 15 is bit 14 of those with a handler.
        wait_for(lambda: int(heeds.read_text().partition("SigCgt:")[2].split()[0], 16) >> 14 & 1, "its handler")
        time.sleep(0.2)
        child.send_signal(signal.SIGTERM)
        child.wait(PATIENCE_S)
    os.close(taken)
    os.close(answers)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"options": {"model": "no-such-model"}}, "no model is called 'no-such-model'"),
        ({"options": {"wrong": 1}}, "engine option 'wrong' is not known"),
        ({"script": "no-such-file.jsonl"}, "cannot be read"),
    ],
)
def test_an_engine_that_cannot_start_says_why_and_leaves_no_file(
    started: Callable[..., Watched], tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    watched = started(**changes)
    watched.reach(EngineState.FAILED)
    assert words in watched.child.words
    assert not (tmp_path / "run.jsonl").exists()


def test_a_record_that_is_there_is_not_overwritten(started: Callable[..., Watched], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("mine")
    watched = started()
    watched.reach(EngineState.FAILED)
    assert "is not empty" in watched.child.words
    assert (tmp_path / "run.jsonl").read_text() == "mine"


def test_a_module_in_the_current_folder_is_not_taken_for_one_of_the_program(
    started: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)
    watched = started(options={"wrong": 1})
    watched.reach(EngineState.FAILED)
    assert "engine option" in watched.child.words


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
def test_an_engine_whose_sidecar_takes_no_more_says_so(started: Callable[..., Watched], tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    watched = started(options=SMALL | {"record": "full", "sidecar": str(full)})
    watched.reach(EngineState.RUNNING)
    watched.child.submit_text("A prompt that is long enough to select entries. " * 20)
    watched.reach(EngineState.FAILED)
    assert f"{full} cannot be written" in watched.child.words


def test_an_error_that_nobody_foresaw_is_told_and_ends_the_child(
    started: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Crash:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'shadowviz.sources.child_engine':\n"
        "            raise RuntimeError('a fault of its own')\n"
        "sys.meta_path.insert(0, Crash())\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    watched = started()
    watched.reach(EngineState.FAILED)
    assert "RuntimeError: a fault of its own" in watched.child.words
    assert watched.child._process.wait(PATIENCE_S) == 1
    assert not watched.child.log.exists()
