"""The terminal that the interface draws on: it may speak another encoding, stop and go on, or be gone at any moment."""

import contextlib
import os
import select
import signal
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, TextIO, cast

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

GONE: Final = 128 + signal.SIGHUP
"""Exit code where the terminal is there no more."""
LOOK_S: Final = 0.1
"""Between two looks at whether anything else is wanted."""
PATIENCE_S: Final = 3.0
"""For a terminal that takes nothing, once the interface is to end."""
CHUNK_BYTES: Final = 4096
"""Written in one go."""


class TerminalFile:
    """What is written goes to a terminal, or nowhere once that is gone."""

    def __init__(self, file: TextIO, gone: Callable[[], None]) -> None:
        self._file, self._gone, self._is_gone = file, gone, False
        self._number = _never_waiting(file.fileno())
        self.stop_s = float("inf")
        """Moment of the clock from which on a terminal that takes nothing is not waited for."""

    def fileno(self) -> int:
        """Number of the terminal's file."""
        return self._file.fileno()

    def write(self, text: str) -> None:
        """Write some text, as soon as the terminal takes it."""
        data = memoryview(text.encode(self._file.encoding or "utf-8", "replace"))
        try:
            while data and not self._is_gone:
                if select.select([], [self._number], [], LOOK_S)[1]:
                    # It may take less than it was said to have room for.
                    with contextlib.suppress(BlockingIOError):
                        data = data[os.write(self._number, data[:CHUNK_BYTES]) :]
                elif time.monotonic() >= self.stop_s:
                    self.let_go()
        except (OSError, ValueError):
            self.let_go()
            self._gone()

    def flush(self) -> None:
        """Nothing is held back."""

    def let_go(self) -> None:
        """Write nothing from now on."""
        self._is_gone = True


def _never_waiting(number: int) -> int:
    """The terminal's file opened once more, so that writing there never waits; the given one where that cannot be.

    A setting of the given one would be the shell's, too.
    """
    with contextlib.suppress(OSError):
        return os.open(os.ttyname(number), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    return number


class TerminalDriver(LinuxDriver):
    """Draws on the standard output, and outlives whatever becomes of the terminal."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        assert sys.__stdout__ is not None, "it was found to be a terminal"
        self._terminal = TerminalFile(sys.__stdout__, self._is_gone)
        self._file = cast("Any", self._terminal)

    def _is_gone(self) -> None:
        self._app.call_later(self._app.exit, None, GONE)

    def be_quick(self) -> None:
        """The interface is to end: do not wait for ever for a terminal that takes nothing."""
        self._terminal.stop_s = time.monotonic() + PATIENCE_S

    def _sigcont_application(self, *_: int | FrameType | None) -> None:
        # Only what was suspended is begun anew: the system sends this signal also to what it hangs up.
        if self._must_signal_resume:
            super()._sigcont_application()
        elif self._auto_restart:
            # Whoever had the terminal meanwhile may have changed how it takes keys, and what it shows.
            with contextlib.suppress(termios.error):
                attributes = termios.tcgetattr(self.fileno)
                attributes[3], attributes[0] = self._patch_lflag(attributes[3]), self._patch_iflag(attributes[0])
                termios.tcsetattr(self.fileno, termios.TCSANOW, attributes)
            self._app.call_later(self._app.refresh, layout=True)

    def run_input_thread(self) -> None:
        """Hand on what is typed; bytes that are no UTF-8 come as characters that stand for any."""
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            text = ""
            if select.select([self.fileno], [], [], LOOK_S)[0]:
                data = self._read()
                if not data:
                    self._is_gone()
                    return
                text = decode(data)
            for event in [*(parser.feed(text) if text else ()), *parser.tick()]:
                self.process_message(event)
        with contextlib.suppress(EOFError, ParseError):
            list(parser.feed(""))

    def _read(self) -> bytes:
        """What was typed; empty = the terminal is gone."""
        with contextlib.suppress(OSError):
            return os.read(self.fileno, 4096)
        return b""
