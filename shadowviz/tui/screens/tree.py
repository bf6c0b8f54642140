"""Screen 2: the radix tree at any size, and what one span has."""

import time
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.tui.frame import Frame
from shadowviz.tui.models.span_facts import SpanFacts
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz.tui.models.tree_search import node_of_request
from shadowviz.tui.screens.copying import copy_log_command
from shadowviz.tui.screens.span_inspector import span_paragraphs
from shadowviz.tui.screens.tree_cursor import TreeCursor
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz.tui.widgets.tree_view import TreeShown, TreeView, header

REST, REST_ON_THE_WAY = 8, 30
"""The tree is followed again after so many times as long as following it took: at rest, and while the state moves."""


class TreeScreen(TreeCursor):
    """The tree; the cursor and what is folded belong to nodes, and stay with them while the tree changes."""

    name_of_screen = "tree"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "fold", id="tree.fold"),
        Binding("slash", "search", "find", id="tree.search"),
        Binding("n", "found(1)", "next", id="tree.next-found"),
        Binding("N", "found(-1)", "previous found", show=False, id="tree.previous-found"),
        Binding("z", "hoist", "hoist", id="tree.hoist"),
        Binding("o", "owner", "request", id="tree.request"),
        Binding("enter", "drill", "ruler", id="tree.drill"),
        Binding("left,h", "parent", "to the parent", show=False, id="tree.parent"),
        Binding("right,l", "child", "to the first child", show=False, id="tree.child"),
        Binding("minus", "fold_all", "fold all", show=False, id="tree.fold-all"),
        Binding("plus,equals_sign", "unfold_all", "unfold all", show=False, id="tree.unfold-all"),
        Binding("b", "next_out", "next to be evicted", show=False, id="tree.next-out"),
        Binding("y", "copy", "copy a command that draws this", show=False, id="tree.copy"),
        Binding("e", "export", "export the tree", show=False, id="tree.export"),
        Binding("p", "app.pause", "pause", show=False, id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._index_of: object = None
        self._shown_for: tuple[object, ...] = ()
        self._followed: tuple[int, int] = (-1, 0)
        """Event and state at which the tree was followed last."""
        self._due_s = 0.0
        self._path_of = ""
        self._inspected: tuple[object, ...] = ()

    def compose_main(self) -> ComposeResult:
        view = TreeView(id="list")
        view.told = self._moved
        yield view

    def title_segments(self, width: int) -> list[Segment]:
        shown = self.view.shown
        index = self._index
        name = f"node (n{index.hoisted} alone)" if index is not None and index.hoisted else "node"
        name = f"{name}  {self._search_words()}".rstrip()
        return [Segment(header(width, len(shown.kinds) if shown is not None else 7, name), self.look.muted)]

    def show(self, frame: Frame) -> None:
        opened = self.session.state.opened
        if opened is None:
            self._forget_tree()
            self.inspector.show([Paragraph("The tree appears once the log was opened.", self.look.muted)])
            return
        self._choose()
        shown_for = (frame.tree_version, self.owner.words_version, self._path_of, id(self.session.timeline))
        if shown_for != self._shown_for and self._is_due(frame):
            begun_s = time.monotonic()
            self._shown_for, self._followed = shown_for, (frame.at, id(self.session.state))
            self._follow_tree()
            done_s = time.monotonic()
            self._due_s = done_s + (REST if frame.arrival.settled else REST_ON_THE_WAY) * (done_s - begun_s)
        self._go_on_searching()
        self._inspect()

    def _is_due(self, frame: Frame) -> bool:
        # What is shown of a later moment may have nodes that this one has not.
        at, state = self._followed
        return frame.at < at or id(self.session.state) != state or time.monotonic() >= self._due_s

    def _choose(self) -> None:
        """Take what the other screens have selected."""
        chosen = self.selection
        if chosen.node and chosen.node != self._node and self._index is not None:
            self._node = chosen.node
            self._index.reveal(chosen.node)
            self._shown_for, self._due_s = (), 0.0
        if chosen.request != self._path_of:
            self._path_of, self._due_s = chosen.request, 0.0
            if not chosen.node:
                self._node = node_of_request(self.session.state, chosen.request) or self._node
                if self._index is not None:
                    self._index.reveal(self._node)

    def _forget_tree(self) -> None:
        """Show no row: those of another moment, or of another log, are not of this one."""
        self.view.shown, self._index, self._index_of = None, None, None
        self._shown_for, self._inspected, self._search_on = (), (), None
        self._found.forget()
        self.view.rows_changed()

    def _follow_tree(self) -> None:
        state = self.session.state
        if self._index is None or self._index_of is not self.session.timeline:
            self._forget_tree()
            self._index_of = self.session.timeline
            self._index = TreeIndex(state.nodes)
            self._index.reveal(self._node)
        index = self._index
        heir = index.order.heir(self._node, state.nodes)
        index.sync(state.nodes)
        self._node = heir
        path = frozenset(state.nodes.path(node_of_request(state, self._path_of)))
        assert state.opened is not None, "checked by the caller"
        self.view.shown = TreeShown(state, index, SpanFacts(state, state.opened), self.owner.words, path)
        self.view.rows_changed()
        self._put_cursor()

    def _inspect(self) -> None:
        shown = self.view.shown
        key = (self._node, self._shown_for, self._found.words, id(self.look))
        if shown is None or key == self._inspected:
            return
        self._inspected = key
        parts = span_paragraphs(shown, self._node, self.look)
        if self._found.words:
            words = f"{self._found.title_words(self._node)}; n and N go on"
            parts.append(Paragraph(words, self.look.muted))
        self.inspector.show(parts)

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        self._inspect()

    def action_next_out(self) -> None:
        """Go to the node that leaves first when room is needed."""
        node = self.view.shown.facts.next_out if self.view.shown is not None else 0
        if node:
            self._go(node)
        else:
            self.owner.say("nothing can be evicted, or the policy is not known here")

    def _request(self) -> str:
        """The request that is selected, where the moment shown knows it."""
        request = self.selection.request
        return request if request in self.session.state.requests.index else ""

    def action_copy(self) -> None:
        """Copy a command that draws what is at the cursor and below it, at the moment shown."""
        frame, request = self.owner.frame, self._request()
        if frame is None or frame.at < 0:
            self.owner.say("there is no tree at this moment")
            return
        at, node = frame.at, self._node
        words = ["--root", str(node)] if node else []
        words += [f"--request={request}"] if request else []
        words += ["-o", f"n{node}-e{at}.svg"]
        copy_log_command(self.owner, lambda log: ["shadowviz", "export", f"{log}@{at}", *words])

    def action_export(self) -> None:
        """Write the tree that is shown, at the moment shown, to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.diagrams import tree_at
        from shadowviz.tui.screens.export_ask import ask_and_export

        frame, index = self.owner.frame, self._index
        if frame is None or index is None:
            self.owner.say("there is no tree at this moment")
        else:
            ask_and_export(self.owner, tree_at(frame.at, index.hoisted, self._request(), index.folds()))

    def action_drill(self) -> None:
        """Show the tokens of the node's path: those of the selected request, if the node is on its path."""
        state, node, request = self.session.state, self._node, self._request()
        is_its = node in state.nodes.path(node_of_request(state, request)) if request and node else not node
        self.owner.drill("ruler")
        if is_its:
            self.session.selection.select(token=state.nodes.start[node] if node else -1)
        else:
            self.session.selection.select(request="", token=-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action does something here."""
        if action == "drill":
            return self.owner.has_screen("ruler")
        if action == "found":
            return bool(self._found)
        return super().check_action(action, parameters)
