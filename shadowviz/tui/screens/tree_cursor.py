"""The cursor on a node of the tree: how it moves, what it folds, and what it finds."""

from shadowviz.tui.models.cells import steady
from shadowviz.tui.models.found_nodes import FoundNodes
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz.tui.models.tree_search import TextSearch, node_of_id, node_of_request
from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.tree_view import TreeView

SEARCH_S = 0.02
"""Work of one frame on a search."""


class TreeCursor(PaneScreen):
    """A screen with a tree; the cursor and what is folded belong to nodes. A subclass says what the inspector shows."""

    def __init__(self) -> None:
        super().__init__()
        self._index: TreeIndex | None = None
        self._node = 0
        self._found = FoundNodes()
        self._search_on: tuple[str, TextSearch] | None = None
        """What is being searched for, inert."""

    def _inspect(self) -> None:
        """Show what is known of the node at the cursor."""
        raise NotImplementedError

    @property
    def view(self) -> TreeView:
        """The list."""
        return self.query_one("#list", TreeView)

    def _put_cursor(self) -> None:
        index = self._index
        if index is not None:
            self.view.move_to(index.nearest_row(self._node), tell=False)

    def _go(self, node: int) -> None:
        if self._index is not None:
            self._node = node
            self._index.reveal(node)
            self._rows_changed()

    def _rows_changed(self) -> None:
        self.view.rows_changed()
        self._put_cursor()
        self._select()
        self._inspect()

    def _select(self) -> None:
        self.session.selection.select(node=self._node, token=-1)

    def _moved(self, row: int) -> None:
        if self._index is not None:
            self._node = self._index.node_at(row)
            self._select()

    def on_line_view_entered(self, _event: LineView.Entered) -> None:
        self.action_fold()

    def action_fold(self) -> None:
        """Hide or show what is below the node."""
        if self._index is not None:
            self._index.toggle(self._node)
            self._rows_changed()

    def action_fold_all(self) -> None:
        """Hide all but the first level."""
        if self._index is not None:
            self._index.fold_from(1)
            self._node = self._index.node_at(self._index.nearest_row(self._node))
            self._rows_changed()

    def action_unfold_all(self) -> None:
        """Show every node."""
        if self._index is not None:
            self._index.unfold_all()
            self._rows_changed()

    def action_hoist(self) -> None:
        """Show the node's subtree alone, or the whole tree again."""
        if self._index is not None:
            self._index.hoist(0 if self._index.hoisted else self._node)
            self._rows_changed()

    def action_parent(self) -> None:
        """Go to the parent; an open node is folded first."""
        if self._index is not None:
            self.view.move_to(self._index.parent_row(self.view.cursor))

    def action_child(self) -> None:
        """Go to the first child, opening the node."""
        if self._index is not None and self._index.has_children(self._node):
            self._index.unfold(self._node)
            self.view.rows_changed()
            self.view.move_to(self._index.row_of(self._node) + 1)

    def action_owner(self) -> None:
        """Go to the deepest node of the request that is selected."""
        node = node_of_request(self.session.state, self.selection.request)
        if node:
            self._go(node)
        else:
            name = steady(self.selection.request)
            self.owner.say(f"request {name} has no tokens in the tree" if name else "no request is selected")

    def action_search(self) -> None:
        """Ask for a node by id, by request, or by text."""
        about = "find: n42, a request, or text of tokens as it is shown"
        self.app.push_screen(AskScreen(about, self._found.words), self._search)

    def _search(self, text: str | None) -> None:
        if not text:
            return
        state, index = self.session.state, self._index
        self._found.forget()
        self._search_on = None
        node = node_of_id(state, text) or node_of_request(state, text)
        if not node and index is not None:
            self._search_on = (steady(text), TextSearch(state, self.owner.words, text))
            self._go_on_searching()
            return
        self._show_found(steady(text), node)

    def _go_on_searching(self) -> None:
        """Search on for a moment; go to the first node when all are found."""
        if self._search_on is not None and self._index is not None:
            words, search = self._search_on
            if search.advance(SEARCH_S):
                self._search_on = None
                self._show_found(words, self._found.take(words, search.found, self._index.order))

    def _show_found(self, words: str, node: int) -> None:
        self.refresh_bindings()
        if node:
            self._go(node)
        else:
            self.owner.say(f"nothing in the tree is called {words!r} or holds that text")

    @property
    def is_working(self) -> bool:
        return self._search_on is not None

    def _search_words(self) -> str:
        """How far a search has come, or how many nodes the last one has found; empty = there was none."""
        if self._search_on is None:
            return self._found.title_words(self._node)
        words, search = self._search_on
        return f"/{words}: {search.looked:.0%} searched"

    def action_found(self, by: int) -> None:
        """Go to the next node that was found, or to the one before."""
        index = self._index
        node = self._found.beside(self._node, by, index.order) if index is not None else 0
        if node:
            self._go(node)
