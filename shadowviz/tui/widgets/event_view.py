"""The list of events: number, time, kind, what each is about; and the slider over all of them."""

from rich.segment import Segment

from shadowviz.tui.models.cells import clip, fit, fit_middle, right
from shadowviz.tui.models.event_rows import EventRows
from shadowviz.tui.models.event_words import EventWords, event_words
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look
from shadowviz_engine.core.errors import LogError

MAX_KEPT = 4096
"""Events whose words are kept."""


def header(width: int) -> str:
    """Names of the columns."""
    kind, name = _columns(width - 2)
    return "  " + " ".join(
        (right("event", 9), right("seconds", 9), "  " + fit("kind", kind), fit("request", name), "what")
    )


def _columns(width: int) -> tuple[int, int]:
    return (13, 9) if width < 76 else (16, 12) if width < 110 else (16, 20)


class EventLines:
    """Draws events, each by its number."""

    def __init__(self, session: Session, look: Look) -> None:
        self._session, self._look = session, look
        self._kept: dict[int, EventWords | None] = {}

    def words(self, seq: int) -> EventWords | None:
        """Words of an event; None where it cannot be read."""
        if seq not in self._kept:
            self.fetch(seq, seq + 1)
        return self._kept.get(seq)

    def fetch(self, start: int, stop: int) -> None:
        """Read events together."""
        if len(self._kept) > MAX_KEPT:
            self._kept.clear()
        try:
            self._kept |= {event.seq: event_words(event) for event in self._session.follower.events(start, stop)}
        except LogError:
            if stop == start + 1:
                self._kept[start] = None

    def draw(self, seq: int, at: int, stops: frozenset[str], width: int) -> Line:
        """One event; those behind the moment shown have not happened there."""
        look = self._look
        words, more = self.words(seq), look.pick("…", "~")
        kind_width, name_width = _columns(width)
        ink = look.text if seq <= at else look.muted
        number = Segment(right(f"e{seq:,}", 9) + " ", look.strong if seq == at else ink)
        if words is None:
            return [number, Segment("cannot be read", look.warning)]
        here = look.pick("◆", "@") if seq == at else look.pick("■", "#") if words.kind in stops else " "
        about = look.shown(words.about)
        if words.node:
            about = f"n{words.node} {about}"
        room = max(0, width - 24 - kind_width - name_width)
        return [
            number,
            Segment(right(f"{words.t_ns / 1e9:,.3f}", 9) + " ", look.muted),
            Segment(here + " ", look.title),
            Segment(fit(words.kind, kind_width, more) + " ", look.strong if seq <= at else look.muted),
            Segment(fit_middle(look.shown(words.request), name_width, more) + " ", ink),
            Segment(clip(about, room, more), ink),
        ]


def slider(at: int, head: int, width: int, look: Look) -> list[Segment]:
    """Where the moment shown lies between the first event and the newest."""
    share = f" {(at + 1) / (head + 1) if head >= 0 else 0:.1%}"
    room = max(2, width - len(share) - 3)
    place = 0 if head <= 0 else max(0, at) * (room - 1) // head
    line, knob = look.pick("─", "-"), look.pick("◆", "@")
    return [
        Segment(" |" + line * place, look.title),
        Segment(knob, look.strong),
        Segment(line * (room - 1 - place) + "|", look.muted),
        Segment(share, look.muted),
    ]


class EventView(LineView):
    """Events of the log."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: EventRows | None = None
        self.lines: EventLines | None = None
        self.at = -1
        """Event after which the state is shown."""
        self.stops: frozenset[str] = frozenset()
        """Kinds at which a walk through the log stops."""

    @property
    def is_working(self) -> bool:
        """Whether a filter has not seen all of the log."""
        return self.rows is not None and self.rows.looked < 1

    def num_rows(self) -> int:
        return len(self.rows) if self.rows is not None else 0

    def before_drawing(self, first: int, num_rows: int) -> None:
        if self.rows is not None and self.lines is not None and not self.rows.pattern:
            self.lines.fetch(first, min(first + num_rows, len(self.rows)))

    def draw_row(self, row: int, width: int) -> Line:
        assert self.rows is not None, "without rows none is drawn"
        assert self.lines is not None, "they come with the rows"
        return self.lines.draw(self.rows.at(row), self.at, self.stops, width)
