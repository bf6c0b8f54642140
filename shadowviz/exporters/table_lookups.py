"""The lookups of a run as a table: what each reused, what was computed, and the verdict."""

from shadowviz.diagrams.lookups import LookupLine, LookupsDiagram
from shadowviz.diagrams.roles import CLIPPED, COMPUTED, HIT, MISS, NOT_KNOWN, REUSED, verdict_style
from shadowviz.exporters.tables import Column, Line, Part, Table
from shadowviz.replay.counts import counted

COLUMNS = (
    Column("request", most=26),
    Column("event", is_figure=True, most=12),
    Column("prompt", is_figure=True, most=10),
    Column("common", is_figure=True, most=10),
    Column("matched", is_figure=True, most=10),
    Column("usable", is_figure=True, most=10),
    Column("reused", is_figure=True, most=10),
    Column("computed", is_figure=True, most=10),
    Column("lost", is_figure=True, most=10),
    Column("verdict", most=40),
)


def lookups_table(diagram: LookupsDiagram) -> Table:
    """The table of lookups."""
    sums = [
        f"{loss.verdict}: {counted(loss.lost, 'token')} lost in {counted(loss.requests, 'lookup')}, "
        f"most by {loss.example}"
        for loss in diagram.losses
        if loss.lost
    ]
    if diagram.best_change:
        sums.append(f"Would win most ({counted(diagram.best_change_wins, 'token')}): {diagram.best_change}")
    lines = tuple(map(_line, diagram.lines))
    seen = {line.style for line in lines}
    return Table(
        caption=diagram.caption,
        columns=COLUMNS,
        lines=lines,
        bar="prompt, in tokens",
        length=float(max((line.num_prompt for line in diagram.lines), default=0)),
        styles=(REUSED, COMPUTED),
        glyphs=tuple(style for style in (HIT, CLIPPED, MISS, NOT_KNOWN) if style in seen),
        empty="No request was looked up until then.",
        sums=tuple(sums),
    )


def _line(line: LookupLine) -> Line:
    figures = (line.seq, line.num_prompt, line.common, line.matched, line.usable, line.reused, line.computed, line.lost)
    parts = (Part(0, line.reused, REUSED), Part(line.reused, line.num_prompt, COMPUTED))
    cells = (line.request, *(f"{figure:,}" for figure in figures), line.label)
    return Line(verdict_style(line.verdict, line.reused), cells, parts)
