"""What all screens have in common: head, a list with an inspector beside or below it, and the keys at the foot."""

from asyncio import sleep
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, cast

from rich.segment import Segment
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from shadowviz.tokens.inert import printable
from shadowviz.tui.frame import Frame, Selection
from shadowviz.tui.widgets.grounds import Grounded, Pane
from shadowviz.tui.widgets.head import notice_lines, status_segments, tab_segments, too_small_segments, trail_words
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.one_line import FewLines, OneLine
from shadowviz.tui.widgets.text_pane import Paragraph, TextPane
from shadowviz_engine.core.errors import LogError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp
    from shadowviz.tui.session import Session

_LAST = ("app.help", "app.quit")
"""Keys that the foot names last, however few others there is room for: they lead to all others, and out."""
_PARTS = {"status", "tabs", "notice", "main", "title", "inspector", "keys"}

WIDE = 110
"""Columns from which the inspector stands beside the list."""


class PaneScreen(Screen[None], Grounded):
    """A screen of the run. A subclass gives `compose_main` and `show`, and perhaps `title_segments`."""

    name_of_screen: ClassVar[str] = ""
    """As in the registry."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - as textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-short"), (30, "-tall")]  # noqa: RUF012 - as textual declares it

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "list/inspector", show=False, id="focus.next"),
    ]

    _head: tuple[object, ...] = ()
    """What the head was drawn for."""

    @property
    def is_ready(self) -> bool:
        """Whether all parts are there and can be drawn: they come one after another, and go so at the end."""
        there = {part.id for part in self.walk_children(with_self=False)}
        return there >= _PARTS and len(self.query_one("#main").children) > 1

    def compose(self) -> ComposeResult:
        yield OneLine(id="status")
        yield OneLine(id="tabs")
        yield FewLines(id="notice")
        with Pane(id="body"):
            with Pane(id="main"):
                yield OneLine(id="title")
                yield from self.compose_main()
            yield TextPane(id="inspector")
        yield OneLine(id="keys")

    def compose_main(self) -> ComposeResult:
        """The list, or whatever the screen is about."""
        raise NotImplementedError

    @property
    def is_working(self) -> bool:
        """Whether more frames are wanted soon, for work that goes on from one to the next."""
        return bool(getattr(self.query_one("#list"), "is_working", False)) if self.is_ready else False

    def show(self, frame: Frame) -> None:
        """Show another frame; called whenever one was made while the screen is on."""
        raise NotImplementedError

    def finish(self) -> None:
        """Do at once all that is done a slice a frame while somebody watches: for whoever takes a picture."""

    def title_segments(self, width: int) -> list[Segment]:
        """The row over the list: its columns, or what it is."""
        raise NotImplementedError

    @property
    def owner(self) -> "ShadowvizApp":
        """The app, as what it is."""
        return cast("ShadowvizApp", self.app)

    @property
    def session(self) -> "Session":
        """The run."""
        return self.owner.session

    @property
    def look(self) -> Look:
        """The app's."""
        return self.owner.look

    @property
    def selection(self) -> Selection:
        """What all screens share."""
        return self.session.selection.current.selection

    @property
    def inspector(self) -> TextPane:
        """The pane beside or below the list."""
        return self.query_one("#inspector", TextPane)

    def on_mount(self) -> None:
        self.call_after_refresh(self.draw, self.owner.frame)

    def on_screen_resume(self) -> None:
        self.set_class(self.look.ascii, "-ascii")
        self.draw(self.owner.frame)

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw, self.owner.frame)

    def draw(self, frame: Frame | None) -> None:
        """Head, screen and keys of a frame; a head that would be the same stays."""
        if frame is None or not self.is_ready:
            return
        self._follow_head(frame)
        self.tell(lambda: self.show(frame))
        self._draw_title()
        self.query_one("#keys", OneLine).show(self._key_segments())

    def tell(self, show: Callable[[], None]) -> None:
        """Show something of the log; where that cannot be read, say so instead."""
        try:
            show()
        except LogError as error:
            # A log that is cut off between two looks at it; the next look says so in the head.
            self.inspector.show([Paragraph(printable(str(error)), self.look.muted)])

    @on(LineView.Moved)
    async def _follow_cursor(self) -> None:
        """Tell in head and title what is selected, after the screen itself has told what it is."""
        if self.owner.frame is not None and self.is_ready:
            self._follow_head(self.owner.frame)
            self._draw_title()
        # Parts say that they want to be drawn when it is their turn: this is it, and all are drawn in one go.
        await sleep(0)

    def _draw_title(self) -> None:
        title = self.query_one("#title", OneLine)
        title.show(self.title_segments(title.size.width or self.size.width))

    def _follow_head(self, frame: Frame) -> None:
        head = (frame, self.size, self.look, self.owner.source, self.session.selection.current)
        if head != self._head:
            self._head = head
            self.draw_head(frame)

    def draw_head(self, frame: Frame) -> None:
        """The lines over the screen."""
        width, look, owner = self.size.width, self.look, self.owner
        status = too_small_segments(width, self.size.height, look)
        self.query_one("#status", OneLine).show(status or status_segments(frame, owner.source, look, width))
        keys = {entry.name: owner.key_of(f"screen.{entry.name}", entry.key) for entry in owner.entries}
        tabs = [(keys[entry.name], entry.title, entry.name == self.name_of_screen) for entry in owner.entries]
        trail = trail_words((*frame.trail, self.session.selection.current), {e.name: e.title for e in owner.entries})
        self.query_one("#tabs", OneLine).show(tab_segments(tabs, trail, look, width, frame.arrival))
        self.query_one("#notice", FewLines).show_lines(
            notice_lines(frame, self.session.follower.path, look, width, owner.key_of("app.restart", "R"))
        )

    def watch_focused(self) -> None:
        """Another part has the keys, and the foot may name others."""
        # When the app ends, the focus goes after the last screen has gone.
        for line in self.query("#keys").results(OneLine) if self.app.screen_stack else ():
            line.show(self._key_segments())

    def _key_segments(self) -> list[Segment]:
        by_action = {binding.action: binding for binding in reversed(self.shown_bindings())}
        shown = list(reversed(by_action.values()))
        last = [binding for binding in shown if binding.id in _LAST]
        keys = [self._key(binding) for binding in shown if binding.id not in _LAST]
        ends = [self._key(binding) for binding in last]
        room = self.size.width - 1 - sum(map(_width, ends))
        fitting = [key for place, key in enumerate(keys, 1) if sum(map(_width, keys[:place])) <= room]
        return [Segment(" "), *(segment for key in (*fitting, *ends) for segment in key)]

    def _key(self, binding: Binding) -> list[Segment]:
        return [Segment(self.owner.key_words(binding), self.look.title), Segment(f" {binding.description}  ")]

    def shown_bindings(self) -> list[Binding]:
        """Those of the screen first, then the app's, as far as they work here and have a place in the foot."""
        active = [found for found in self.active_bindings.values() if found.binding.show and found.enabled]
        order = [self, *(found.node for found in active)]
        active.sort(key=lambda found: (found.node is not self, order.index(found.node)))
        return [found.binding for found in active]

    def zoomed(self) -> Widget | None:
        """The part that fills the screen, if one does."""
        return self.maximized


def _width(key: list[Segment]) -> int:
    return sum(segment.cell_length for segment in key)
