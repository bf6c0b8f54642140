"""The list of requests: state, lengths, a bar of what was reused, and the verdict in words."""

from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style as Ink

from shadowviz.diagrams.roles import verdict_style
from shadowviz.tui.models.cells import BAR_MARKS, clip, figures, fit, fit_middle, nested_bar, right
from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.request_facts import RequestFacts
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look
from shadowviz_engine.core.events import RequestAborted

BAR_HEADS = (("█ reused ░ common", "# reused - common"), ("█ reused", "# reused"), ("prefix", "prefix"))
"""What the bar shows, the longest that fits; the help names all of its marks."""
BESIDE = 77
"""Cells from which a list has all columns: below, it stands beside the inspector or in a small terminal."""
BY_TTFT = "longest TTFT"
"""The order that needs a column which a narrow list has no room for otherwise."""


class Columns:
    """Widths of the columns on a list this wide; 0 = there is no room for one.

    Beside the inspector a list is narrow again, and there the name goes before bar and times: both stand in it too.
    """

    def __init__(self, width: int, sort: str = "") -> None:
        is_beside, is_wide = width < BESIDE, width >= 100
        self.name = 16 if BESIDE > width >= 62 else 20 if is_wide else 10
        self.state = 7
        self.prompt = 6 if is_beside else 7
        self.reused = self.lost = 7 if is_wide else 6
        self.bar = 0 if width < 72 else 6 if is_beside else 20 if width >= 120 else 10 if is_wide else 8
        self.ttft = 5 if not is_beside or sort == BY_TTFT else 0
        if is_beside and self.ttft:
            self.bar = 0
        shown = [self.name, self.state, self.prompt, self.reused, self.bar, self.ttft, self.lost]
        # The mark of the verdict stands before it.
        self.verdict = max(0, width - sum(one + 1 for one in shown if one) - 2)


def header(width: int, look: Look, sort: str = "") -> str:
    """Names of the columns, over a list this wide."""
    columns = Columns(width - 2, sort)
    cells = [
        "  " + fit("request", columns.name),
        fit("state", columns.state),
        right("prompt", columns.prompt),
        right("reused", columns.reused),
    ]
    if columns.bar:
        cells.append(fit(next(look.pick(*words) for words in BAR_HEADS if len(words[0]) <= columns.bar), columns.bar))
    if columns.ttft:
        cells.append(right("ttft", columns.ttft))
    return " ".join([*cells, right("lost", columns.lost), "  verdict"])


class RequestView(LineView):
    """Requests of a run."""

    def __init__(self, rows: RequestRows, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = rows

    @property
    def _session(self) -> Session:
        session: Session = self.app.session  # type: ignore[attr-defined]
        return session

    def num_rows(self) -> int:
        return len(self.rows)

    def draw_row(self, row: int, width: int) -> Line:
        return request_line(self._session, self.rows.at(row), width, self.look, self.rows.sort)


def request_line(session: Session, row: int, width: int, look: Look, sort: str = "") -> Line:
    """The request in `row` of the state's columns, in at most `width` cells."""
    facts = session.request(row)
    columns, more = Columns(width, sort), look.pick("…", "~")
    segments = [
        Segment(fit_middle(look.shown(facts.name), columns.name, more) + " ", look.text),
        Segment(fit(facts.state, columns.state) + " ", look.muted),
        Segment(figures([facts.num_prompt], columns.prompt) + " ", look.text),
        Segment(figures([facts.lookup.reused] if facts.lookup else [], columns.reused) + " ", look.text),
    ]
    if columns.bar:
        segments.append(Segment(bar_of(facts, columns.bar, look) + " ", look.title))
    if columns.ttft:
        segments.append(Segment(right(_duration(facts.ttft_ms), columns.ttft, more) + " ", look.muted))
    cells = verdict_cells(session, facts, look)
    lost = f"-{figures([cells.lost], columns.lost - 1).lstrip()}" if cells.lost else ""
    return [
        *segments,
        Segment(right(lost, columns.lost) + " ", cells.ink),
        Segment(f"{cells.mark} ", cells.ink),
        Segment(clip(cells.words, columns.verdict, more), cells.ink),
    ]


def _duration(ms: float | None) -> str:
    if ms is None:
        return ""
    if ms < 999.5:
        return f"{ms:.0f}ms"
    return f"{ms / 1000:.1f}s" if ms < 99_950 else f"{ms / 1000:,.0f}s"


def bar_of(facts: RequestFacts, width: int, look: Look) -> str:
    """Common, matched, usable and reused of the prompt, one inside the other."""
    lookup = facts.lookup
    if lookup is None:
        return BAR_MARKS[look.ascii][-1] * width
    lengths = (lookup.reused, lookup.usable, lookup.matched, lookup.common)
    return nested_bar(lengths, facts.num_prompt, width, look.ascii)


class VerdictCells(NamedTuple):
    """The verdict of a request, as far as it is known."""

    mark: str
    words: str
    lost: int
    """Tokens; 0 = nothing worth naming, or not known."""
    ink: Ink


def verdict_cells(session: Session, facts: RequestFacts, look: Look) -> VerdictCells:
    """Mark, words, loss and ink of the verdict of a request."""
    if facts.lookup is None:
        words = "waits for its turn" if facts.state in ("queued", "waiting") else "was not looked up"
        return VerdictCells(" ", words, 0, look.muted)
    ending = f" (aborted: {look.shown(facts.end.reason)})" if isinstance(facts.end, RequestAborted) else ""
    verdict = session.verdict(facts.lookup)
    if not verdict.sure and not session.timeline.is_untold(facts.lookup.seq):
        return VerdictCells(" ", look.pick("…", "...") + ending, 0, look.muted)
    finding = verdict.finding
    style = verdict_style(str(finding.verdict), facts.lookup.reused)
    words = look.shown(finding.label) + ("" if verdict.sure else "?") + ending
    lost = finding.gain if finding.material and verdict.sure else 0
    return VerdictCells(look.glyph(style), words, lost, look.ink(style))
