"""What came before a lookup, read from the log when a sentence asks for it: nothing of it is kept in memory."""

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from shadowviz.replay.meanings import Past
from shadowviz_engine.core.events import (
    CacheFlushed,
    Event,
    NotStored,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    SwaFreed,
)
from shadowviz_engine.core.replayer import Replayer

Value = TypeVar("Value")


class EventReader(Protocol):
    """Events by their number."""

    def event_at(self, seq: int) -> Event:
        """The event `seq`."""


def log_past(log: EventReader, state: Replayer) -> Past:
    """The past of `state`, the one just before a lookup of `log`."""
    return Past(_Causes(log, state), _Inserted(log, state), _Storers(log, state))


class _FromLog(Mapping[int, Value]):
    """Answers from the log; it cannot be listed without reading all of it."""

    def __init__(self, log: EventReader, state: Replayer) -> None:
        self._log, self._state = log, state

    def _event(self, seq: int) -> Event:
        if not 0 <= seq <= self._state.seq:
            raise KeyError(seq)
        return self._log.event_at(seq)

    def __iter__(self) -> Iterator[int]:
        raise TypeError("the past in a log is asked for by number")

    def __len__(self) -> int:
        raise TypeError("the past in a log is asked for by number")


class _Causes(_FromLog[Event]):
    def __getitem__(self, seq: int) -> Event:
        event = self._event(seq)
        if not isinstance(event, (SwaFreed, SpanEvicted, NotStored, CacheFlushed)):
            raise KeyError(seq)
        return event


class _Inserted(_FromLog[str]):
    def __getitem__(self, seq: int) -> str:
        event = self._event(seq)
        if not isinstance(event, SpanInserted):
            raise KeyError(seq)
        return event.request


class _Storers(_FromLog[str]):
    def __getitem__(self, node: int) -> str:
        created = self._state.nodes.created
        while 0 < node < len(created):
            event = self._event(created[node])
            if isinstance(event, SpanInserted):
                return event.request
            assert isinstance(event, SpanSplit), "a node is made by an insert or a split"
            # The upper part has tokens of whoever stored the node that was split, which is older.
            node = event.node
        raise KeyError(node)
