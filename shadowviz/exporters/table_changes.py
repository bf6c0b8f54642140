"""What differs between two trees as a table: what appeared, what went, what holds other rows."""

from msgspec.structs import replace

from shadowviz.diagrams.changes import Change, ChangesDiagram, RowChange
from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import CHANGES, UNKNOWN
from shadowviz.diagrams.theme import Style
from shadowviz.exporters.box_words import name
from shadowviz.exporters.svg_frame import caption_lines
from shadowviz.exporters.tables import Column, Line, Part, Table
from shadowviz.replay.counts import counted

COLUMNS = (
    Column("what", most=12),
    Column("before", most=8),
    Column("after", most=8),
    Column("tokens of the path", is_figure=True, most=22),
    Column("nodes", is_figure=True, most=10),
    Column("tokens", is_figure=True, most=12),
    Column("namespace", most=24),
    Column("begins with", most=34),
    Column("rows before and after", most=56),
)


def changes_table(diagram: ChangesDiagram) -> Table:
    """The table of a comparison."""
    kinds = kind_styles(diagram.kinds)
    before, after = diagram.num_nodes
    told = f"Before: {caption_lines(diagram.before)[0]} · {counted(before, 'node')}; after: {counted(after, 'node')}"
    sums = [
        f"{total.what}: {counted(total.changes, 'span')} with {counted(total.tokens, 'token')} "
        f"in {counted(total.nodes, 'node')}"
        for total in diagram.sums
        if total.changes
    ]
    return Table(
        caption=replace(diagram.caption, notes=(told, *diagram.caption.notes)),
        columns=COLUMNS,
        lines=tuple(_line(change, kinds) for change in diagram.changes),
        bar="where on its path",
        length=float(max((change.stop for change in diagram.changes), default=0)),
        styles=tuple(CHANGES.values()),
        empty="Nothing differs: both trees hold the same tokens, and the same rows of them.",
        sums=(*sums, f"in both: {counted(diagram.same_tokens, 'token')}"),
    )


def _line(change: Change, kinds: dict[str, Style]) -> Line:
    style = CHANGES.get(change.what, UNKNOWN)
    cells = (
        style.word,
        name(change.before) if change.before else "-",
        name(change.after) if change.after else "-",
        f"[{change.start:,}..{change.stop:,})",
        f"{change.nodes:,}",
        f"{change.tokens:,}",
        change.namespace,
        change.label,
        "; ".join(_rows(row, kinds) for row in change.rows),
    )
    return Line(style, cells, (Part(change.start, change.stop, style),))


def _rows(row: RowChange, kinds: dict[str, Style]) -> str:
    word = kinds[row.kind].word if row.kind in kinds else row.kind
    before, after = ("?" if rows is None else f"{rows:,}" for rows in (row.before, row.after))
    return f"{word} {before} to {after} of {row.owned:,}"
