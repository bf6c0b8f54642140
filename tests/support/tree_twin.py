"""A tree of the interface as anyone would write it for a handful of nodes, and trees that change at random."""

from shadowviz_engine.core.columns import NodeColumns
from shadowviz_engine.core.replayer import Replayer

NO_RUNS = (0, 0, 0, 0)
"""No rows in any pool."""


def preorder(columns: NodeColumns, node: int = 0) -> list[int]:
    """`node` and everything below it."""
    return [node, *(below for child in columns.children(node) for below in preorder(columns, child))]


def rows(columns: NodeColumns, folded: set[int], node: int) -> list[int]:
    """What is shown of the subtree of `node`."""
    if node in folded:
        return [node]
    return [node, *(below for child in columns.children(node) for below in rows(columns, folded, child))]


def depth(columns: NodeColumns, node: int) -> int:
    """Edges to the root."""
    return len(list(columns.path(node)))


class Grower:
    """Nodes that come, split and go by the meanings of the replayer, each step with its way back."""

    def __init__(self) -> None:
        self.state = Replayer()
        self.seq = 0
        self._undo: list[tuple[str, tuple[int, ...]]] = []

    @property
    def nodes(self) -> NodeColumns:
        return self.state.nodes

    def living(self) -> list[int]:
        return [node for node in range(len(self.nodes)) if self.nodes.alive[node]]

    def insert(self, choice: int) -> None:
        living = self.living()
        parent = living[choice % len(living)]
        node, start = len(self.nodes), self.nodes.stop[parent]
        self.seq += 1
        self.nodes.append_leaf(parent, (start, start + 8, 0, 0), NO_RUNS, False, self.seq)
        self._undo.append(("insert", (node,)))

    def split(self, choice: int) -> None:
        able = [node for node in self.living()[1:] if self.nodes.stop[node] - self.nodes.start[node] > 1]
        if able:
            node = able[choice % len(able)]
            start = self.nodes.start[node]
            middle = (start + self.nodes.stop[node]) // 2
            upper = len(self.nodes)
            self.seq += 1
            self.nodes.append_above(node, (start, middle, 0, 0), NO_RUNS, self.seq)
            self.nodes.start[node] = middle
            self._undo.append(("split", (node, upper, start)))

    def evict(self, choice: int) -> None:
        leaves = [node for node in self.living()[1:] if not self.nodes.first_child[node]]
        if leaves:
            node = leaves[choice % len(leaves)]
            self.nodes.unlink(node)
            self.nodes.alive[node] = 0
            self._undo.append(("evict", (node,)))

    def undo(self, _choice: int = 0) -> None:
        if not self._undo:
            return
        what, (node, *more) = self._undo.pop()
        if what == "insert":
            self.nodes.unlink(node)
            self.nodes.pop()
        elif what == "split":
            upper, start = more
            self.nodes.start[node] = start
            self.nodes.take_out_between(upper, node)
            self.nodes.pop()
        else:
            self.nodes.relink(node)
            self.nodes.alive[node] = 1
