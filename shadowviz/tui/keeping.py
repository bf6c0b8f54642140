"""Keeps the log of an engine whose folder goes when the interface ends."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from shadowviz.tokens.inert import printable
from shadowviz.tui.exporting import free_target, write_new

CHUNK_BYTES = 2**20
LAST_LINE_BYTES = 64 * 1024
"""Read of a log's end at a time, to find where its last whole line ends."""


class KeptLog:
    """A copy of a log under a name of the user's: whole lines of it at once, all of it once the engine has closed it.

    Raises:
        InputError: the name is taken, or the file cannot be written.
    """

    def __init__(self, log: Path, file: str) -> None:
        self._log, self.target = log, free_target(file)
        write_new(self.target, _whole_lines(log))
        self._written = _mark(self.target)

    def finish(self) -> str:
        """Put what the log has come to since in the place of the copy, unless another has written there; in words."""
        shown = printable(str(self.target))
        if _mark(self.target) != self._written:
            return f"{shown} was changed or moved meanwhile: it is left as it is"
        beside = self.target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
        try:
            shutil.copyfile(self._log, beside)
            beside.replace(self.target)
        except OSError as error:
            return f"{shown} ends where it was kept: {error.strerror or error}"
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
        return f"{shown} has the whole record"


def _whole_lines(log: Path) -> Iterator[bytes]:
    with log.open("rb") as file:
        left = _end_of_lines(file.fileno(), os.fstat(file.fileno()).st_size)
        while left:
            data = file.read(min(CHUNK_BYTES, left))
            if not data:
                return
            left -= len(data)
            yield data


def _end_of_lines(descriptor: int, size: int) -> int:
    """Bytes up to the last line end within the first `size`."""
    stop = size
    while stop > 0:
        start = max(0, stop - LAST_LINE_BYTES)
        place = os.pread(descriptor, stop - start, start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        stop = start
    return 0


def _mark(path: Path) -> tuple[int, ...] | None:
    """What tells a file from another one, or from itself once it was written to."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
