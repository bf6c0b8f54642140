"""Screen 6: how full the pools are, of what, what leaves next, and how many sessions there is room for."""

import time
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.tui.frame import Frame
from shadowviz.tui.models.pool_history import PoolHistory
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.screens.copying import copy_log_command
from shadowviz.tui.screens.pools_inspector import pool_paragraphs
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.pool_lines import PoolLines
from shadowviz.tui.widgets.ready_lines import ReadyLines
from shadowviz.tui.widgets.text_pane import Paragraph

HISTORY_S = 0.01
"""Work of one frame on the history."""
REST = 20
"""Lines are made anew after this many times as long as making them took."""


class PoolsScreen(PaneScreen):
    """The pools at the moment shown; Enter on a node shows it in the tree."""

    name_of_screen = "pools"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "drill", "node in the tree", id="pools.drill"),
        Binding("b", "leaving", "next to leave", id="pools.leaving"),
        Binding("y", "copy", "copy a command that tells the bytes", show=False, id="pools.copy"),
        Binding("e", "export", "export bytes by kind and node", show=False, id="pools.export"),
        Binding("p", "app.pause", "pause", id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._history: PoolHistory | None = None
        self._history_of: object = None
        self._lines: PoolLines | None = None
        """What is shown; of the moment at which it was drawn."""
        self._drawn: tuple[object, ...] = ()
        self._due = 0.0

    def compose_main(self) -> ComposeResult:
        view = ReadyLines(id="list")
        view.told = self._select
        yield view

    @property
    def view(self) -> ReadyLines:
        """The lines."""
        return self.query_one("#list", ReadyLines)

    @property
    def is_working(self) -> bool:
        return super().is_working or (self._history is not None and self._history.is_behind)

    def title_segments(self, width: int) -> list[Segment]:
        opened = self.session.state.opened
        if opened is None:
            return [Segment(" Pools", self.look.muted)]
        words = f" Pools  page {opened.geometry.page_size:,} tokens  policy {self.look.shown(opened.policy) or '-'}"
        kept = f"  retention {self.look.shown(opened.retention)}" if opened.retention else ""
        return [Segment(f"{words}{kept}"[:width], self.look.muted)]

    def show(self, frame: Frame) -> None:
        session = self.session
        if session.state.opened is None:
            self.view.show(())
            self._lines = None
            self.inspector.show([Paragraph("The pools appear once the log was opened.", self.look.muted)])
            return
        if self._history_of is not session.timeline or self._history is None:
            self._history_of, self._history = session.timeline, PoolHistory(session.follower)
        if frame.arrival.settled and frame.pools_at == frame.at:
            self._history.note(frame.at, tuple(pool.fill for pool in frame.pools))
        came = self._history.sync(HISTORY_S)
        drawn = (frame.version, frame.pools, self.view.size.width, self.look)
        now = time.monotonic()
        if (drawn != self._drawn or came) and (now >= self._due or not self._drawn):
            self._drawn = drawn
            self._lines = lines = PoolLines(session.state, frame, self.look, self.view.size.width - 3)
            self.view.show(list(lines.lines(session.timeline.chronicle, self._history)))
            self._due = time.monotonic() + REST * (time.monotonic() - now)
        self._inspect()

    def finish(self) -> None:
        if self._history is not None:
            self._history.sync(float("inf"))
            self._due, self._drawn = 0.0, ()

    def _inspect(self) -> None:
        if self._lines is not None:
            self.inspector.show(pool_paragraphs(self.view.about, self._lines, self.look))

    def _select(self, _row: int) -> None:
        if node := self.view.target:
            self.session.selection.select(node=node, token=-1)

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        self._inspect()

    def on_line_view_entered(self, _event: LineView.Entered) -> None:
        self.action_drill()

    def action_drill(self) -> None:
        """Show the node at the cursor in the tree."""
        if node := self.view.target:
            self.session.selection.select(node=node, token=-1)
            self.owner.drill("tree")

    def action_leaving(self) -> None:
        """Go to the node that leaves first."""
        row = next((row for row, line in enumerate(self.view.lines) if line.target), -1)
        if row < 0:
            self.owner.say("nothing can be evicted, or the policy is not known here")
        else:
            self.view.move_to(row)

    def action_copy(self) -> None:
        """Copy a command that shows the same memory."""
        at = self.session.timeline.at
        if self.session.state.opened is None:
            self.owner.say("there are no pools yet")
            return
        as_text = ["--diagram", "memory", "--format", "text"]
        copy_log_command(self.owner, lambda log: ["shadowviz", "export", f"{log}@{at}", *as_text])

    def action_export(self) -> None:
        """Write the bytes of every kind and node at this moment to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.diagrams import memory_at
        from shadowviz.tui.screens.export_ask import ask_and_export

        if self.session.state.opened is None:
            self.owner.say("there are no pools yet")
        else:
            ask_and_export(self.owner, memory_at(self.session.timeline.at))
