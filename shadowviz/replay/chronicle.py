"""What a run has shown so far that no later event changes, by the number of the event: sums that any moment can ask."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable

import msgspec

from shadowviz_engine.core.events import Event, LookupDone, RequestAborted, RequestFinished, RequestSubmitted
from shadowviz_engine.core.replayer import Replayer

_NOTED = frozenset({LookupDone, RequestSubmitted, RequestFinished, RequestAborted})


class LookupSums(msgspec.Struct, frozen=True):
    """Over all lookups up to a moment."""

    num_lookups: int
    prompt_tokens: int
    reused_tokens: int


class Chronicle:
    """Notes of the events up to the furthest one that was ever replayed."""

    def __init__(self) -> None:
        self.seq = -1
        """The furthest event noted."""
        self.lookups = array("q")
        """Seq of every lookup."""
        self._prompt = array("q", (0,))
        self._reused = array("q", (0,))
        self._submitted = array("q")
        self._ended = array("q")
        self._ttft = array("q")

    def note(self, events: Iterable[Event], state: Replayer) -> None:
        """Take the events that came next, as far as `state` has them applied; those known already are passed over."""
        known, applied = self.seq, state.seq
        for event in events:
            if type(event) in _NOTED and known < event.seq <= applied:
                self._note(event, state)
        self.seq = max(known, applied)

    def _note(self, event: Event, state: Replayer) -> None:
        match event:
            case LookupDone():
                self.lookups.append(event.seq)
                self._prompt.append(self._prompt[-1] + event.num_prompt)
                self._reused.append(self._reused[-1] + event.reused)
            case RequestSubmitted():
                self._submitted.append(event.seq)
                self._ended.append(-1)
                self._ttft.append(-1)
            case RequestFinished() | RequestAborted():
                row = state.requests.index[event.request]
                self._ended[row] = event.seq
                if isinstance(event, RequestFinished):
                    self._ttft[row] = event.ttft_ns

    def sums(self, seq: int) -> LookupSums:
        """Over the lookups up to event `seq`."""
        num = bisect_right(self.lookups, seq)
        return LookupSums(num, self._prompt[num], self._reused[num])

    @property
    def reused_sums(self) -> "array[int]":
        """Tokens reused before each of `lookups`, and behind the last one by all of them; not to be changed."""
        return self._reused

    def submitted(self, row: int) -> int:
        """Seq at which the request in `row` entered the queue."""
        return self._submitted[row]

    def ended(self, row: int, seq: int) -> int:
        """Seq at which the request in `row` ended, as known after event `seq`; -1 = it had not."""
        end = self._ended[row]
        return end if end <= seq else -1

    @property
    def endings(self) -> "tuple[array[int], array[int]]":
        """By row, seq at which the request ended and nanoseconds to its first token; -1 = not known."""
        return self._ended, self._ttft
