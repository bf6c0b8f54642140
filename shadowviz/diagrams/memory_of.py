"""The memory of a replayed state as a treemap: rows of every kind, weighed by the bytes of a row."""

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.collapse import TreeOptions, check_root, select
from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.labels import span_label
from shadowviz.diagrams.memory import MemoryDiagram, Tile
from shadowviz.diagrams.memory_tiles import Weigher
from shadowviz.diagrams.request_path import mask_of
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.row_formats import RowFormat, formats_of

EVERYTHING = TreeOptions(max_boxes=200)
"""A treemap shows fewer nodes than a tree before its tiles are too small to read, since each is there once a kind."""


def memory_diagram(
    caption: Caption, state: Replayer, words: Words, options: TreeOptions = EVERYTHING, format_name: str = ""
) -> MemoryDiagram:
    """Bytes by kind and node.

    Args:
        format_name: how rows are stored; empty = as the geometry says, else the first known layout of its model.

    Raises:
        InputError: there is no such root or row format.
        GeometryError: no row format has a size for every kind.
        LogError: no log was opened.
    """
    opened = state.opened
    if opened is None:
        raise LogError("the events hold no LogOpened: expected the beginning of a log")
    geometry = opened.geometry
    row_format = row_format_named(geometry, format_name)
    columns = TreeColumns(state)
    check_root(columns, options.root, state.seq)
    selection = select(columns, options, mask_of(columns, []))
    weigher = Weigher(state, columns, row_format, selection, options.root)
    kinds, tiles = [], list[Tile]()
    for kind in geometry.kinds:
        found = list(weigher.tiles(kind))
        tiles += found
        kinds.append(weigher.sum(kind, found))
    shown = sorted({tile.node for tile in tiles if tile.node and not tile.gathered})
    total = sum(kind.num_bytes or 0 for kind in kinds)
    unknown = [kind.kind for kind in kinds if kind.num_bytes is None]
    origin = Origin.OBSERVED if row_format.name == "own" else Origin.ASSUMED
    return MemoryDiagram(
        caption=_caption(caption, columns, len(shown), total, _notes(row_format, origin, unknown)),
        row_format=row_format.name,
        format_origin=origin,
        kinds=tuple(kinds),
        tiles=tuple(tiles),
        labels=tuple((node, span_label(state, words, node, state.nodes.start[node])) for node in shown),
        total_bytes=total,
    )


def row_format_named(geometry: Geometry, name: str = "") -> RowFormat:
    """The row format of a geometry called `name`, or its first.

    Raises:
        InputError: it has none of that name.
        GeometryError: no row format has a size for every kind.
    """
    known = formats_of(geometry)
    for row_format in known:
        if name in ("", row_format.name):
            return row_format
    names = ", ".join(row_format.name for row_format in known)
    raise InputError(f"geometry {geometry.name} has no row format {shorten(name, 40)!r}: expected one of {names}")


def _notes(row_format: RowFormat, origin: Origin, unknown: list[str]) -> list[str]:
    notes = []
    if origin is Origin.ASSUMED:
        notes.append(f"The source does not say how rows are stored: bytes are of the row format {row_format.name}.")
    notes += [f"No event speaks of {shorten(kind, 40)}: its bytes are unknown, not in the sum." for kind in unknown]
    return notes


def _caption(caption: Caption, columns: TreeColumns, shown: int, total: int, notes: list[str]) -> Caption:
    return msgspec.structs.replace(
        caption,
        shown=shown,
        total=len(columns.living),
        unit="nodes",
        counts=(*caption.counts, ("bytes", f"{total:,}"), ("tokens", f"{int(columns.subtree[1][0]):,}")),
        notes=(*caption.notes, *notes),
    )
