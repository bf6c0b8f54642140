"""Whatever becomes of the terminal, the interface goes on or ends as it should, and leaves nothing behind."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tui_logs import chat_log
from tui_processes import is_running, wait_for
from tui_terminal import Terminal

from shadowviz_engine.core.log_reader import read_log

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")


@pytest.fixture(autouse=True)
def log(tmp_path: Path) -> Path:
    return chat_log(tmp_path / "chat.jsonl")


def quit_by_key(terminal: Terminal) -> int:
    terminal.type("q")
    return terminal.end()


def test_bytes_of_another_encoding_end_nothing(begun: Callable[..., Terminal]) -> None:
    terminal = begun("chat.jsonl")
    terminal.shows("[1 Live]")
    terminal.type(b"\xe4\xff6")
    terminal.shows("[6 Pools]")
    assert "Traceback" not in terminal.text
    assert quit_by_key(terminal) == 0
    assert terminal.left_behind() == []


@pytest.mark.parametrize("is_taken", [False, True])
def test_the_screens_are_drawn_though_errors_go_elsewhere(
    begun: Callable[..., Terminal], tmp_path: Path, is_taken: bool
) -> None:
    (tmp_path / "errors").touch()
    # What is open for reading alone takes nothing.
    with (tmp_path / "errors").open("ab" if is_taken else "rb") as errors:
        terminal = begun("chat.jsonl", errors=errors.fileno())
        terminal.shows("[1 Live]")
        assert quit_by_key(terminal) == 0
    assert terminal.left_behind() == []
    assert (tmp_path / "errors").read_bytes() == b""


def test_stopped_and_gone_on_with_the_terminal_is_given_back(begun: Callable[..., Terminal]) -> None:
    terminal = begun("chat.jsonl")
    terminal.shows("[1 Live]")
    terminal.process.send_signal(signal.SIGSTOP)
    status = Path(f"/proc/{terminal.process.pid}/status")
    wait_for(lambda: "State:\tT" in status.read_text(), "that it is stopped")
    terminal.process.send_signal(signal.SIGCONT)
    terminal.type("6")
    terminal.shows("[6 Pools]")
    assert quit_by_key(terminal) == 0
    assert terminal.left_behind() == []


def test_a_terminal_that_goes_without_a_signal_ends_the_interface_and_the_engine(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("-o", "run.jsonl", is_own=False)
    terminal.shows("[1 Live]")
    (engine,) = terminal.children()
    terminal.hang_up()
    assert terminal.end() == 128 + signal.SIGHUP
    assert not is_running(engine)
    record = tmp_path / "run.jsonl"
    assert not record.exists() or read_log(record).summary.complete


def test_a_terminal_that_takes_nothing_does_not_keep_the_interface_from_ending(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("-o", "run.jsonl", size=(200, 60), is_read=False)
    record = tmp_path / "run.jsonl"
    wait_for(lambda: record.exists() and record.stat().st_size > 20_000, "events of the engine")
    # Drawing anew fills whatever room there is.
    for _ in range(400):
        terminal.type("\x0c")
    (engine,) = terminal.children()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    assert not is_running(engine)
    assert read_log(record).summary.complete


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_loses_no_record_that_was_kept(
    begun: Callable[..., Terminal], tmp_path: Path, second: signal.Signals
) -> None:
    terminal = begun(environment={"TMPDIR": str(tmp_path)})
    terminal.shows("short")
    terminal.type("y")
    terminal.shows("keep it for")
    terminal.type("kept.jsonl\r")
    terminal.shows("copied")
    terminal.process.send_signal(signal.SIGTERM)
    wait_for(lambda: b"\x1b[?1049l" in terminal.output, "the end of the screen")
    terminal.process.send_signal(second)
    assert terminal.end() == 128 + signal.SIGTERM
    assert read_log(tmp_path / "kept.jsonl").summary.complete
    assert not list(tmp_path.glob("shadowviz-tui-*"))


def test_a_question_is_answered_once_and_what_comes_behind_is_for_what_it_leaves(
    begun: Callable[..., Terminal], tmp_path: Path
) -> None:
    terminal = begun("chat.jsonl")
    terminal.shows("CUT_BY_SWA")
    # The second Enter opens the request that is chosen.
    terminal.type("ea.json\r\r")
    terminal.shows("[3 Ruler]")
    wait_for((tmp_path / "a.json").exists, "the file")
    terminal.type("1")
    terminal.type("/none\r\r6")
    terminal.shows("[6 Pools]")
    assert quit_by_key(terminal) == 0
