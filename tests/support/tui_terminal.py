"""The terminal interface in a real pseudo-terminal: what it writes there, what it does to it, and how it ends."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread

from tui_processes import wait_for

SIZE = (80, 24)
_MODES = {"1049": "another screen", "1000": "mouse", "1003": "mouse moves", "1006": "mouse", "2004": "pasting"}
"""Modes of a terminal that are off for whoever comes next."""


class Terminal:
    """A command with a terminal of its own, read all the time."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        size: tuple[int, int] = SIZE,
        environment: Mapping[str, str] | None = None,
        *,
        errors: int | None = None,
        is_own: bool = True,
        is_read: bool = True,
    ) -> None:
        """Start it.

        Args:
            errors: Where its standard error goes, if not to the terminal.
            is_own: Whether the terminal is the command's own, so that it is told when that goes.
            is_read: Whether somebody takes what it writes.
        """
        self._ours, self._theirs = pty.openpty()
        self.resize(size)
        self.before = termios.tcgetattr(self._theirs)
        self.output = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shadowviz", *arguments],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs if errors is None else errors,
            cwd=folder,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})},
            # Closing a window tells only those whose own terminal it was.
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if is_own else None,  # noqa: PLW1509 - a call of the system alone
        )
        self._reader = Thread(target=self._read, daemon=True)
        if is_read:
            self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    @property
    def text(self) -> str:
        """All that was written, without what steers the terminal."""
        return re.sub(r"\x1b(\[[0-9;?<>=$ ]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|.)", "", self.output.decode())

    def resize(self, size: tuple[int, int]) -> None:
        """Another size, in columns and lines."""
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def type(self, keys: str | bytes) -> None:
        """Keys as a terminal sends them."""
        os.write(self._ours, keys.encode() if isinstance(keys, str) else keys)

    def shows(self, words: str) -> None:
        """Wait until something has been written."""
        wait_for(lambda: words in self.text or self.process.poll() is not None, repr(words))
        assert words in self.text, self.text[-2000:]

    def children(self) -> list[int]:
        """Processes that the command has started and that run."""
        pid = self.process.pid
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def end(self) -> int:
        """Wait for the end; the exit code, negative where a signal ended it."""
        wait_for(lambda: self.process.poll() is not None, "the end of the interface")
        return self.process.returncode

    def hang_up(self) -> None:
        """Let go of the terminal, as when its window is closed."""
        os.close(self._theirs)
        # What reads from it holds it, too.
        os.close(self._ours)

    def left_behind(self) -> list[str]:
        """What of the terminal is not as it was."""
        wrong = []
        for mode, name in _MODES.items():
            on, off = self.output.rfind(f"\x1b[?{mode}h".encode()), self.output.rfind(f"\x1b[?{mode}l".encode())
            wrong += [name] if on > off else []
        if self.output.rfind(b"\x1b[?25l") > self.output.rfind(b"\x1b[?25h"):
            wrong.append("no cursor")
        after = termios.tcgetattr(self._theirs)
        wrong += ["settings of the line"] if after[:4] != self.before[:4] else []
        return wrong

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self._ours, self._theirs):
            with contextlib.suppress(OSError):
                os.close(descriptor)
