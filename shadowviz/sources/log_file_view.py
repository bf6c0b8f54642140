"""The bytes of a log's file, and whether those that were read are still the same."""

import contextlib
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from threading import Lock

from shadowviz_engine.core.errors import LogError

ANCHOR_BYTES = 256
"""Of the beginning, and of the end of what was read, compared at every look."""


class LogFileView:
    """A file open for reading, whatever stands under its name later.

    It is read by calls, never mapped: reading a mapped file that somebody cuts ends the process.

    Raises:
        OSError: it cannot be opened.
        ValueError: the name is none.
        LogError: later, wherever it is looked at: the system cannot read it any more.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = FileIO(path, "rb")
        self._lock = Lock()
        self._anchors: tuple[tuple[int, bytes], ...] = ()
        self._seen = (-1, -1)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def stat(self) -> os.stat_result:
        """What the system says of the file."""
        with self._told():
            return os.fstat(self._file.fileno())

    def size(self) -> int:
        """Bytes in the file."""
        return self.stat().st_size

    def read(self, start: int, length: int) -> bytes:
        """The bytes [start, start + length), or as many as there are."""
        parts, left = [], length
        with self._lock, self._told():
            self._file.seek(start)
            while left and (part := self._file.read(left)):
                parts.append(part)
                left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LogError(f"cannot read {self._path}: {error.strerror or error}") from error

    def remember(self, end: int) -> None:
        """Keep what the file holds at its beginning and before `end`, to know it again."""
        last = max(0, end - ANCHOR_BYTES)
        self._anchors = tuple((at, self.read(at, ANCHOR_BYTES if at == 0 else end - at)) for at in {0, last})
        self._anchors = tuple((at, data[: end - at]) for at, data in self._anchors)

    def is_unchanged(self, end: int) -> bool:
        """Whether the file still holds what was read up to `end`, as far as its beginning and that end tell."""
        found = self.stat()
        seen = (found.st_size, found.st_mtime_ns)
        if seen == self._seen:
            return True
        self._seen = seen
        return found.st_size >= end and all(self.read(at, len(data)) == data for at, data in self._anchors)
