"""What has become of the file of a log that is followed: growing, closed, torn, or no longer under its name."""

import math
import os
from collections.abc import Callable
from pathlib import Path

from shadowviz.sources.line_index import CODES, LineIndex
from shadowviz.sources.log_file_view import LogFileView
from shadowviz.sources.states import LogState

TORN_AFTER_S = 2.0
"""How long a line may stay unfinished before it counts as torn: a writer writes whole lines."""


class LogHealth:
    """Judges one file, look by look."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock = path, clock
        self._unfinished = (0, math.inf)
        """Bytes behind the last whole line, and since when."""

    def judge(self, file: LogFileView, last: LineIndex, size: int) -> tuple[LogState, str]:
        """The state of a file of `size` bytes, whose lines `last` knows up to the end, and what to say of it."""
        rest, head = size - last.end, last.stop_seq - 1
        if rest != self._unfinished[0]:
            self._unfinished = (rest, self._clock())
        lost = self._name_lost(file)
        if lost is not None:
            return lost
        if head < 0:
            return LogState.WAITING, f"{self._path} has no whole line yet"
        if last.kinds[-1] == CODES["LogClosed"] and not rest:
            return LogState.CLOSED, ""
        if rest and self._clock() - self._unfinished[1] >= TORN_AFTER_S:
            what = f"{self._path} ends inside line {head + 2}: the event with seq {head + 1} is not whole"
            return LogState.TORN, what
        return LogState.FOLLOWING, ""

    def _name_lost(self, file: LogFileView) -> tuple[LogState, str] | None:
        """What to say where something else, or nothing, stands under the name."""
        try:
            found = self._path.stat()
        except OSError:
            return LogState.GONE, f"{self._path} was moved or deleted: what is shown was read before"
        if os.path.samestat(found, file.stat()):
            return None
        words = f"another file stands under the name {self._path}: what is shown was read before; start again"
        return LogState.REPLACED, words
