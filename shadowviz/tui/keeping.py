"""Keeps the log of an engine whose folder goes when the interface ends, with its sidecar if it has one."""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec

from shadowviz.sources.child import sidecar_of
from shadowviz.tokens.inert import printable
from shadowviz.tui.exporting import free_target, write_new
from shadowviz.tui.helpers import Outcome
from shadowviz_engine.core.errors import InputError

CHUNK_BYTES = 2**20
LAST_LINE_BYTES = 64 * 1024
"""Read of a log's end at a time, to find where its last whole line ends."""

First = Callable[[bytes], bytes]
"""What becomes of the first line."""


class KeptLog:
    """A copy of a log under a name of the user's: whole lines of it at once, all of it once the engine has closed it.

    `sidecar` is the name that the log has for its sidecar, which is kept beside the copy; empty = it has none.

    Raises:
        InputError: the name is taken, or a file cannot be written.
    """

    def __init__(self, log: Path, file: str, sidecar: str = "") -> None:
        self.target = free_target(file)
        self._copies = list[_Copy]()
        self.outcome: Outcome | None = None
        """What has become of it at the end; None = it goes on."""
        beside = log.parent / Path(sidecar).name
        if not (sidecar and beside.is_file()):
            self._copies.append(_Copy(log, self.target, bytes))
            return
        named = free_target(sidecar_of(Path(file)))
        # Each is named by the other, so that the sidecar comes first: a log without its own would look damaged.
        self._copies.append(_Copy(beside, named, bytes))
        try:
            self._copies.append(_Copy(log, self.target, lambda line: _with_sidecar(line, named.name)))
        except BaseException:
            named.unlink(missing_ok=True)
            raise

    def finish(self) -> Outcome:
        """Put what the log has come to since in the place of the copy, unless another has written there."""
        words = [words for copy in self._copies if (words := copy.finish())]
        if words:
            return Outcome("; ".join(words), InputError.exit_code)
        return Outcome(f"{printable(str(self.target))} has the whole record")


class _Copy:
    """A file of lines, copied under a name that is free."""

    def __init__(self, source: Path, target: Path, first: First) -> None:
        self._source, self._target, self._first = source, target, first
        write_new(target, _whole_lines(source, first))
        self._written = _mark(target)

    def finish(self) -> str:
        """Copy it anew, all of it; what is worth saying."""
        shown = printable(str(self._target))
        if _mark(self._target) != self._written:
            return f"{shown} was changed or moved meanwhile: it is left as it is"
        beside = self._target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
        try:
            with self._source.open("rb") as source, beside.open("xb") as file:
                file.writelines(_lines(source, os.fstat(source.fileno()).st_size, self._first))
            beside.replace(self._target)
        except OSError as error:
            return f"{shown} ends where it was kept: {error.strerror or error}"
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
        return ""


def _with_sidecar(line: bytes, name: str) -> bytes:
    """The first line of a log, with another name for its sidecar; what is no such line stays."""
    try:
        opened = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError:
        return line
    return msgspec.json.encode(opened | {"sidecar": name}) + b"\n"


def _whole_lines(path: Path, first: First) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from _lines(file, _end_of_lines(file.fileno(), os.fstat(file.fileno()).st_size), first)


def _lines(file: BinaryIO, size: int, first: First) -> Iterator[bytes]:
    """The first `size` bytes, which end with a line, or with the file."""
    for line in islice(file, 1 if size else 0):
        size -= len(line)
        yield first(line)
    while size > 0:
        data = file.read(min(CHUNK_BYTES, size))
        if not data:
            return
        size -= len(data)
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
