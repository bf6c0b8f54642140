"""A long call into a library, made so that Ctrl-C is heard while it runs."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_thread(call: Callable[[], T]) -> T:
    """What `call` returns; an interrupt is raised while it runs, and it is then left to itself."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result()
