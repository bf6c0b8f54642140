"""Writes the sidecar of a full record: the entries that the indexer selected for every query, as JSON lines."""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.selections import FORMAT, VERSION, SelectionHeader, SelectionRow
from shadowviz_engine.model.step import Selection


class SelectionWriter:
    """Takes selections during a pass and writes them, named, at its end; without any it leaves no file.

    What was in the file stays until the end of the first pass.

    Raises:
        InputError: the file cannot be made.
        LogError: later, wherever it is written: it takes no more.
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
        with self._told():
            self._file.flush()

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if self._file.closed:
            return
        try:
            with self._told():
                self._file.close()
        finally:
            if not self._num_rows and (self._begun or self._made):
                self._path.unlink(missing_ok=True)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            with self._told():
                self._file.truncate(0)
            self._write(self._header)

    def _write(self, line: SelectionHeader | SelectionRow) -> None:
        with self._told():
            self._file.write(self._encoder.encode(line) + b"\n")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LogError(f"{self._path} cannot be written: {error.strerror or error}") from error
