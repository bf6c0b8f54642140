"""`shadowviz tui` behind a pty, as the benchmark drives it: keys in, whatever is written read and timed."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

LINES, COLUMNS = 40, 120
FRAME_BYTES = 2_000
"""A screen is there once so much of it was written."""
QUIET_S = 0.05


class Key(NamedTuple):
    """What a key took."""

    wall_s: float
    """Until the first byte of the answer."""
    cpu_s: float
    """Until the answer is whole, with whatever else was done meanwhile."""
    span_s: float
    """Seconds in which that CPU was used."""


class Terminal:
    """The interface on a log, from its start on.

    Args:
        compiled: folder of compiled modules, made on the first start: an installation has them, a checkout may not.
    """

    def __init__(self, log: Path, screen: str, compiled: Path) -> None:
        self._started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PYTHONPYCACHEPREFIX=str(compiled))
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
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

    def send(self, key: bytes) -> None:
        """Press a key, and do not wait for what it does."""
        os.write(self._fd, key)

    def key(self, key: bytes) -> "Key":
        """Press a key, and wait until the answer is whole."""
        while self._read(0.0):
            pass
        cpu, began = self.cpu_s(), time.perf_counter()
        os.write(self._fd, key)
        self._read(5.0)
        wall = time.perf_counter() - began
        while self._read(QUIET_S):
            if time.perf_counter() - began > 0.3:
                break
        return Key(wall, self.cpu_s() - cpu, time.perf_counter() - began)

    def busy(self, seconds: float) -> float:
        """CPU seconds a second while no key is pressed, measured for so long."""
        cpu, began = self.cpu_s(), time.perf_counter()
        while time.perf_counter() < began + seconds:
            self._read(QUIET_S)
        return (self.cpu_s() - cpu) / (time.perf_counter() - began)

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
