"""The file of a log in chunks of whole lines, which can be read in any order, and by several processes."""

import os
from operator import attrgetter

import msgspec
import numpy as np

from shadowviz.replay.bulk.columns import Columns, columns_of
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.log_lean import decode_lean
from shadowviz_engine.core.log_lines import MAX_LINE_BYTES

CHUNK_BYTES = 256 * 1024
"""Enough that what is done once a chunk costs little, and its events stay in the processor's caches."""
_SEQ = attrgetter("seq")
NOTHING = Columns(first=-1, num=0)


class Chunks(msgspec.Struct, frozen=True):
    """Chunks of a file: the line that begins at byte b is in chunk b // `chunk_bytes`."""

    path: bytes
    """As the system has it."""
    size: int
    """Bytes of the file; what is behind is not read, but to the end of a line."""
    chunk_bytes: int = CHUNK_BYTES

    @property
    def num(self) -> int:
        """Number of them."""
        return -(-self.size // self.chunk_bytes)

    def lines(self, number: int) -> bytes:
        """The lines that begin in a chunk; the last one of the file may lack its end.

        Raises:
            LogError: the file cannot be read.
        """
        start, stop = number * self.chunk_bytes, min((number + 1) * self.chunk_bytes, self.size)
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 (a Path has no bytes)
                # From one byte before, so that a line that begins here is not taken for the rest of another.
                file.seek(max(start - 1, 0))
                if start:
                    start += len(file.readline(self.chunk_bytes + 1)) - 1
                block = file.read(stop - start) if start < stop else b""
                if block and not block.endswith(b"\n"):
                    block += file.readline(MAX_LINE_BYTES + 1)
        except OSError as error:
            raise LogError(f"cannot read {os.fsdecode(self.path)}: {error.strerror}") from error
        return block


def parse(lines: bytes, wanted: str) -> Columns | None:
    """The events in the lines of a chunk; None if there is anything to be said of one, which reading it whole tells.

    Args:
        wanted: a request of which a lookup is looked for.
    """
    if not lines:
        return NOTHING
    num_lines = _num_objects(lines)
    events = decode_lean(lines) if num_lines else None
    if not events or len(events) != num_lines:
        return None
    first = events[0].seq
    if list(map(_SEQ, events)) != list(range(first, first + len(events))):
        return None
    try:
        return columns_of(events, wanted)
    except Unsound:
        return None


def _num_objects(lines: bytes) -> int:
    """Number of lines if each begins and ends as an object does, else 0; each is one if there are as many objects."""
    # As in `decode_block`: no string of JSON holds a line feed.
    marks = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(marks == ord("\n"))
    if not len(ends) or ends[-1] != len(lines) - 1 or len(lines) > MAX_LINE_BYTES:
        return 0
    are_objects = (
        marks[0] == ord("{") and (marks[ends - 1] == ord("}")).all() and (marks[ends[:-1] + 1] == ord("{")).all()
    )
    return len(ends) if are_objects else 0
