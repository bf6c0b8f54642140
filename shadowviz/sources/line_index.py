"""Where every event of a log stands in its file, and of which kind it is, found without decoding the events."""

from array import array
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shadowviz_engine.core.events import EVENT_TYPES
from shadowviz_engine.core.log_lines import decode_head

KINDS: tuple[str, ...] = ("", *(kind.__name__ for kind in EVENT_TYPES))
"""Names of the codes that the index keeps; 0 = a type that this version does not know."""
CODES: dict[str, int] = {name: code for code, name in enumerate(KINDS) if name}

_BEFORE = b'{"type":"'
_KEY_BYTES = 16
_NEWLINE = 10

_Bytes: TypeAlias = NDArray[np.uint8]


def _key(name: str) -> bytes:
    """The first bytes behind `_BEFORE` of an event as this project writes it: no two kinds have the same."""
    key = f'{name}","seq":'.encode()[:_KEY_BYTES]
    assert len(key) == _KEY_BYTES, "every kind has a name of at least eight letters"
    return key


def _numbers(keys: _Bytes) -> NDArray[np.uint64]:
    """One number for each row of `_KEY_BYTES` bytes."""
    halves = np.ascontiguousarray(keys).view("<u8")
    numbers: NDArray[np.uint64] = (halves[:, 0] * np.uint64(0x9E3779B97F4A7C15)) ^ halves[:, 1]
    return numbers


_KNOWN = _numbers(np.frombuffer(b"".join(map(_key, KINDS[1:])), np.uint8).reshape(-1, _KEY_BYTES))
_ORDER = np.argsort(_KNOWN)
_SORTED = _KNOWN[_ORDER]
assert len(set(_KNOWN.tolist())) == len(_KNOWN), "the numbers tell the kinds apart"


class LineIndex:
    """Places and kinds of the lines from one place of a file on; `first_seq` is the event of the first line."""

    def __init__(self, first_seq: int = 0, offset: int = 0) -> None:
        self.first_seq = first_seq
        self.offsets = array("q", (offset,))
        """Where every line begins, and where the last whole one ends."""
        self.kinds = bytearray()
        """Code of every line's kind; see `KINDS`."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def stop_seq(self) -> int:
        """One behind the last event."""
        return self.first_seq + len(self.kinds)

    @property
    def begin(self) -> int:
        """Where the first line begins."""
        return self.offsets[0]

    @property
    def end(self) -> int:
        """Where the last whole line ends."""
        return self.offsets[-1]

    def add(self, data: bytes) -> int:
        """Take the whole lines of `data`, which stands at `end`; how many there are."""
        view = np.frombuffer(data, np.uint8)
        stops = np.flatnonzero(view == _NEWLINE) + 1
        if not len(stops):
            return 0
        starts = np.concatenate(([0], stops[:-1]))
        self.kinds += _codes(data, view, starts, stops)
        self.offsets.frombytes((stops + self.end).astype(np.int64).tobytes())
        return len(stops)

    def join(self, later: "LineIndex") -> None:
        """Take over what `later` has, which begins where this one ends."""
        assert (later.begin, later.first_seq) == (self.end, self.stop_seq), "the two meet"
        self.kinds += later.kinds
        self.offsets.extend(later.offsets[1:])

    def extent(self, start: int, stop: int) -> tuple[int, int]:
        """Where the events [start, stop) begin and end in the file."""
        return self.offsets[start - self.first_seq], self.offsets[stop - self.first_seq]


def _codes(data: bytes, view: _Bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> bytes:
    """Codes of the lines [start, stop) of `data`."""
    codes = np.zeros(len(starts), np.uint8)
    head = len(_BEFORE)
    long = np.flatnonzero(stops - starts > head + _KEY_BYTES)
    if len(long):
        rows = np.lib.stride_tricks.sliding_window_view(view, head + _KEY_BYTES)[starts[long]]
        numbers = _numbers(rows[:, head:])
        at = np.minimum(np.searchsorted(_SORTED, numbers), len(_SORTED) - 1)
        known = (_SORTED[at] == numbers) & (rows[:, :head] == np.frombuffer(_BEFORE, np.uint8)).all(axis=1)
        codes[long[known]] = _ORDER[at[known]] + 1
    # Lines of other programs may have blanks, or their fields in another order.
    for line in np.flatnonzero(codes == 0).tolist():
        found = decode_head(data[starts[line] : stops[line]])
        codes[line] = CODES.get(found.type, 0) if found else 0
    return codes.tobytes()
