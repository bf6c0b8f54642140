"""A command of this program in a child process: it is asked to end as by Ctrl-C, and ends with its parent."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Final

from shadowviz.sources.last_words import last_words
from shadowviz.tokens.inert import shorten

STOP_S: Final = 15.0
"""For the command to end well once it was asked to; after that it is ended."""
MOST_WORDS: Final = 300
"""Characters told of why it ended."""
_COMMAND: Final = ("-P", "-X", "utf8", "-m", "shadowviz.cli.tui_leash")
"""Without the current directory among the places that modules come from: a file there may have any name."""
_SAYS: Final = "shadowviz: "
"""How a command begins a line that tells why it ended."""


class CommandChild:
    """A command that runs beside the interface; what it prints is not shown, what it writes to files is.

    It holds a pipe to its parent, and is interrupted once: at the first byte that comes, or when the pipe closes, also
    because the parent is killed.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = tuple(arguments)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        # In a session of its own: Ctrl-C in the terminal is the parent's.
        self._process = subprocess.Popen(  # noqa: S603 - this Python, with a module of this package; no shell
            [sys.executable, *_COMMAND, *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Of the child process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative where a signal ended it; None = it runs."""
        return self._process.poll()

    def interrupt(self) -> None:
        """Ask it to end, as one Ctrl-C does; it may take a moment."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(b".")
            self._process.stdin.flush()

    def close(self, wait_s: float = STOP_S) -> None:
        """Have it end; whatever it does, it has ended afterwards."""
        if self.code is None:
            self.interrupt()
            try:
                self._process.wait(wait_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._errors.close()

    def last_words(self) -> str:
        """Why it ended, as it said itself, safe to show; empty where it said nothing."""
        return shorten(last_words(self._errors, _SAYS), MOST_WORDS)
