"""Legend of a tree: what is in the picture, and nothing else."""

from collections.abc import Collection

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import (
    ABSENT,
    ELSEWHERE,
    LOCKED,
    NAMESPACE,
    NEXT_OUT,
    PARTIAL,
    PATH,
    REACHABLE,
    STUB,
    TERMINAL,
    TOMBSTONE,
    UNKNOWN,
    tier_style,
)
from shadowviz.diagrams.theme import GROUNDS, Ground, Style
from shadowviz.diagrams.tree import KindRows, TreeDiagram
from shadowviz.exporters.box_words import presence, tells_namespace
from shadowviz.exporters.svg_frame import SWATCH, Entry, area_entry, glyph_entry, meaning, origin_entries, outline_entry
from shadowviz.exporters.svg_parts import columns_of
from shadowviz_engine.core.derive import Origin


def tree_legend(diagram: TreeDiagram, rows: Collection[KindRows], ground: Ground) -> list[Entry]:
    """Kinds, cells, outlines, marks, heat, origins; `rows` are examples of all that look different."""
    entries = [area_entry(style, ground) for style in kind_styles(diagram.kinds).values()]
    entries += [entry for entry, is_there in _entries(diagram, rows, ground) if is_there]
    return entries + _origins(rows, ground)


def _cell_entries(seen: Collection[Style | None], ground: Ground) -> list[Entry]:
    """How a cell and the figure in it are read, for those that occur."""
    stroke = GROUNDS[ground].text
    half = f'<rect width="{SWATCH // 2}" height="13" fill="{GROUNDS[ground].line}"/>'
    whole = f'<rect width="{SWATCH}" height="13" fill="none" stroke="{stroke}"/>'
    said = [
        (PARTIAL, Entry(half + whole, "90/103: 90 of its 103 rows are there")),
        (ABSENT, outline_entry(ABSENT, ground, f"0/103: {meaning(ABSENT)}")),
        (ELSEWHERE, Entry("", f"0/103 derived: {ELSEWHERE.meaning}")),
        (None, Entry("", "-: the span closes no row of this kind")),
    ]
    return [entry for style, entry in said if style in seen]


def _entries(diagram: TreeDiagram, rows: Collection[KindRows], ground: Ground) -> list[tuple[Entry, bool]]:
    boxes = diagram.boxes
    seen = {presence(row) for row in rows}
    tiers = sorted({box.tier for box in boxes} - {"device"})
    return [
        *((entry, True) for entry in _cell_entries(seen, ground)),
        (outline_entry(UNKNOWN, ground, f"?/103: {UNKNOWN.meaning}"), UNKNOWN in seen),
        (_with_glyph(PATH, ground), any(box.on_path for box in boxes)),
        (_with_glyph(LOCKED, ground), any(box.locks for box in boxes)),
        (_with_glyph(NEXT_OUT, ground), any(box.next_out for box in boxes)),
        *((_with_glyph(tier_style(tier), ground), True) for tier in tiers),
        (glyph_entry(TOMBSTONE, ground), any(box.tombstone for box in boxes)),
        (glyph_entry(REACHABLE, ground), any(box.reachable is not None for box in boxes)),
        (glyph_entry(TERMINAL, ground), any(box.terminal for box in boxes)),
        (glyph_entry(NAMESPACE, ground), any(tells_namespace(box, diagram) for box in boxes)),
        (_heat_entry(ground), any(box.heat is not None for box in boxes)),
        (outline_entry(STUB, ground), bool(diagram.stubs)),
    ]


def legend_lines(diagram: TreeDiagram, columns: int) -> list[str]:
    """The legend in words alone, for labels that hold no drawing; kinds first."""
    rows = [row for box in diagram.boxes for row in box.rows]
    said = [meaning(style) for style in kind_styles(diagram.kinds).values()]
    glyphs = {meaning(style): f"{style.glyph} " for style in (TOMBSTONE, REACHABLE, TERMINAL, NAMESPACE)}
    said += [
        f"{glyphs.get(entry.text, '')}{entry.text}"
        for entry, is_there in _entries(diagram, rows, Ground.LIGHT)
        if is_there and "bar at" not in entry.text
    ]
    said += [entry.text for entry in _origins(rows, Ground.LIGHT)]
    lines = [""]
    for text in said:
        longer = f"{lines[-1]}   {text}" if lines[-1] else text
        if columns_of(longer) > columns:
            lines.append(text)
        else:
            lines[-1] = longer
    return lines


def _with_glyph(style: Style, ground: Ground) -> Entry:
    return outline_entry(style, ground, f"{style.glyph} {meaning(style)}")


def _heat_entry(ground: Ground) -> Entry:
    paint = GROUNDS[ground]
    bar = f'<path d="M13 0V14" stroke="{paint.line}" stroke-width="4"/>'
    bar += f'<path d="M13 6V14" stroke="{paint.muted}" stroke-width="4"/>'
    return Entry(bar, "bar at the left: recency of use, full = used last")


def _origins(rows: Collection[KindRows], ground: Ground) -> list[Entry]:
    """Only where not everything was observed: then each figure needs its origin."""
    return origin_entries(ground) if any(row.origin is not Origin.OBSERVED for row in rows) else []
