"""However the interface is ended, the terminal is as it was, no engine is left, and the record is whole."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tui_logs import chat_log
from tui_processes import is_running, wait_for
from tui_terminal import Terminal

from shadowviz_engine.core.log_reader import read_log

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")

RECORD = "run.jsonl"
SLOW_DISK = """
import os, time

link = os.link

def slow(*names, **more):
    while not os.path.exists({go!r}):
        time.sleep(0.01)
    link(*names, **more)

os.link = slow
"""


def running(terminal: Terminal, record: Path) -> int:
    """Wait until the engine records and is shown to; its process."""
    terminal.shows("[1 Live]")
    wait_for(lambda: record.exists() and record.stat().st_size > 5_000, "events of the engine")
    (engine,) = terminal.children()
    return engine


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_gives_the_terminal_back_ends_the_engine_and_closes_the_record(
    begun: Callable[..., Terminal], tmp_path: Path, number: signal.Signals
) -> None:
    terminal = begun("-o", RECORD)
    engine = running(terminal, tmp_path / RECORD)
    assert terminal.left_behind(), "while it runs, the terminal is the interface's"
    terminal.process.send_signal(number)
    assert terminal.end() == 128 + number
    assert terminal.left_behind() == []
    assert not is_running(engine)
    assert read_log(tmp_path / RECORD).summary.complete


def test_a_signal_while_the_model_loads_leaves_no_file_and_no_engine(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("-o", RECORD)
    terminal.shows("[1 Live]")
    (engine,) = terminal.children()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    assert terminal.left_behind() == []
    assert not is_running(engine)
    record = tmp_path / RECORD
    # On a machine fast enough it has begun: then it is whole.
    assert not record.exists() or read_log(record).summary.complete


def test_an_interface_that_is_killed_leaves_no_engine_and_a_whole_record(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("-o", RECORD)
    engine = running(terminal, tmp_path / RECORD)
    terminal.process.kill()
    assert terminal.end() == -signal.SIGKILL
    wait_for(lambda: not is_running(engine), "the end of the engine")
    assert read_log(tmp_path / RECORD).summary.complete


def test_a_window_that_is_closed_ends_the_interface_and_the_engine(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("-o", RECORD)
    engine = running(terminal, tmp_path / RECORD)
    terminal.hang_up()
    terminal.end()
    assert not is_running(engine)
    assert read_log(tmp_path / RECORD).summary.complete


def test_a_signal_ends_a_stress_run_and_names_the_command_that_goes_on(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    log = chat_log(tmp_path / "chat.jsonl")
    terminal = begun(str(log), "--screen", "stress")
    terminal.shows("[5 Stress]")
    terminal.type("r")
    terminal.shows("shadowviz stress tiny-512")
    terminal.type("v4-flash\t \t1:60001\r")
    terminal.shows("RUNNING")
    (run,) = terminal.children()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    assert terminal.left_behind() == []
    assert not is_running(run)
    assert "go on with: shadowviz stress --continue stress.jsonl" in terminal.text
    assert read_log(tmp_path / "stress.jsonl").summary.complete


def test_ctrl_c_is_for_the_interface_alone_and_ends_nothing(begun: Callable[..., Terminal], tmp_path: Path) -> None:
    log = chat_log(tmp_path / "chat.jsonl")
    terminal = begun(str(log))
    terminal.shows("[1 Live]")
    terminal.type("\x03")
    terminal.shows("q quits")
    terminal.type("q")
    assert terminal.end() == 0
    assert terminal.left_behind() == []


@pytest.fixture
def slow_disk(tmp_path: Path) -> Path:
    """A folder for `PYTHONPATH`: a file gets its name only once `go` is there, as on a disk that takes its time."""
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SLOW_DISK.format(go=str(folder / "go")))
    return folder


@pytest.mark.parametrize(
    ("keys", "code"), [("", 0), ("\x03", 130), ("", 2)], ids=["it is waited for", "it is given up", "its name is taken"]
)
def test_quitting_during_an_export_waits_for_it_tells_a_fault_and_ctrl_c_gives_it_up(
    begun: Callable[..., Terminal], tmp_path: Path, slow_disk: Path, keys: str, code: int
) -> None:
    log, target = chat_log(tmp_path / "chat.jsonl"), tmp_path / "events.txt"
    path = os.pathsep.join([str(slow_disk), *filter(None, [os.environ.get("PYTHONPATH")])])
    terminal = begun(log.name, "--screen", "events", environment={"PYTHONPATH": path})
    terminal.shows("REPLAY e89")
    terminal.type("e")
    terminal.shows("export the events")
    # What is typed takes the place of the name that the line offers.
    terminal.type(f"{target.name}\r")
    wait_for(lambda: any(tmp_path.glob(".shadowviz-*.tmp")), "the export")

    def quitting() -> bool:
        # The line that asks for the name may still be there, and take the key.
        terminal.type("q")
        time.sleep(0.1)
        return terminal.process.poll() is not None or "a file is being written" in terminal.text

    wait_for(quitting, "the interface to end")
    terminal.shows("a file is being written")
    assert not target.exists()
    if code == 2:
        # Somebody else takes the name meanwhile.
        target.write_text("theirs")
    if not keys:
        (slow_disk / "go").touch()
    terminal.type(keys)
    assert terminal.end() == code
    assert terminal.left_behind() == []
    assert ("is there already" in terminal.text) == (code == 2)
    assert set(tmp_path.iterdir()) == {log, slow_disk} | ({target} if code != 130 else set())
    if code == 2:
        assert target.read_text() == "theirs"
    elif code == 0:
        assert len(target.read_text().splitlines()) >= len(log.read_text().splitlines())
