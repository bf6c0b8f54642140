"""Screen 7: every event of the log, and the way to the state at any of them."""

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.replay.counts import counted
from shadowviz.tokens.inert import printable
from shadowviz.tui.frame import Frame, Mode
from shadowviz.tui.models.cells import wrap
from shadowviz.tui.models.event_rows import EventRows
from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.copying import copy_log_command
from shadowviz.tui.screens.event_inspector import event_paragraphs, explain_more
from shadowviz.tui.screens.event_travel import EventTravel
from shadowviz.tui.widgets.event_view import EventLines, EventView, header, slider
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.one_line import FewLines, OneLine
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import LogError

FILTER_S = 0.015
"""Work of one frame on the filter."""
EXPLAIN_S = 0.008
"""The same on the verdict of the lookup at the cursor."""


class EventsScreen(EventTravel):
    """The log; Enter shows the whole interface at the event of the cursor."""

    name_of_screen = "events"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "go to", id="events.go"),
        Binding("less_than_sign,comma", "step(-1)", "step back", show=False, id="events.back", key_display="<"),
        Binding("greater_than_sign,full_stop", "step(1)", "step", id="events.step", key_display="< >"),
        Binding("left,h", "slide(-1)", "slider back", show=False, id="events.slide-back"),
        Binding("right,l", "slide(1)", "slider on", show=False, id="events.slide"),
        Binding("b", "stop", "break", id="events.break"),
        Binding("n", "next(1)", "next break", id="events.next"),
        Binding("N", "next(-1)", "break before", show=False, id="events.previous"),
        Binding("f", "follow", "live", id="events.follow"),
        Binding("slash", "filter", "filter", id="events.filter"),
        Binding("o", "only", "its request only", show=False, id="events.only"),
        Binding("escape", "no_filter", "no filter", show=False, id="events.no-filter"),
        Binding("number_sign", "jump", "event by number", show=False, id="events.jump", key_display="#"),
        Binding("r", "ruler", "ruler of its request", show=False, id="events.ruler"),
        Binding("t", "tree", "tree", show=False, id="events.tree"),
        Binding("y", "copy", "copy a command that shows this", show=False, id="events.copy"),
        Binding("e", "export", "export the events", show=False, id="events.export"),
        Binding("p", "app.pause", "pause", show=False, id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._made_for: tuple[object, ...] = ()
        self._drawn: tuple[object, ...] = ()
        self._at = -2
        self._explains = False
        """Whether the verdict of the lookup at the cursor is worked out."""

    @property
    def is_working(self) -> bool:
        return super().is_working or self._explains

    def compose_main(self) -> ComposeResult:
        marks = FewLines(id="marks")
        marks.display = False
        yield marks
        yield OneLine(id="heads")
        view = EventView(id="list")
        view.told = self._select
        yield view

    def title_segments(self, width: int) -> list[Segment]:
        frame = self.owner.frame
        return slider(frame.at, frame.head, width, self.look) if frame is not None else []

    def _marks(self, width: int) -> list[str]:
        """What is left out, and where the walk through the log stops, in as many rows as that takes."""
        view, look, marks = self.view, self.look, list[str]()
        if self._pattern:
            looked = view.rows.looked if view.rows is not None else 1.0
            progress = "" if looked >= 1 else f", {looked:.0%} searched"
            marks.append(f"/{printable(self._pattern)}: {counted(view.num_rows(), 'event')}{progress}")
        if view.stops:
            marks.append(f"{look.pick('■', '#')} breaks at {', '.join(sorted(view.stops))}")
        return [row for mark in marks for row in wrap(look.shown(mark), width)]

    def show(self, frame: Frame) -> None:
        view, session = self.view, self.session
        made_for = (self._pattern, session.follower, session.follower.round, self.look)
        if made_for != self._made_for:
            self._made_for = made_for
            view.rows = EventRows(session.follower, self._pattern)
            view.lines = EventLines(session, self.look)
            self._at = -2
        assert view.rows is not None, "made above"
        view.rows.sync(FILTER_S)
        view.stops = session.breaks.kinds
        drawn = (made_for, len(view.rows), frame.at, view.stops)
        if drawn != self._drawn:
            self._drawn = drawn
            view.at = frame.at
            view.rows_changed()
        if frame.at != self._at and (frame.mode is Mode.LIVE or frame.arrival.settled):
            self._at = frame.at
            self._put_cursor(frame.at)
        self._show_marks()
        self._inspect(EXPLAIN_S)

    def _show_marks(self) -> None:
        look, width = self.look, self.view.size.width
        rows = self._marks(max(1, width - 2))
        self.query_one("#marks", FewLines).show_lines([[Segment(f" {row}", look.title)] for row in rows])
        self.query_one("#heads", OneLine).show([Segment(header(width), look.muted)])

    def _put_cursor(self, seq: int) -> None:
        view = self.view
        if view.rows is not None and len(view.rows):
            view.move_to(view.rows.row_of(seq), tell=False)
            self.session.selection.select(seq=self._seq)

    def _inspect(self, budget_s: float = 0.0) -> None:
        seq, look = self._seq, self.look
        if seq < 0:
            words = "No event matches the filter; Escape ends it." if self._pattern else "There is no event yet."
            self.inspector.show([Paragraph(words, look.muted)])
            return
        try:
            event = self.session.event_at(seq)
        except LogError as error:
            self.inspector.show([Paragraph(printable(str(error)), look.warning)])
            return
        self._explains = budget_s > 0 and explain_more(self.session, event, budget_s)
        reader = self.owner.words if self.owner.words_version else None
        self.inspector.show(event_paragraphs(self.session, event, self.view.at, reader, look))

    def _select(self, _row: int) -> None:
        self.session.selection.select(seq=self._seq)

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        self._inspect()

    def on_line_view_entered(self, _event: LineView.Entered) -> None:
        self.tell(self.action_go)

    def action_filter(self) -> None:
        """Ask for words that events must hold."""
        about = "filter: words in number, kind, request, node or text, such as: SpanEvicted n42"
        self.app.push_screen(AskScreen(about, self._pattern), self._set_filter)

    def _set_filter(self, pattern: str | None) -> None:
        if pattern is not None:
            self._pattern = pattern
            self.owner.tick()

    def action_no_filter(self) -> None:
        """End the filter."""
        self._set_filter("")

    def action_only(self) -> None:
        """Show the events of the request at the cursor alone."""
        words = self.view.lines.words(self._seq) if self.view.lines is not None and self._seq >= 0 else None
        self._set_filter(words.request if words is not None and words.request else self.selection.request)

    def action_ruler(self) -> None:
        """Show the ruler of the request that the event is about."""
        self._select_subject()
        self.owner.drill("ruler")

    def action_tree(self) -> None:
        """Show the tree, at what the event is about."""
        self._select_subject()
        self.owner.drill("tree")

    def action_copy(self) -> None:
        """Copy a command that shows the event at the cursor, and the state after it."""
        seq = self._seq
        if seq < 0:
            self.owner.say("there is no event here")
            return
        at = ["--screen", "events", "--at", str(seq)]
        copy_log_command(self.owner, lambda log: ["shadowviz", "tui", log, *at])

    def action_export(self) -> None:
        """Write the events up to the moment shown, as far as the filter lets them through, to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.events import events_at
        from shadowviz.tui.screens.export_ask import ask_and_export

        if self.view.at < 0:
            self.owner.say("there is no event yet")
        else:
            ask_and_export(self.owner, events_at(self.view.at, self._pattern))
