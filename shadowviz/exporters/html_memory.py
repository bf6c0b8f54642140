"""Memory as an HTML page: a Plotly treemap of bytes by state kind and node."""

from collections.abc import Mapping

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.memory import KindBytes, MemoryDiagram, Tile
from shadowviz.diagrams.roles import STUB, UNKNOWN
from shadowviz.diagrams.theme import INK, Pattern, Style
from shadowviz.exporters.box_words import byte_words, name, share_words
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_legend import Entry, Styles, area, glyph
from shadowviz.exporters.html_page import Page, drawn_by, rendered, swatches
from shadowviz.exporters.html_text import Pool
from shadowviz.exporters.table_memory import stored_as
from shadowviz.replay.counts import counted

HEADERS = ("kind", "layers", "bytes a row", "rows", "bytes", "of taken pages", "of the pool", "share")
NOT_KNOWN = "? not known"
ALL = Style(word="all kinds", glyph="■", ascii="#", hue=INK, pattern=Pattern.EMPTY)


class _Areas:
    """Areas of the treemap as columns, every parent before its children."""

    def __init__(self, diagram: MemoryDiagram) -> None:
        self._diagram = diagram
        self._labels = dict(diagram.labels)
        self.kinds = kind_styles(kind.kind for kind in diagram.kinds)
        self.styles, self.pool = Styles(), Pool()
        self.parent, self.own = [-1], [0]
        self.names = [self.pool.number("all kinds")]
        self.facts = [self.pool.numbers(["all kinds", f"rows stored as {stored_as(diagram)}"])]
        self.style = [self.styles.number(ALL)]
        self._places: dict[tuple[str, int], int] = {}
        for kind in diagram.kinds:
            if kind.num_bytes is not None:
                self._kind(kind)
        for tile in diagram.tiles:
            self._tile(tile)

    def _add(self, parent: int, own: int, lines: list[str], style: Style) -> int:
        self.parent.append(parent)
        self.own.append(own)
        self.names.append(self.pool.number(lines[0]))
        self.facts.append(self.pool.numbers(lines))
        self.style.append(self.styles.number(style))
        return len(self.parent) - 1

    def _kind(self, kind: KindBytes) -> None:
        style = self.kinds[kind.kind]
        rows = NOT_KNOWN if kind.rows is None else counted(kind.rows, "row")
        lines = [f"{style.glyph} {style.word}", style.meaning, f"{rows} in {counted(kind.layers, 'layer')}"]
        self._places[kind.kind, 0] = self._add(0, 0, [line for line in lines if line], style)

    def _tile(self, tile: Tile) -> None:
        kind = self._places.get((tile.kind, 0))
        if kind is None:
            return
        style = self.kinds[tile.kind]
        rows = f"{style.word}: {counted(tile.rows, 'row')}, {shown_bytes(tile.num_bytes)}"
        if tile.request:
            self._add(kind, tile.num_bytes, ["running requests", rows, "not in the tree yet"], style)
        elif tile.gathered:
            parent = self._places.get((tile.kind, tile.node), kind)
            below = f"below {name(tile.node)}, without an area of their own"
            self._add(parent, tile.num_bytes, [f"{counted(tile.nodes, 'node')} more", below, rows], style)
        elif not tile.node:
            self.own[kind] += tile.num_bytes
        else:
            parent = self._places.get((tile.kind, tile.parent), kind)
            lines = [name(tile.node), self._labels.get(tile.node, ""), f"itself: {rows}"]
            self._places[tile.kind, tile.node] = self._add(
                parent, tile.num_bytes, [line for line in lines if line], style
            )


def render(diagram: MemoryDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    areas = _Areas(diagram)
    data = {
        "parent": areas.parent,
        "own": areas.own,
        "names": areas.names,
        "facts": areas.facts,
        "style": areas.style,
        "stubStyle": areas.styles.number(STUB),
        "pool": areas.pool.texts,
        "styles": areas.styles.data(),
    }
    page = Page(
        template="memory",
        script="memory",
        caption=diagram.caption,
        values={
            "legend": swatches(_legend(diagram, areas.kinds)),
            "headers": HEADERS,
            "stored_as": stored_as(diagram),
            "rows": [_row(kind, areas.kinds, diagram.total_bytes) for kind in diagram.kinds],
        },
        data=data,
        styles=(*areas.styles.used(), *areas.kinds.values()),
    )
    return Drawing(rendered(page), drawn_by())


def shown_bytes(value: int | None) -> str:
    """Bytes in the unit that suits them."""
    return NOT_KNOWN if value is None else byte_words(value)


def _legend(diagram: MemoryDiagram, kinds: Mapping[str, Style]) -> list[Entry]:
    entries = [area(kinds[kind.kind]) for kind in diagram.kinds if kind.num_bytes is not None]
    unknown = [kinds[kind.kind].word for kind in diagram.kinds if kind.num_bytes is None]
    if unknown:
        entries.append(glyph(UNKNOWN, f"not drawn, for their rows are not known: {', '.join(unknown)}"))
    return entries


def _row(kind: KindBytes, kinds: Mapping[str, Style], total: int) -> tuple[str, ...]:
    rows = NOT_KNOWN if kind.rows is None else f"{kind.rows:,}"
    share = "" if not total or kind.num_bytes is None else share_words(kind.num_bytes, total)
    sizes = map(shown_bytes, (kind.num_bytes, kind.allocated_bytes, kind.capacity_bytes))
    return (kinds[kind.kind].word, f"{kind.layers:,}", f"{kind.row_bytes:,}", rows, *sizes, share)
