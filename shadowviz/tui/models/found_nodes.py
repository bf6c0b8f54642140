"""Nodes that a search for text has found, in the order of the tree."""

from collections.abc import Iterable

from shadowviz.tui.models.tree_order import TreeOrder
from shadowviz.tui.models.tree_search import MAX_FOUND


class FoundNodes:
    """What was searched for last, and the nodes that hold it."""

    def __init__(self) -> None:
        self.words = ""
        """Inert; empty = nothing was searched for, or was found as a name."""
        self._nodes: list[int] = []

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def count_words(self) -> str:
        """How many there are."""
        return f"{len(self):,}{'+' if len(self) >= MAX_FOUND else ''}"

    def title_words(self, node: int) -> str:
        """How many there are of what, and which of them `node` is, if it is one; empty = nothing was found."""
        if not self._nodes:
            return ""
        which = f"{self._nodes.index(node) + 1:,} of " if node in self._nodes else ""
        return f"{which}{self.count_words} found: /{self.words}"

    def forget(self) -> None:
        """Nothing is searched for."""
        self.words, self._nodes = "", []

    def take(self, words: str, nodes: Iterable[int], order: TreeOrder) -> int:
        """Keep what was found; the first of them, 0 = nothing was found."""
        found = [node for node in nodes if order.lives(node)]
        self.words = words if found else ""
        self._nodes = sorted(found, key=lambda node: int(order.positions[node]))
        return self._nodes[0] if self._nodes else 0

    def beside(self, node: int, by: int, order: TreeOrder) -> int:
        """The next one behind a node, or the one before it, in a circle; 0 = none lives any more."""
        found = [one for one in self._nodes if order.lives(one)]
        if not found:
            return 0
        here, places = int(order.positions[node]), [int(order.positions[one]) for one in found]
        if by > 0:
            return found[next((place for place, at in enumerate(places) if at > here), 0)]
        return found[next((place for place in range(len(places) - 1, -1, -1) if places[place] < here), -1)]
