"""The list of requests: state, lengths, a bar of what was reused, and the verdict in words."""

from rich.segment import Segment
from rich.style import Style as Ink

from shadowviz.diagrams.roles import verdict_style
from shadowviz.tui.models.cells import BAR_MARKS, clip, figures, fit, nested_bar, right
from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.request_facts import RequestFacts
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look
from shadowviz_engine.core.events import RequestAborted

WIDE_BAR, NARROW_BAR = ("█ reused ░ common", "# reused - common"), ("█ reused", "# reused")
"""What the bar shows; the help names all of its marks."""


class Columns:
    """Widths of the columns on a list this wide."""

    def __init__(self, width: int) -> None:
        self.name = 8 if width < 70 else 10 if width < 100 else 16
        self.state = 7
        self.number = 7
        self.bar = 8 if width < 70 else 10 if width < 100 else 20
        self.ttft = 0 if width < 70 else 5
        used = self.name + self.state + 2 * self.number + self.bar + self.ttft + 6
        self.verdict = max(0, width - used - 2)


def header(width: int, look: Look) -> str:
    """Names of the columns, over a list this wide."""
    columns = Columns(width - 2)
    cells = [
        "  " + fit("request", columns.name),
        fit("state", columns.state),
        right("prompt", columns.number),
        right("reused", columns.number),
        fit(look.pick(*(WIDE_BAR if columns.bar >= len(WIDE_BAR[0]) else NARROW_BAR)), columns.bar),
    ]
    if columns.ttft:
        cells.append(right("ttft", columns.ttft))
    return " ".join([*cells, "verdict"])


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
        return request_line(self._session, self.rows.at(row), width, self.look)


def request_line(session: Session, row: int, width: int, look: Look) -> Line:
    """The request in `row` of the state's columns, in at most `width` cells."""
    facts = session.request(row)
    columns, more = Columns(width), look.pick("…", "~")
    segments = [
        Segment(fit(look.shown(facts.name), columns.name, more) + " ", look.text),
        Segment(fit(facts.state, columns.state) + " ", look.muted),
        Segment(figures([facts.num_prompt], columns.number) + " ", look.text),
        Segment(figures([facts.lookup.reused] if facts.lookup else [], columns.number) + " ", look.text),
        Segment(bar_of(facts, columns.bar, look) + " ", look.title),
    ]
    if columns.ttft:
        segments.append(Segment(right(_duration(facts.ttft_ms), columns.ttft, more) + " ", look.muted))
    mark, words, ink = verdict_cells(session, facts, look)
    return [*segments, Segment(f"{mark} ", ink), Segment(clip(words, columns.verdict, more), ink)]


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


def verdict_cells(session: Session, facts: RequestFacts, look: Look) -> tuple[str, str, Ink]:
    """Mark, words and ink of the verdict of a request, as far as it is known."""
    if facts.lookup is None:
        return " ", "waits for its turn" if facts.state in ("queued", "waiting") else "was not looked up", look.muted
    verdict = session.verdict(facts.lookup)
    style = verdict_style(str(verdict.finding.verdict), facts.lookup.reused)
    words = verdict.finding.label
    if not verdict.sure:
        words += "?"
    if verdict.finding.material:
        words += f" -{verdict.finding.gain:,}"
    if isinstance(facts.end, RequestAborted):
        words += f" (aborted: {facts.end.reason})"
    return look.glyph(style), look.shown(words), look.ink(style)
