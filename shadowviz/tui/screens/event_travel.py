"""The cursor on an event, and the ways to the state at another one."""

from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.widgets.event_view import EventView
from shadowviz_engine.core.errors import InputError

SLIDE = 100
"""Steps of the slider from the first event to the newest."""


class EventTravel(PaneScreen):
    """A screen with events; to go to one turns the whole interface to the state after it."""

    def __init__(self) -> None:
        super().__init__()
        self._pattern = ""
        """Words that the events shown have; empty = all of them."""

    @property
    def view(self) -> EventView:
        """The list."""
        return self.query_one("#list", EventView)

    @property
    def _seq(self) -> int:
        """Event at the cursor; -1 = there is none."""
        rows = self.view.rows
        return rows.at(self.view.cursor) if rows is not None and self.view.cursor < len(rows) else -1

    def _select_subject(self) -> None:
        """Select what the event at the cursor is about."""
        words = self.view.lines.words(self._seq) if self.view.lines is not None and self._seq >= 0 else None
        if words is not None:
            event = self.session.event_at(words.seq)
            request, node = str(getattr(event, "request", "")), words.node
            if request or node:
                self.session.selection.select(request=request, node=node if not request else 0, token=-1)

    def _travel(self, seq: int) -> None:
        self.session.go_to(seq)
        self.session.selection.select(seq=seq)
        self.owner.tick()

    def action_go(self) -> None:
        """Show the state after the event at the cursor, on every screen."""
        if self._seq >= 0:
            self._select_subject()
            self._travel(self._seq)

    def action_step(self, by: int) -> None:
        """Show the state one event later or earlier; with a filter, one row."""
        rows = self.view.rows
        if rows is None or not len(rows):
            return
        if self._pattern:
            row = rows.row_of(self.view.at) + by
            if by < 0 and not rows.has(self.view.at):
                row += 1
            self._travel(rows.at(max(0, min(row, len(rows) - 1))))
            return
        self.session.step(by)
        self.owner.tick()

    def action_slide(self, by: int) -> None:
        """Move the slider by a hundredth of the log."""
        head = self.session.follower.head
        step = max(1, (head + 1) // SLIDE)
        self._travel(max(-1, min(head, self.view.at + by * step)))

    def action_stop(self) -> None:
        """Stop at events of this kind: where one arrives, and when n or N walks through the log; again: no more."""
        words = self.view.lines.words(self._seq) if self.view.lines is not None and self._seq >= 0 else None
        if words is None:
            return
        if self.session.breaks.toggle(words.kind):
            self.owner.tick()
        else:
            self.owner.say("this version does not know events of that kind, so it cannot stop at them")

    def action_next(self, by: int) -> None:
        """Go to the next event at whose kind to stop, or to the one before."""
        stops = self.session.breaks.kinds
        if not stops:
            self.owner.say("b sets a breakpoint on the kind of the event at the cursor")
            return
        found = self.session.next_of(stops) if by > 0 else self.session.previous_of(stops)
        if not found:
            self.owner.say(f"no {' or '.join(sorted(stops))} {'behind' if by > 0 else 'before'} the moment shown")
        self.owner.tick()

    def action_follow(self) -> None:
        """Show the newest event from now on."""
        self.session.live()
        self.owner.tick()

    def action_jump(self) -> None:
        """Ask for the number of an event and go there."""
        self.app.push_screen(AskScreen(f"event by number, 0 to {self.session.follower.head:,}"), self._jump)

    def _jump(self, text: str | None) -> None:
        digits = (text or "").removeprefix("e").replace(",", "")
        if not digits:
            return
        try:
            if not digits.isascii() or not digits.isdigit() or len(digits) > 15:
                raise InputError(f"{(text or '')[:20]!r} is no number of an event")
            self._travel(int(digits))
        except InputError as error:
            self.owner.say(str(error))
