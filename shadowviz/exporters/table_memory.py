"""The memory of a cache as a table: bytes of each kind, and the nodes that hold most."""

from collections import defaultdict

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.memory import KindBytes, MemoryDiagram
from shadowviz.diagrams.roles import PRESENT, STUB, UNKNOWN
from shadowviz.diagrams.theme import Style
from shadowviz.exporters.box_words import byte_words, name, share_words
from shadowviz.exporters.tables import Column, Line, Part, Table
from shadowviz.replay.counts import counted
from shadowviz_engine.core.derive import Origin

NODES_MOST = 20
"""Nodes that are listed below the kinds."""
COLUMNS = (
    Column("kind or node", most=40),
    Column("layers", is_figure=True, most=6),
    Column("rows", is_figure=True, most=14),
    Column("bytes", is_figure=True, most=12),
    Column("taken pages", is_figure=True, most=12),
    Column("pool", is_figure=True, most=12),
    Column("share", is_figure=True, most=7),
)


def memory_table(diagram: MemoryDiagram) -> Table:
    """Kinds in the order of the geometry, then nodes, the largest first."""
    styles = kind_styles(kind.kind for kind in diagram.kinds)
    kinds = tuple(_kind(kind, styles[kind.kind], diagram.total_bytes) for kind in diagram.kinds)
    nodes = _nodes(diagram, styles)
    known = [styles[kind.kind] for kind in diagram.kinds if kind.num_bytes is not None]
    unknown = [UNKNOWN] if len(known) < len(diagram.kinds) else []
    return Table(
        caption=diagram.caption,
        columns=COLUMNS,
        lines=(*kinds, *nodes),
        bar="bytes that are held",
        length=float(max((part.stop for line in (*kinds, *nodes) for part in line.parts), default=0)),
        styles=(*known, *unknown),
        empty="There is no state kind.",
        sums=(f"{byte_words(diagram.total_bytes)} in all, rows stored as {stored_as(diagram)}",),
    )


def stored_as(diagram: MemoryDiagram) -> str:
    """How rows are stored, and who says so."""
    if diagram.format_origin is Origin.OBSERVED:
        return "the geometry says" if diagram.row_format == "own" else diagram.row_format
    return f"{diagram.row_format} ({diagram.format_origin})"


def _kind(kind: KindBytes, style: Style, total: int) -> Line:
    is_known = kind.num_bytes is not None
    share = share_words(kind.num_bytes, total) if kind.num_bytes is not None and total else ""
    cells = (
        style.word,
        f"{kind.layers:,}",
        "?" if kind.rows is None else f"{kind.rows:,}",
        *("?" if size is None else byte_words(size) for size in (kind.num_bytes, kind.allocated_bytes)),
        "" if kind.capacity_bytes is None else byte_words(kind.capacity_bytes),
        share,
    )
    parts = (Part(0, kind.num_bytes, style),) if kind.num_bytes else ()
    return Line(style if is_known else UNKNOWN, cells, parts)


def _nodes(diagram: MemoryDiagram, styles: dict[str, Style]) -> tuple[Line, ...]:
    held: dict[tuple[int, bool, bool], dict[str, int]] = defaultdict(dict)
    gathered: dict[int, int] = {}
    for tile in diagram.tiles:
        of_node = held[tile.node, tile.gathered, tile.request]
        of_node[tile.kind] = of_node.get(tile.kind, 0) + tile.num_bytes
        if tile.gathered:
            gathered[tile.node] = max(gathered.get(tile.node, 0), tile.nodes)
    sizes = {key: sum(kinds.values()) for key, kinds in held.items()}
    largest = sorted((key for key in held if sizes[key]), key=lambda key: (-sizes[key], key))[:NODES_MOST]
    labels = dict(diagram.labels)
    lines = []
    for key in largest:
        node, is_gathered, is_request = key
        words = f"{name(node)} {labels.get(node, '')}".rstrip()
        if is_request:
            words = "running requests"
        elif is_gathered:
            words = f"{counted(gathered[node], 'node')} below {name(node)}"
        cells = (words, "", "", byte_words(sizes[key]), "", "", share_words(sizes[key], diagram.total_bytes))
        lines.append(Line(STUB if is_gathered else PRESENT, cells, _parts(held[key], styles)))
    return tuple(lines)


def _parts(held: dict[str, int], styles: dict[str, Style]) -> tuple[Part, ...]:
    parts, at = [], 0
    for kind, num_bytes in held.items():
        parts.append(Part(at, at + num_bytes, styles[kind]))
        at += num_bytes
    return tuple(parts)
