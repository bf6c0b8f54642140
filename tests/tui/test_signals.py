"""However the interface is ended, the terminal is as it was, no engine is left, and the record is whole."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tui_logs import chat_log
from tui_processes import is_running, wait_for
from tui_terminal import Terminal

from shadowviz.experiments.bench_tui_log import write_large_log
from shadowviz_engine.core.log_reader import read_log

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")

RECORD = "run.jsonl"


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    terminals = []

    def begin(*arguments: str, **more: object) -> Terminal:
        terminals.append(Terminal(["tui", *arguments], tmp_path, **more))
        return terminals[-1]

    yield begin
    for terminal in terminals:
        terminal.close()


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


def test_quitting_during_an_export_waits_for_it_tells_a_fault_and_ctrl_c_gives_it_up(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    num_events = write_large_log(tmp_path / "large.jsonl", 100_000)
    before = sorted(tmp_path.iterdir())
    for keys, code, is_there in (("", 0, True), ("\x03", 130, False), ("", 2, True)):
        target = tmp_path / f"large-{code}.txt"
        terminal = begun("large.jsonl", "--screen", "events")
        terminal.shows("LIVE e107,")
        terminal.type("e")
        terminal.shows("export the events")
        terminal.type(f"{target.name}\r")

        def quitting(terminal: Terminal = terminal) -> bool:
            # The line that asks for the name may still be there, and take the key.
            terminal.type("q")
            time.sleep(0.1)
            return terminal.process.poll() is not None or "a file is being written" in terminal.text

        wait_for(quitting, "the interface to end")
        terminal.shows("a file is being written")
        if code == 2:
            # Somebody else takes the name meanwhile.
            target.write_text("theirs")
        terminal.type(keys)
        assert terminal.end() == code
        assert target.exists() == is_there
        assert ("is there already" in terminal.text) == (code == 2)
        assert terminal.left_behind() == []
    assert target.read_text() == "theirs"
    target.unlink()
    whole = tmp_path / "large-0.txt"
    assert whole.read_text().count("\n") >= num_events
    assert sorted(tmp_path.iterdir()) == sorted([*before, whole])
