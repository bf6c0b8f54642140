"""The last line of a log that is being written, as long as its end is not there."""

from shadowviz.sources.log_file_view import LogFileView
from shadowviz_engine.core.log_lines import MAX_LINE_BYTES

CHUNK_BYTES = 2**20
"""Read at a time; a line shorter than that is simply read again."""


class TornLine:
    """Knows how far the end of a long line was looked for, so that no look reads all of it again."""

    def __init__(self) -> None:
        self._begin = self._seen = -1

    def note(self, begin: int, seen: int) -> None:
        """The line that begins at byte `begin` has no end before byte `seen`."""
        self._begin, self._seen = begin, seen

    def may_end(self, file: LogFileView, begin: int, size: int) -> bool:
        """Whether a line that begins at byte `begin` may end before byte `size`, or is longer than any.

        Raises:
            LogError: the file cannot be read.
        """
        if begin != self._begin or size < self._seen or not CHUNK_BYTES < size - begin <= MAX_LINE_BYTES:
            return True
        while self._seen < size:
            data = file.read(self._seen, min(CHUNK_BYTES, size - self._seen))
            if not data or b"\n" in data:
                return True
            self._seen += len(data)
        return False
