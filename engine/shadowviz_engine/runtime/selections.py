"""The sidecar of a full record: the entries that the indexer selected for every query, as JSON lines."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.model.step import Selection

FORMAT = "shadowviz-topk"
VERSION = 1


class SelectionHeader(msgspec.Struct, frozen=True):
    """First line: what the file is."""

    format: str
    version: int
    index_topk: int


class SelectionRow(msgspec.Struct, frozen=True):
    """Selected entries of consecutive queries of a request in one layer.

    A request that had to start again has later rows for the same positions; the last ones count.
    """

    request: str
    layer: int
    start: int
    """Position of the first query."""
    entries: tuple[tuple[int, ...], ...]
    """One tuple a query: entries in ascending order."""


class SelectionWriter:
    """Takes selections during a pass and writes them, named, at its end; without any it leaves no file.

    What was in the file stays until the end of the first pass.

    Raises:
        InputError: the file cannot be made.
    """

    def __init__(self, path: Path, index_topk: int) -> None:
        self._encoder = msgspec.json.Encoder()
        self._pending: list[Selection] = []
        self._path = path
        self._num_rows = 0
        self._header = SelectionHeader(FORMAT, VERSION, index_topk)
        self._begun = False
        try:
            self._made = not path.exists()
            self._file = path.open("ab")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{path} cannot be written: {reason}") from error

    def observe(self, selection: Selection) -> None:
        """Take one selection of the pass that runs; the model's observer."""
        self._pending.append(selection)

    def end_pass(self, requests: Sequence[str]) -> None:
        """Write what the pass selected.

        Args:
            requests: the request of each sequence of the pass.
        """
        self._begin()
        ordered = sorted(self._pending, key=lambda item: (item.sequence, item.layer, item.position))
        self._pending.clear()
        for (sequence, layer), group in groupby(ordered, key=lambda item: (item.sequence, item.layer)):
            queries = list(group)
            entries = tuple(query.entries for query in queries)
            self._write(SelectionRow(requests[sequence], layer, queries[0].position, entries))
            self._num_rows += 1

    def flush(self) -> None:
        """Hand everything written to the system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if self._file.closed:
            return
        try:
            self._file.close()
        finally:
            if not self._num_rows and (self._begun or self._made):
                self._path.unlink(missing_ok=True)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._file.truncate(0)
            self._write(self._header)

    def _write(self, line: SelectionHeader | SelectionRow) -> None:
        self._file.write(self._encoder.encode(line) + b"\n")


def read_selections(path: Path) -> Iterator[SelectionRow]:
    """Rows of a sidecar in the order of writing; a torn last line is left out.

    Raises:
        LogError: the file is no sidecar, of a newer version, or holds a line that is no row.
    """
    with path.open("rb") as lines:
        try:
            header = msgspec.json.decode(next(lines, b""), type=SelectionHeader)
        except msgspec.DecodeError as error:
            raise LogError(f"{path} does not begin with a line of {FORMAT}: {error}") from error
        if header.format != FORMAT or header.version > VERSION:
            raise LogError(f"{path} is {header.format} version {header.version}: expected {FORMAT} up to {VERSION}")
        for number, line in enumerate(lines, 2):
            if not line.endswith(b"\n"):
                return
            try:
                yield msgspec.json.decode(line, type=SelectionRow)
            except msgspec.DecodeError as error:
                raise LogError(f"{path} line {number} is no selection: {error}") from error
