"""The way back from a state, event by event, within a number of bytes."""

from collections import deque

from shadowviz_engine.core.replayer import Undo

_RECORD_BYTES = 400
"""A record with its three parts and a few small numbers, as measured: 420 bytes of a step, 500 of a span."""
_ITEM_BYTES = 56
"""A number or a run in a list that a record holds, with the place that points at it."""


class UndoLog:
    """Undo records of the events applied last; the oldest are forgotten."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._records: deque[tuple[Undo, int]] = deque()
        self.num_bytes = 0
        """About what the records take."""

    def __len__(self) -> int:
        return len(self._records)

    def push(self, undo: Undo) -> None:
        """Keep the record of the event applied last."""
        size = _RECORD_BYTES
        for part in undo[2]:
            if type(part) is tuple or type(part) is list:
                size += _ITEM_BYTES * len(part)
        self._records.append((undo, size))
        self.num_bytes += size
        while self.num_bytes > self._max_bytes:
            self.num_bytes -= self._records.popleft()[1]

    def pop(self) -> Undo:
        """The record of the event applied last, which is then forgotten."""
        undo, size = self._records.pop()
        self.num_bytes -= size
        return undo

    def clear(self) -> None:
        """Forget all: events were applied without a record."""
        self._records.clear()
        self.num_bytes = 0
