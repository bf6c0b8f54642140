"""What differs between two trees as an HTML table."""

from shadowviz.diagrams.changes import Change, ChangesDiagram, RowChange
from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.theme import Style
from shadowviz.exporters.box_words import name
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_table import Cell, Row, Sums, Table, figure, table_page
from shadowviz.exporters.svg_frame import caption_lines

HEADERS = (
    "what",
    "node before",
    "node after",
    "from token",
    "to token",
    "begins with",
    "nodes",
    "tokens",
    "rows before and after",
)
GLYPHS = {"appeared": "+", "went": "−", "residency": "≠"}


def render(diagram: ChangesDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    kinds = kind_styles(diagram.kinds)
    choices = tuple(total.what for total in diagram.sums)
    table = Table(
        title="Changes",
        headers=HEADERS,
        rows=tuple(Row(choices.index(change.what), _cells(change, kinds)) for change in diagram.changes),
        choice="What",
        choices=choices,
        sums=(_sides(diagram), _sums(diagram)),
    )
    return Drawing(table_page(diagram.caption, table, ()))


def _cells(change: Change, kinds: dict[str, Style]) -> tuple[Cell, ...]:
    namespace = f" in namespace {change.namespace}" if change.namespace else ""
    return (
        Cell(text=change.what, badge=GLYPHS.get(change.what, "?")),
        Cell(text=name(change.before) if change.before else "-"),
        Cell(text=name(change.after) if change.after else "-"),
        figure(change.start),
        figure(change.stop),
        Cell(text=f"{change.label}{namespace}"),
        figure(change.nodes),
        figure(change.tokens),
        Cell(text="; ".join(_rows(row, kinds) for row in change.rows)),
    )


def _rows(row: RowChange, kinds: dict[str, Style]) -> str:
    word = kinds[row.kind].word if row.kind in kinds else row.kind
    before, after = ("not known" if rows is None else f"{rows:,}" for rows in (row.before, row.after))
    return f"{word} {before} to {after} of {row.owned:,}"


def _sides(diagram: ChangesDiagram) -> Sums:
    sides = zip(("before", "after"), (diagram.before, diagram.caption), diagram.num_nodes, strict=True)
    rows = tuple((side, caption_lines(caption)[0], f"{nodes:,}") for side, caption, nodes in sides)
    return Sums(f"Both trees hold {diagram.same_tokens:,} tokens in common", ("", "what", "nodes"), (2,), rows)


def _sums(diagram: ChangesDiagram) -> Sums:
    rows = [(total.what, f"{total.changes:,}", f"{total.nodes:,}", f"{total.tokens:,}") for total in diagram.sums]
    return Sums(
        "All changes, those that are not listed included", ("what", "spans", "nodes", "tokens"), (1, 2, 3), tuple(rows)
    )
