"""Two compared prompts as lines: what only A has, what only B has, and what both have."""

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style as Ink

from shadowviz.diagrams.roles import COMPUTED, REUSED
from shadowviz.replay.counts import tokens
from shadowviz.tokens.passages.passage import Fold, Line, Mark, Row
from shadowviz.tokens.report.report import Report
from shadowviz.tui.models.cells import right
from shadowviz.tui.models.comparison import Compared
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ready_lines import ReadyLine
from shadowviz.tui.widgets.text_pane import Paragraph

MAX_IDS = 12
MAX_CAUSES = 6
NUMBER = 9
_SIDES = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_RETOKENIZED = ("{%", "%}")


def diff_lines(compared: Compared, look: Look) -> list[ReadyLine]:
    """The lines of both prompts; the target of one is 1 where something differs."""
    lines = [line for row in compared.rows for line in _row(row, look)]
    if compared.is_cut:
        lines.append(ReadyLine((Segment("  more lines follow; they are not shown", look.muted),)))
    return lines


def _row(row: Row | Fold, look: Look) -> Iterator[ReadyLine]:
    if isinstance(row, Fold):
        num = "line" if row.lines == 1 else "lines"
        words = f"  {look.pick('⋯', '...')} {row.lines:,} equal {num}, {tokens(row.tokens)}"
        yield ReadyLine((Segment(words, look.muted),))
    elif row.same and row.b is not None:
        yield _line(" ", row.b, look, look.muted)
    else:
        if row.a is not None:
            yield _line("-", row.a, look, look.ink(COMPUTED))
        if row.b is not None:
            yield _line("+", row.b, look, look.ink(REUSED))


def _line(sign: str, line: Line, look: Look, ink: Ink) -> ReadyLine:
    segments = [Segment(f"{sign} {right(f'{line.token:,}', NUMBER)}  ", ink)]
    mixed = any(piece.mark is Mark.SAME for piece in line.pieces)
    for piece in line.pieces:
        text = look.shown(piece.text)
        if piece.mark is Mark.SAME:
            segments.append(Segment(text, look.muted))
            continue
        if piece.mark is Mark.RETOKENIZED:
            left, close = _RETOKENIZED
            more = " …" if len(piece.ids) > MAX_IDS else ""
            text += f" = {' '.join(map(str, piece.ids[:MAX_IDS]))}{look.shown(more)}"
        else:
            left, close = _SIDES.get(sign, ("", "")) if mixed else ("", "")
        segments.append(Segment(f"{left}{text}{close}", ink + Ink(bold=True)))
    return ReadyLine(tuple(segments), 0 if sign == " " else 1)


def report_paragraphs(report: Report, look: Look) -> list[Paragraph]:
    """Verdict, causes, what to change, and the cost in tokens."""
    cost = report.cost
    parts = [Paragraph(report.verdict, look.strong)]
    for cause in report.causes[:MAX_CAUSES]:
        parts.append(Paragraph(cause.detail, look.text, f"{cause.label}  ", look.title))
    if report.advice:
        parts.append(Paragraph(report.advice, look.text, "change  ", look.title))
    if not report.same:
        parts.append(_cost("now", cost.common, cost.reused, cost.num_prompt, look))
        parts.append(_cost("mended", cost.mended, cost.reused_if_mended, cost.num_prompt, look))
        origin = f"measured: {cost.proof}" if cost.proven else "an estimate from the alignment, not measured"
        parts.append(Paragraph(f"{cost.geometry}, page {cost.page:,}; mended is {origin}", look.muted))
    for side in (report.a, report.b):
        parts.append(Paragraph(f"{side.source}, {tokens(side.num_tokens)}", look.muted, f"{side.name}  ", look.strong))
    parts += [Paragraph(note, look.muted, "note  ") for note in (*report.notes, *report.a.notes, *report.b.notes)]
    return parts


def _cost(name: str, common: int, reused: int, num_prompt: int, look: Look) -> Paragraph:
    words = f"common {common:,}, reused {reused:,}, computed {num_prompt - reused:,}"
    return Paragraph(words, look.text, f"{name:<7} ", look.title)
