"""What the inspector says of a cell of the heat map: its worst check, and what the marks mean."""

from collections.abc import Sequence

from shadowviz.diagrams.roles import OUTCOMES as LOOKS
from shadowviz.replay.counts import counted
from shadowviz.replay.stress import OUTCOMES
from shadowviz.tui.models.stress_grid import GridCell
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.stress_view import StressPlace
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.events import BoundaryChecked


def stress_paragraphs(
    place: StressPlace,
    cell: GridCell | None,
    check: BoundaryChecked | None,
    units: Sequence[tuple[str, int]],
    look: Look,
) -> list[Paragraph]:
    """About the cell at the cursor, whose worst check is `check`; `units` are lengths at which something closes."""
    parts = list[Paragraph]()
    first = place.length - (place.length - place.first) % place.zoom
    lengths = f"length {place.length:,}" if place.zoom == 1 else f"lengths {first:,} to {first + place.zoom - 1:,}"
    if cell is None or check is None:
        parts.append(Paragraph("no check here", look.muted, f"{lengths}  ", look.title))
    else:
        style = LOOKS[OUTCOMES[cell.outcome]]
        words = f"{style.word}: {style.meaning}; {counted(cell.checks, 'check')}, {counted(cell.findings, 'finding')}"
        parts.append(Paragraph(words, look.ink(style), f"{lengths}  {look.glyph(style)} ", look.strong))
        parts += _facts(check, look)
    named = "  ".join(f"{at} {name} {size:,}" for at, (name, size) in enumerate(units, 1))
    if named:
        parts.append(Paragraph(f"row 'closes': {named}", look.muted))
    marks = "  ".join(f"{look.glyph(LOOKS[name])} {LOOKS[name].word}" for name in OUTCOMES)
    return [*parts, Paragraph(f"{marks}  blank: not checked", look.muted)]


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
