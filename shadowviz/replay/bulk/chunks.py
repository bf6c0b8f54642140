"""The file of a log in chunks of whole lines, which can be read in any order, and by several processes."""

import os
from collections.abc import Iterable, Iterator

import msgspec

from shadowviz.replay.bulk.columns import Columns, columns_of
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.log_lean import decode_lean
from shadowviz_engine.core.log_lines import MAX_LINE_BYTES

CHUNK_BYTES = 256 * 1024
"""Enough that what is done once a chunk costs little, and its events stay in the processor's caches."""
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

    def lines(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """The lines that begin in each of these chunks; the last one of the file may lack its end.

        Raises:
            LogError: the file cannot be read.
        """
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 (a Path has no bytes)
                for number in numbers:
                    start, stop = number * self.chunk_bytes, min((number + 1) * self.chunk_bytes, self.size)
                    # From one byte before, so that a line that begins here is not taken for the rest of another.
                    file.seek(max(start - 1, 0))
                    if start:
                        start += len(file.readline(self.chunk_bytes + 1)) - 1
                    block = file.read(stop - start) if start < stop else b""
                    if block and not block.endswith(b"\n"):
                        block += file.readline(MAX_LINE_BYTES + 1)
                    yield block
        except OSError as error:
            raise LogError(f"cannot read {os.fsdecode(self.path)}: {error.strerror}") from error


def parse(lines: bytes, wanted: str) -> Columns | None:
    """The events in the lines of a chunk; None if there is anything to be said of one, which reading it whole tells.

    Args:
        wanted: a request of which a lookup is looked for.
    """
    if not lines:
        return NOTHING
    events = decode_lean(lines)
    if not events:
        return None
    first = events[0].seq
    if [event.seq for event in events] != list(range(first, first + len(events))):
        return None
    try:
        return columns_of(events, wanted)
    except Unsound:
        return None
