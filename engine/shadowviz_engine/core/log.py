"""Logs in a file, written: JSON lines, one event a line, from `LogOpened` to `LogClosed`."""

import contextlib
import os
import stat
from collections.abc import Callable
from io import FileIO
from pathlib import Path

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event


class FileSink:
    """Writes events at each flush, in whole lines; what is in the file is whole and dense, whatever interrupts it.

    Until then they stay in memory: an `Emitter` flushes often enough. Nothing that was in the file is lost before the
    first line is written, and no other sink writes it meanwhile.

    Raises:
        LogError: the file exists and is not empty, is written by another run, or cannot be written; `overwrite`
            replaces what is in it.
    """

    def __init__(self, path: str | Path, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        try:
            self._made = not self.path.exists()
            self._file = _opened(self.path, overwrite)
        except (OSError, ValueError) as error:
            if isinstance(error, LogError):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise LogError(f"cannot write {path}: {reason}") from error
        self._encoder = msgspec.json.Encoder()
        self._pending: list[Event] = []
        # The list's own method: a Python frame for each event would cost a fifth of what encoding it does.
        self.emit: Callable[[Event], None] = self._pending.append
        self._written = (0, 0)
        """Seq of the next event to write and length of the file, in one value: no interrupt comes between them."""

    def flush(self) -> None:
        """Write everything taken so far.

        Raises:
            LogError: the file is closed or cannot be written, or the seq of an event is not the next one; in the
                file stays what came before.
        """
        pending = self._pending
        seq, length = self._written
        # An interrupt after writing and before forgetting has left events here that are in the file.
        while pending and pending[0].seq < seq:
            del pending[0]
        if not pending:
            return
        if self._file.closed:
            raise LogError(f"{self.path} is closed: event {pending[0].seq} comes too late")
        num_dense = _num_dense(pending, seq)
        if num_dense:
            dense = pending if num_dense == len(pending) else pending[:num_dense]
            lines = self._encoder.encode_lines(dense)
            self._write(lines, length)
            self._written = (seq + num_dense, length + len(lines))
        if num_dense < len(pending):
            self._file.close()
            raise LogError(f"{self.path} ends at seq {seq + num_dense - 1}: event {pending[num_dense].seq} came next")
        pending.clear()

    def close(self) -> None:
        """Write everything taken so far, and close the file."""
        if not self._file.closed:
            try:
                self.flush()
            finally:
                self._file.close()

    def discard(self) -> None:
        """Close the file as if this sink had never been: what was in it stays, and one that it made goes away."""
        self._pending.clear()
        if self._file.closed:
            return
        self._file.close()
        if self._made:
            self.path.unlink(missing_ok=True)

    def _write(self, lines: bytes, length: int) -> None:
        rest = memoryview(lines)
        try:
            if not length and _is_regular(self._file):
                self._file.truncate(0)
            self._file.seek(length)
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException as error:
            with contextlib.suppress(OSError):
                self._file.truncate(length)
            if isinstance(error, OSError):
                raise LogError(f"cannot write {self.path}: {error.strerror}") from error
            raise


def _opened(path: Path, overwrite: bool) -> FileIO:
    """The file, open and locked, with all that is in it."""
    # Mode "w" would empty a file that it opens by name, so the name is opened first.
    file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), "w")
    try:
        file.seek(0)
        _lock(file, path)
        if not overwrite and os.fstat(file.fileno()).st_size:
            raise LogError(f"{path} is not empty: choose another file, or ask to overwrite it")
    except BaseException:
        file.close()
        raise
    return file


def _lock(file: FileIO, path: Path) -> None:
    """Keep other sinks off a regular file until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    if not _is_regular(file):
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LogError(f"{path} is being written by another run: choose another file, or wait for it") from None
    except OSError:
        # Some network file systems have no locks; without one the file can still be written.
        return


def _is_regular(file: FileIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _num_dense(events: list[Event], seq: int) -> int:
    """How many of `events` are numbered densely from `seq` on."""
    if events[-1].seq == seq + len(events) - 1 and events[0].seq == seq:
        return len(events)
    return next(i for i, event in enumerate(events) if event.seq != seq + i)
