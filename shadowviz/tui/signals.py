"""What ends the interface from outside: signals, which ask first and insist then."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Final, Self

BY_SIGNAL: Final = 128
"""Exit code of a process that a signal has ended, less the signal's number."""
NUMBERS: Final = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)
"""Some systems have no SIGHUP."""


class Signals:
    """The first signal asks the interface to end, if it runs; every other one raises KeyboardInterrupt.

    A context of the main thread. In it no signal ends the process by itself: whatever must be closed can be.
    """

    def __init__(self) -> None:
        self.code = 0
        """Exit code that tells of the first signal; 0 = there was none."""
        self._ask: Callable[[int], None] | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._come) for number in NUMBERS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def ask_by(self, ask: Callable[[int], None]) -> None:
        """From now on a signal calls `ask` with the exit code; it may come between any two steps of the main thread."""
        self._ask = ask

    def insist(self) -> None:
        """From now on a signal raises KeyboardInterrupt."""
        self._ask = None

    def _come(self, number: int, _frame: FrameType | None) -> None:
        self.code = self.code or BY_SIGNAL + number
        if self._ask is None:
            raise KeyboardInterrupt
        self._ask(self.code)
