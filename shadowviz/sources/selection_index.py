"""Looks up which entries the indexer selected for a query, in the sidecar of a record that may still grow."""

import time
from array import array
from pathlib import Path
from typing import BinaryIO

import msgspec

from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.log_lines import MAX_LINE_BYTES
from shadowviz_engine.core.selections import SelectionRow, check_header

CLOCK_AFTER = 64
"""Lines between two looks at the clock."""


class _Head(msgspec.Struct):
    request: str
    layer: int
    start: int
    entries: msgspec.Raw
    """Left as they are until they are asked for."""


_HEADS = msgspec.json.Decoder(_Head)
_ROWS = msgspec.json.Decoder(SelectionRow)


class SelectionIndex:
    """Selected entries by request, layer and position; only places in the file are kept in memory."""

    def __init__(self, log: Path, sidecar: str) -> None:
        # The name is from a record of anybody: only what lies beside the record is read.
        self.path = log.parent / Path(sidecar).name
        self._file: BinaryIO | None = None
        self._end = 0
        self._rows: dict[tuple[str, int], array[int]] = {}
        """By request and layer: position of the first query, and place of the row, one after the other."""
        self.fault = ""
        """Why there is nothing to read; empty = there is."""

    def sync(self, budget_s: float) -> bool:
        """Take in what was written since, for about so long; whether all is known."""
        try:
            if self._file is None:
                self._open()
            return self._read(time.monotonic() + budget_s)
        except OSError as error:
            self.fault = f"{self.path} cannot be read: {error.strerror}"
        except (LogError, ValueError, RecursionError) as error:
            self.fault = str(error)
        return True

    def layers(self, request: str) -> tuple[int, ...]:
        """Layers that selected something for a request, ascending."""
        return tuple(sorted(layer for name, layer in self._rows if name == request))

    def selected(self, request: str, layer: int, position: int) -> tuple[int, ...] | None:
        """Entries that the query at a position selected in a layer; None = it was not computed, or is not on record."""
        rows = self._rows.get((request, layer), array("q"))
        # A request that started again has later rows for the same positions: the last ones count.
        for place in range(len(rows) - 2, -1, -2):
            if rows[place] <= position:
                row = self._row(rows[place + 1])
                if row is not None and position - row.start < len(row.entries):
                    return row.entries[position - row.start]
        return None

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        self._file = self.path.open("rb")
        line = self._file.readline(MAX_LINE_BYTES)
        if line.endswith(b"\n"):
            check_header(self.path, line)
            self._end = len(line)
            self.fault = ""
        else:
            self.close()

    def _read(self, stop: float) -> bool:
        if self._file is None:
            return True
        self._file.seek(self._end)
        num_lines = 0
        while (line := self._file.readline(MAX_LINE_BYTES)).endswith(b"\n"):
            head = _HEADS.decode(line)
            self._rows.setdefault((head.request, head.layer), array("q")).extend((head.start, self._end))
            self._end += len(line)
            num_lines += 1
            if num_lines % CLOCK_AFTER == 0 and time.monotonic() >= stop:
                return False
        return True

    def _row(self, place: int) -> SelectionRow | None:
        if self._file is None:
            return None
        try:
            self._file.seek(place)
            return _ROWS.decode(self._file.readline(MAX_LINE_BYTES))
        except (OSError, ValueError) as error:
            self.fault = f"{self.path}: a row cannot be read: {error}"
            return None
