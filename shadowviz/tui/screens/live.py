"""Screen 1: the requests of a run, each with what it reused and why no more."""

from contextlib import suppress
from time import monotonic
from typing import ClassVar
from weakref import ref

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.sources.states import EngineState
from shadowviz.tui.frame import Frame, Mode
from shadowviz.tui.models.cells import fit, steady
from shadowviz.tui.models.request_rows import SORTS, RequestRows
from shadowviz.tui.prompt_line import ABOUT, living, submit_line
from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.screens.copying import copy_log_command, why_words
from shadowviz.tui.screens.request_inspector import request_paragraphs
from shadowviz.tui.session import TICK_S
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.request_view import RequestView, header
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import InputError, LogError

EXPLAIN_S = 0.008
"""Work of one frame on verdicts."""


class LiveScreen(PaneScreen):
    """Requests, the newest first; the cursor stays on its request, or follows the newest one."""

    name_of_screen = "live"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "drill", "open", id="live.drill"),
        Binding("t", "tree", "tree", id="live.tree"),
        Binding("d", "diff", "diff", id="live.diff"),
        Binding("m", "mark", "mark as A of the diff", show=False, id="live.mark"),
        Binding("n", "submit", "new prompt", id="live.submit"),
        Binding("p", "app.pause", "pause", id="time.pause"),
        Binding("slash", "filter", "filter", id="live.filter"),
        Binding("f", "follow", "follow", id="live.follow"),
        Binding("s", "sort", "sort", id="live.sort"),
        Binding("y", "copy", "copy a command that tells the reason", show=False, id="live.copy"),
        Binding("e", "export", "export the lookups", show=False, id="live.export"),
        Binding("escape", "no_filter", "no filter", show=False, id="live.no-filter"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows = RequestRows()
        self._chosen = ""
        """Request at the cursor as it was chosen here last."""
        self._follows = True
        self._drawn = -1
        self._inspected: tuple[object, ...] = ()
        self._sure_of: tuple[object, ...] = ()
        """What was seen when all verdicts in it were sure."""
        self._is_behind = False
        """Whether requests are to be explained yet."""

    def compose_main(self) -> ComposeResult:
        view = RequestView(self._rows, id="list")
        view.told = self._moved
        yield view

    @property
    def view(self) -> RequestView:
        """The list."""
        return self.query_one("#list", RequestView)

    @property
    def is_working(self) -> bool:
        return self._is_behind

    def title_segments(self, width: int) -> list[Segment]:
        rows = self._rows
        marks = [f"{rows.num_open:,} not explained yet"] if rows.num_open else []
        marks += [f"A is {steady(self.selection.rival)}"] if self.selection.rival else []
        marks += [f"/{steady(rows.pattern)}"] if rows.pattern else []
        marks += [] if rows.sort == SORTS[0] else [f"by {rows.sort}"]
        marks += ["follows"] if self._follows else []
        note = f"[{', '.join(marks)}]" if marks else ""
        heads, room = header(width, self.look, rows.sort), max(0, width - cell_len(note) - 2)
        # What the list leaves out, and its order, are said before the columns are named.
        if cell_len(heads) > room:
            heads = fit(heads.removesuffix("verdict").rstrip(), room, "")
        return [Segment(heads, self.look.muted), Segment(f"  {note}", self.look.title)]

    def show(self, frame: Frame) -> None:
        view, rows = self.view, self._rows
        changed = rows.sync(self.session, frame)
        if changed or frame.version != self._drawn:
            self._drawn, self._sure_of = frame.version, ()
            view.rows_changed()
        self._put_cursor(changed)
        self._inspect(frame)
        self._is_behind = frame.arrival.settled and not self._explain()

    def finish(self) -> None:
        while self._is_behind and self.owner.frame is not None:
            self.show(self.owner.frame)

    def _explain(self) -> bool:
        """Explain a few requests: the chosen one, then those that are seen, then those that filter and order need.

        One after another, since each is told with the state that it met. Whether all are told.
        """
        if len(self._rows) and not self._inspected:
            return False
        if not self._make_sure():
            return False
        self._rows.learn(self.session, EXPLAIN_S)
        return not self._rows.num_open

    def _put_cursor(self, changed: bool) -> None:
        view, rows = self.view, self._rows
        if not len(rows):
            return
        wanted = self.session.state.requests.index.get(self.selection.request, -1)
        # Whoever has chosen a request elsewhere does not want the newest.
        self._follows &= wanted < 0 or self.selection.request == self._chosen
        place = rows.place_of(wanted) if wanted >= 0 else -1
        if (self._follows and changed) or place < 0:
            place = 0 if self._follows or wanted < 0 else view.cursor
        if place != view.cursor or changed:
            view.move_to(place, tell=False)
        self._select(view.cursor)

    def _select(self, place: int) -> None:
        name = self._chosen = self.session.state.requests.names[self._rows.at(place)]
        if name != self.selection.request:
            self.session.selection.select(request=name, node=0, token=-1)

    def _inspect(self, frame: Frame, budget_s: float = TICK_S) -> None:
        if not len(self._rows):
            words = self._nothing(frame)
            self.inspector.show([Paragraph(words, self.look.muted)])
            self._inspected = ()
            return
        row = self._rows.at(self.view.cursor)
        key = (row, frame.version)
        if key != self._inspected:
            paragraphs, whole = request_paragraphs(self.session, self.session.request(row), self.look, budget_s)
            self.inspector.show(paragraphs)
            self._inspected = key if whole else ()
            if whole:
                # The row may have said less than is known now.
                self.view.rows_changed()

    def _make_sure(self) -> bool:
        """Explain requests that are seen and whose event alone does not tell the verdict; whether that is done."""
        view = self.view
        top = view.scroll_offset.y
        looked_at = (top, view.page_rows, ref(self.session.timeline))
        if looked_at == self._sure_of:
            return True
        stop_s = monotonic() + EXPLAIN_S
        for place in range(top, min(top + view.page_rows, len(self._rows))):
            lookup = self.session.request(self._rows.at(place)).lookup
            if lookup is None or self.session.verdict(lookup).sure or self.session.timeline.is_untold(lookup.seq):
                continue
            left_s = stop_s - monotonic()
            if left_s <= 0:
                return False
            with suppress(LogError):
                if self.session.explain(lookup.seq, left_s) is None:
                    return False
            view.rows_changed()
        self._sure_of = looked_at
        return True

    def _moved(self, row: int) -> None:
        if row != 0:
            self._follows = False
        if len(self._rows):
            self._select(row)

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        frame = self.owner.frame
        if frame is not None:
            # A way that has to be replayed is gone later, when no key waits.
            self.tell(lambda: self._inspect(frame, 0.0))

    def on_line_view_entered(self, _event: LineView.Entered) -> None:
        self.action_drill()

    def action_drill(self) -> None:
        """Go into the chosen request: its ruler, else its path in the tree."""
        if len(self._rows):
            self.owner.drill("ruler", "tree")

    def action_tree(self) -> None:
        """Show where the chosen request runs through the tree."""
        if len(self._rows):
            self.owner.drill("tree")

    def action_diff(self) -> None:
        """Compare the chosen request with the marked one, else with the one that its explanation names."""
        if len(self._rows):
            if self.selection.rival == self.selection.request:
                self.session.selection.select(rival="")
            self.owner.drill("diff")

    def action_mark(self) -> None:
        """Mark the chosen request, for others to be compared with it; again: none is marked."""
        if len(self._rows):
            chosen = self.selection
            self.session.selection.select(rival="" if chosen.rival == chosen.request else chosen.request)
            self.draw(self.owner.frame)

    def action_follow(self) -> None:
        """Show the newest event and the newest request from now on; again: stay where the cursor is."""
        self._follows = not self._follows
        if self._follows:
            if self.owner.frame is not None and self.owner.frame.mode is not Mode.LIVE:
                self.session.live()
            self.view.move_to(0)
            if len(self._rows):
                self._select(0)
        self.owner.tick()

    def action_sort(self) -> None:
        """The next order of the list."""
        self._rows.sort = SORTS[(SORTS.index(self._rows.sort) + 1) % len(SORTS)]
        self.owner.tick()

    def action_filter(self) -> None:
        """Ask for words that requests must have."""
        about = "filter: words in id, namespace, state or verdict, such as: done cut_by_swa"
        self.app.push_screen(AskScreen(about, self._rows.pattern), self._set_filter)

    def _set_filter(self, pattern: str | None) -> None:
        if pattern is not None:
            self._rows.pattern = pattern
            self._follows = self._follows and not pattern
            self.owner.tick()

    def action_submit(self) -> None:
        """Ask for a prompt and submit it to the engine."""
        try:
            living(self.session.child)
        except InputError as error:
            self.owner.say(str(error))
            return
        self.app.push_screen(AskScreen(ABOUT, as_is=True), self._submit)

    def _submit(self, line: str | None) -> None:
        if line is None:
            return
        try:
            submit_line(self.session.child, line)
        except InputError as error:
            self.owner.say(str(error))
            return
        # Whoever submits a prompt wants to see it.
        self._rows.pattern, self._follows = "", False
        self.action_follow()

    def action_copy(self) -> None:
        """Copy a command that tells why the chosen request reused no more."""
        request = self.selection.request
        if not request:
            self.owner.say("no request is selected")
            return
        copy_log_command(self.owner, lambda log: why_words(log, request))

    def action_export(self) -> None:
        """Write the lookups up to the moment shown, of the requests that the filter lets through, to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.diagrams import lookups_at
        from shadowviz.tui.screens.export_ask import ask_and_export

        frame, rows = self.owner.frame, self._rows
        if frame is None or frame.opened is None:
            self.owner.say("there is nothing to write yet")
            return
        names = self.session.state.requests.names
        only = frozenset(names[rows.at(place)] for place in range(len(rows))) if rows.pattern else None
        ask_and_export(self.owner, lookups_at(frame.at, only, rows.pattern))

    def action_no_filter(self) -> None:
        """End the filter."""
        self._set_filter("")

    def shown_bindings(self) -> list[Binding]:
        """Without an engine nothing can be asked, and the foot has room for others."""
        bindings = super().shown_bindings()
        return [one for one in bindings if one.id != "live.submit" or self.session.child is not None]

    def _nothing(self, frame: Frame) -> str:
        """Why there is no row."""
        if self._rows.num_open:
            return "The requests are being explained: those that match the filter appear here."
        if self._rows.pattern:
            return "No request matches the filter; Escape ends it."
        if not frame.arrival.settled:
            return "The record is being read."
        if frame.engine is EngineState.STARTING:
            return "The engine starts; requests appear here as they are submitted."
        if frame.engine.alive:
            keys = [self.owner.key_words(one) for one in self.shown_bindings() if one.id == "live.submit"]
            return f"The engine waits for requests: {', '.join(keys)} types a prompt."
        return "No request has been submitted at this moment."
