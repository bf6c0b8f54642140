"""Ctrl-C as a wish to end well: the first asks, the second insists."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C inside; a second one raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let what is inside finish, then raise KeyboardInterrupt if it was asked for; a second Ctrl-C raises at once.

    For imports: some packages swallow an interrupt of theirs, and would be used half loaded.
    """
    asked: list[bool] = []
    with on_interrupt(lambda: asked.append(True)):
        yield
    if asked:
        raise KeyboardInterrupt
