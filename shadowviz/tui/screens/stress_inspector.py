"""What the inspector says of a cell of the heat map: its worst check, and what the marks mean."""

from shadowviz.diagrams.roles import OUTCOMES as LOOKS
from shadowviz.diagrams.roles import SILENT
from shadowviz.replay.counts import counted
from shadowviz.replay.stress import FAULTS, FOUND, OUTCOMES
from shadowviz.tui.models.stress_cells import GridCell
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.stress_view import StressPlace, style_of
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.events import BoundaryChecked


def stress_paragraphs(
    place: StressPlace,
    cell: GridCell | None,
    check: BoundaryChecked | None,
    grid: StressGrid | None,
    look: Look,
) -> list[Paragraph]:
    """About the cell at the cursor of the grid, whose worst check is `check`, and what marks and numbers mean."""
    parts = list[Paragraph]()
    first = place.length - (place.length - place.first) % place.zoom
    lengths = f"length {place.length:,}" if place.zoom == 1 else f"lengths {first:,} to {first + place.zoom - 1:,}"
    if cell is None or check is None:
        parts.append(Paragraph("no check here", look.muted, f"{lengths}  ", look.title))
    else:
        style = style_of(cell)
        words = f"{style.word}: {style.meaning}; {counted(cell.checks, 'check')}, {counted(cell.findings, 'finding')}"
        words += f", {cell.silent:,} beside that say nothing of this row" if cell.silent else ""
        parts.append(Paragraph(words, look.ink(style), f"{lengths}  {look.glyph(style)} ", look.strong))
        parts += _facts(check, look)
    return parts + legend(grid, look)


def legend(grid: StressGrid | None, look: Look) -> list[Paragraph]:
    """What the numbers over the heat map and its marks mean."""
    parts = []
    named = "  ".join(f"{at} {name} {size:,}" for at, (name, size) in enumerate(grid.closing if grid else (), 1))
    if named:
        parts.append(Paragraph(f"row 'closes', the coarsest that does: {named}", look.muted))
    shown = [LOOKS[name] for name in OUTCOMES] + ([SILENT] if grid is not None and grid.is_by_part else [])
    marks = "  ".join(f"{look.glyph(style)} {style.word}" for style in shown)
    parts.append(Paragraph(f"{marks}  blank: not checked", look.muted))
    if grid is not None and any(event.level == FAULTS for event in grid.started):
        mark = look.glyph(LOOKS[FOUND])
        parts.append(Paragraph(f"{mark} found is no finding: the fault was put in, and had to be seen", look.muted))
    return parts


def _facts(check: BoundaryChecked, look: Look) -> list[Paragraph]:
    facts = [("mode", f"{check.mode}, {check.level} of {check.subject}")]
    if check.kind:
        where = f" layer {check.layer}" if check.layer >= 0 else ""
        where += f" row {check.row:,}" if check.row >= 0 else ""
        facts.append(("first", f"{check.kind}{where}, in {check.stage or 'state'}"))
    if check.offset >= 0:
        facts.append(("shows", f"{counted(check.offset, 'token')} behind the length"))
    if check.difference:
        facts.append(("logits", f"differ by {check.difference:.3g} at most, noise {check.noise:.3g}"))
    if check.fault:
        facts.append(("fault", check.fault))
    if check.detail:
        facts.append(("why", check.detail))
    if check.command:
        facts.append(("again", check.command))
    return [Paragraph(words, look.text, f"{name:<7} ", look.title) for name, words in facts]
