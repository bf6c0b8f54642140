"""What the terminal interface costs, in a real terminal: first frames, keys at a million nodes, a log that grows."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from shadowviz.experiments.bench_report import AtMost, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import Say
from shadowviz.experiments.bench_tui_log import more_lines, write_large_log

LINES, COLUMNS = 40, 120
FRAME_BYTES = 2_000
"""A screen is there once so much of it was written."""
QUIET_S = 0.05
RATE = 5_000
"""Events a second while keys are measured."""


@dataclass(frozen=True)
class TuiSizes:
    """Nodes of the tree, and keys pressed on each occasion."""

    nodes: int
    keys: int


class Terminal:
    """`shadowviz tui` behind a pty, which reads whatever it writes."""

    def __init__(self, log: Path, screen: str) -> None:
        self._started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            command = [sys.executable, "-m", "shadowviz.cli.main", "tui", "--screen", screen, str(log)]
            time.sleep(0.05)  # until the size of the terminal is set
            os.execv(sys.executable, command)  # noqa: S606
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def first_frame_s(self) -> float:
        """Until most of a screen is there, from the command on."""
        seen = 0
        while seen < FRAME_BYTES:
            seen += len(self._read(60.0))
        return time.perf_counter() - self._started

    def until(self, words: bytes, limit_s: float) -> float:
        """Seconds from the command on until these words are written."""
        tail = b""
        while words not in tail:
            if time.perf_counter() - self._started > limit_s:
                return float("nan")
            tail = tail[-200:] + self._read(1.0)
        return time.perf_counter() - self._started

    def settle(self, limit_s: float) -> None:
        """Until the process has had little to do for a while."""
        stop = time.perf_counter() + limit_s
        while time.perf_counter() < stop:
            before, until = self.cpu_s(), time.perf_counter() + 1.0
            while time.perf_counter() < until:
                self._read(0.1)
            if self.cpu_s() - before < 0.3:
                return

    def key(self, key: bytes) -> tuple[float, float]:
        """Seconds until the first byte of the answer, and CPU seconds until it is whole."""
        while self._read(0.0):
            pass
        cpu, began = self.cpu_s(), time.perf_counter()
        os.write(self._fd, key)
        self._read(5.0)
        wall = time.perf_counter() - began
        while self._read(QUIET_S):
            if time.perf_counter() - began > 0.3:
                break
        return wall, self.cpu_s() - cpu

    def cpu_s(self) -> float:
        """CPU seconds of all threads so far, in nanoseconds' resolution where the system has it."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def peak_mb(self) -> float:
        """Most memory that was resident."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        """Leave as a user does."""
        os.write(self._fd, b"q")
        stop = time.perf_counter() + 5
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.perf_counter() > stop:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            self._read(0.05)
        os.close(self._fd)

    def _read(self, wait_s: float) -> bytes:
        if not select.select([self._fd], [], [], wait_s)[0]:
            return b""
        try:
            return os.read(self._fd, 1 << 16)
        except OSError:
            return b""


def tui_part(sizes: TuiSizes, say: Say) -> Part:
    """Times, CPU and memory of the interface at a log of `sizes.nodes` nodes."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "large.jsonl"
        say(f"tui: a log of {sizes.nodes:,} nodes")
        count = write_large_log(log, sizes.nodes)
        terminal = Terminal(log, "live")
        try:
            say("tui: first frame, and the state of all events")
            first = terminal.first_frame_s()
            whole = terminal.until(f"LIVE e{count - 1:,}".encode(), 300.0)
            os.write(terminal._fd, b"2")
            terminal.settle(60.0)
            say("tui: keys in the tree")
            still = [terminal.key(b"j") for _ in range(sizes.keys)]
            say(f"tui: keys while {RATE:,} events a second arrive")
            growing = _while_growing(terminal, log, count, sizes.keys)
            memory = terminal.peak_mb()
        finally:
            terminal.close()
    return _part(sizes, (first, count / (whole - first), memory), still, growing)


def _while_growing(terminal: Terminal, log: Path, seq: int, num_keys: int) -> list[tuple[float, float]]:
    ended = threading.Event()

    def grow() -> None:
        at = seq
        with log.open("ab") as file:
            while not ended.wait(0.02):
                file.write(b"".join(more_lines(at, RATE // 50)))
                file.flush()
                at += RATE // 50

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        return [terminal.key(b"j") for _ in range(num_keys)]
    finally:
        ended.set()
        writer.join()


def _part(
    sizes: TuiSizes,
    start: tuple[float, float, float],
    still: list[tuple[float, float]],
    growing: list[tuple[float, float]],
) -> Part:
    first, rate, memory = start
    figures = [Figure("first frame after the command", first, "s"), Figure("events a second until the end", rate, "")]
    figures.append(Figure("most memory resident", memory, "MB"))
    for name, keys in (("a key", still), (f"a key, {RATE:,} events a second", growing)):
        walls = [wall * 1e3 for wall, _ in keys]
        figures.append(Figure(f"{name}: median", median(walls), "ms"))
        figures.append(Figure(f"{name}: 95 of 100 within", quantiles(walls, n=20)[-1], "ms"))
    ratios = (
        Ratio("CPU of a key, by 15 ms", median(cpu for _, cpu in still) / 0.015, AtMost(1)),
        Ratio("first frame, by 1.5 s", first / 1.5, AtMost(1)),
    )
    about = f"a real terminal of {COLUMNS}x{LINES}, a log of {sizes.nodes:,} nodes and more events, {sizes.keys} keys"
    return Part("tui", about, ratios, tuple(figures))
