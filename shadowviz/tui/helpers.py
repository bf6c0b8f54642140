"""Work beside the screens that must not be cut short: a file that is written goes on when the interface has ended."""

from collections.abc import Callable
from threading import Thread


class Helpers:
    """Threads, each with one piece of work."""

    def __init__(self) -> None:
        self._threads: list[Thread] = []

    @property
    def are_busy(self) -> bool:
        """Whether some work is not done yet."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return bool(self._threads)

    def start(self, work: Callable[[], None]) -> None:
        """Do some work beside everything else."""
        # Whoever is asked to wait for it may refuse to: then it ends with the process.
        thread = Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Until all work is done."""
        while self._threads:
            self._threads[-1].join()
            self._threads.pop()
