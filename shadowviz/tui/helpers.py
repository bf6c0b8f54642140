"""Work beside the screens that must not be cut short: a file that is written goes on when the interface has ended."""

import contextlib
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

import msgspec

from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import ShadowvizError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp

MOST_WORDS = 600
"""Characters told of what went wrong: it may quote what a file holds."""


class Outcome(msgspec.Struct, frozen=True):
    """What has become of some work."""

    words: str
    """Safe to show."""
    code: int = 0
    """Exit code of a command that ends with it; 0 = it went well."""


class Helpers:
    """Threads, each with one piece of work."""

    def __init__(self) -> None:
        self._threads: list[Thread] = []
        self._untold: list[Outcome] = []

    @property
    def are_busy(self) -> bool:
        """Whether some work is not done yet."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return bool(self._threads)

    @property
    def untold(self) -> tuple[Outcome, ...]:
        """What has become of the work that nobody was told of yet, in the order in which it was done."""
        return tuple(self._untold)

    def start(self, work: Callable[[], str], tell: Callable[[Outcome], None]) -> None:
        """Do some work beside everything else, which gives what was done in words; empty = there is nothing to tell.

        `tell` is called when it is done, in its thread; what it has told is taken out by `told`.
        """
        # Whoever is asked to wait for it may refuse to: then it ends with the process.
        thread = Thread(target=self._do, args=(work, tell), daemon=True)
        self._threads.append(thread)
        thread.start()

    def told(self, outcome: Outcome) -> None:
        """Somebody has been told."""
        self._untold.remove(outcome)

    def wait(self) -> None:
        """Until all work is done."""
        while self._threads:
            self._threads[-1].join()
            self._threads.pop()

    def _do(self, work: Callable[[], str], tell: Callable[[Outcome], None]) -> None:
        outcome = _outcome(work)
        if outcome.words:
            self._untold.append(outcome)
            # The interface may end at this moment; then it is told later.
            with contextlib.suppress(RuntimeError):
                tell(outcome)


def start_told(app: "ShadowvizApp", work: Callable[[], str]) -> None:
    """Do some work beside the screens, and say how it ended, unless the interface has ended before."""

    def say(outcome: Outcome) -> None:
        if app.return_code is None:
            app.helpers.told(outcome)
            app.say(outcome.words)

    def tell(outcome: Outcome) -> None:
        app.call_later(say, outcome)

    app.helpers.start(work, tell)


def _outcome(work: Callable[[], str]) -> Outcome:
    try:
        return Outcome(work())
    except ShadowvizError as error:
        return Outcome(shorten(str(error), MOST_WORDS), error.exit_code)
    except Exception as error:
        # A thread that ends by it would tell nobody.
        return Outcome(shorten(f"nothing is written: {type(error).__name__}: {error}", MOST_WORDS), 1)
