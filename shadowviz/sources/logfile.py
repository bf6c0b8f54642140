"""A recorded log as a source of events."""

from collections.abc import Iterator
from pathlib import Path

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LogClosed, LogOpened
from shadowviz_engine.core.log_reader import LogSummary, read_log
from shadowviz_engine.core.replayer import Replayer


class LogFile:
    """A recorded log.

    Raises:
        LogError: the file cannot be read, or is no log that this version reads; while reading events: the log
            contradicts itself.
    """

    def __init__(self, path: str | Path) -> None:
        self.log = read_log(path)
        self.path = self.log.path

    @property
    def opened(self) -> LogOpened:
        """What the run depended on."""
        return self.log.opened

    @property
    def summary(self) -> LogSummary:
        """What the log holds and what it lost; reads it to the end if that was not done yet."""
        return self.log.summary

    def events(self) -> Iterator[Event]:
        """Every event, from the first."""
        return iter(self.log)

    def tell_progress(self, num_events: int) -> None:
        """Nobody watches."""

    def replay(self) -> Replayer:
        """State at the end, compared with the digest of the engine's own.

        Raises:
            LogError: an event contradicts the state before it, or the digests differ.
        """
        replayer = Replayer()
        for event in self.events():
            try:
                replayer.apply(event)
                if isinstance(event, LogClosed):
                    replayer.check_closed(event)
            except LogError as error:
                raise LogError(f"{self.path}: {error}") from error
        return replayer
