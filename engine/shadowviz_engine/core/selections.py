"""The sidecar of a full record: the entries that the indexer selected for every query, as JSON lines."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from shadowviz_engine.core.errors import LogError

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


def check_header(path: Path, line: bytes) -> None:
    """Whether the first line of a sidecar is one that this version reads.

    Raises:
        LogError: it is not.
    """
    try:
        header = msgspec.json.decode(line, type=SelectionHeader)
    except msgspec.DecodeError as error:
        raise LogError(f"{path} does not begin with a line of {FORMAT}: {error}") from error
    if header.format != FORMAT or header.version > VERSION:
        raise LogError(f"{path} is {header.format} version {header.version}: expected {FORMAT} up to {VERSION}")


def read_selections(path: Path) -> Iterator[SelectionRow]:
    """Rows of a sidecar in the order of writing; a torn last line is left out.

    Raises:
        LogError: the file is no sidecar, of a newer version, or holds a line that is no row.
    """
    with path.open("rb") as lines:
        check_header(path, next(lines, b""))
        for number, line in enumerate(lines, 2):
            if not line.endswith(b"\n"):
                return
            try:
                yield msgspec.json.decode(line, type=SelectionRow)
            except msgspec.DecodeError as error:
                raise LogError(f"{path} line {number} is no selection: {error}") from error
