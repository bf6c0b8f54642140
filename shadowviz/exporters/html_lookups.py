"""Lookups with their verdicts as an HTML table."""

from shadowviz.diagrams.lookups import LookupLine, LookupsDiagram
from shadowviz.diagrams.roles import verdict_style
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_legend import glyph
from shadowviz.exporters.html_table import Cell, Row, Sums, Table, figure, table_page
from shadowviz.exporters.svg_frame import meaning
from shadowviz_engine.core.derive import Origin

HEADERS = (
    "request",
    "verdict",
    "event",
    "prompt",
    "common",
    "matched",
    "usable",
    "reused",
    "computed",
    "lost",
    "change",
)


def render(diagram: LookupsDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    verdicts = sorted({line.verdict for line in diagram.lines})
    table = Table(
        title="Lookups",
        headers=HEADERS,
        rows=tuple(Row(verdicts.index(line.verdict), _cells(line)) for line in diagram.lines),
        choice="Verdict",
        choices=tuple(verdicts),
        sums=(_losses(diagram),) if diagram.losses else (),
        advice=_advice(diagram),
    )
    styles = dict.fromkeys(verdict_style(line.verdict, line.reused) for line in diagram.lines)
    marks = [glyph(style, meaning(style)) for style in styles]
    return Drawing(table_page(diagram.caption, table, marks))


def _cells(line: LookupLine) -> tuple[Cell, ...]:
    style = verdict_style(line.verdict, line.reused)
    share = round(100 * line.reused / line.num_prompt) if line.num_prompt else 0
    facts = tuple(
        fact.text if fact.origin is Origin.OBSERVED else f"{fact.text} ({fact.origin})" for fact in line.facts
    )
    lengths = (line.seq, line.num_prompt, line.common, line.matched, line.usable)
    return (
        Cell(text=line.request),
        Cell(text=line.label, badge=f"{style.glyph} {style.word}", summary="why", more=facts),
        *map(figure, lengths),
        Cell(text=f"{line.reused:,}", value=line.reused, share=share),
        figure(line.computed),
        figure(line.lost),
        Cell(text=line.change),
    )


def _losses(diagram: LookupsDiagram) -> Sums:
    rows = [
        (loss.verdict, f"{loss.requests:,}", f"{loss.lost:,}", loss.example, loss.change) for loss in diagram.losses
    ]
    return Sums(
        "Lost tokens by verdict", ("verdict", "lookups", "lost", "dearest", "what to change"), (1, 2), tuple(rows)
    )


def _advice(diagram: LookupsDiagram) -> str:
    if not diagram.best_change:
        return ""
    return f"What would win most, {diagram.best_change_wins:,} tokens: {diagram.best_change}"
