"""Places for the boxes of a tree: a column for each depth, the next free row for each branch, found in one pass."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from shadowviz.diagrams.tree import Box, Stub


class Places(NamedTuple):
    """Column and row of every box, and of every stub behind the last child of its box."""

    columns: "array[int]"
    rows: "array[int]"
    parents: "array[int]"
    """Index of the box that each box hangs from; -1 where that is not shown."""
    stub_columns: "array[int]"
    stub_rows: "array[int]"
    stub_parents: "array[int]"
    num_columns: int
    num_rows: int


def place(boxes: Sequence[Box], stubs: Sequence[Stub] = ()) -> Places:
    """Places of boxes in pre-order, from the top down: each in the first row that is free from its parent's row on.

    For a box from which something hangs that row must be free in the next column too, so that the line down to its
    children begins below that of every box above. So nothing shares a place and no edge crosses another. O(n),
    without recursion: a chain of any length is one row.
    """
    placing = _Placing(boxes, stubs)
    placing.run()
    columns, rows = placing.columns, placing.rows
    sizes = [
        max(max(ours, default=-1), max(others, default=-1)) + 1
        for ours, others in ((columns, placing.stub_columns), (rows, placing.stub_rows))
    ]
    return Places(
        columns,
        rows,
        placing.parents,
        placing.stub_columns,
        placing.stub_rows,
        placing.stub_parents,
        sizes[0],
        sizes[1],
    )


class _Placing:
    def __init__(self, boxes: Sequence[Box], stubs: Sequence[Stub]) -> None:
        self._boxes = boxes
        self.columns, self.rows, self.parents = (array("q", bytes(8 * len(boxes))) for _ in range(3))
        self.stub_columns, self.stub_rows, self.stub_parents = (array("q", [-1]) * len(stubs) for _ in range(3))
        self._stubs: dict[int, list[int]] = {}
        for index, stub in enumerate(stubs):
            self._stubs.setdefault(stub.parent, []).append(index)
        self._free: list[int] = [0]
        """First free row of each column."""

    def run(self) -> None:
        """Place everything, from the top down."""
        self._find_columns()
        open_path: list[int] = []
        for index, parent in enumerate(self.parents):
            while open_path and open_path[-1] != parent:
                self._close(open_path.pop())
            self._place_box(index, parent)
            open_path.append(index)
        while open_path:
            self._close(open_path.pop())
        for index, row in enumerate(self.stub_rows):
            if row < 0:
                self._place_stub(index, 0, -1)

    def _find_columns(self) -> None:
        boxes, parents, columns = self._boxes, self.parents, self.columns
        open_path: list[int] = []
        for index, box in enumerate(boxes):
            while open_path and boxes[open_path[-1]].node != box.parent:
                open_path.pop()
            parents[index] = open_path[-1] if open_path else -1
            columns[index] = len(open_path)
            open_path.append(index)
        self._free += [0] * (max(columns, default=0) + 1)

    def _place_box(self, index: int, parent: int) -> None:
        column, free = self.columns[index], self._free
        row = free[column]
        if parent >= 0:
            row = max(row, self.rows[parent])
        has_child = index + 1 < len(self.parents) and self.parents[index + 1] == index
        if has_child or self._boxes[index].node in self._stubs:
            row = max(row, free[column + 1])
        self.rows[index] = row
        free[column] = row + 1

    def _close(self, index: int) -> None:
        """Put the stubs of a box behind its last child."""
        for stub in self._stubs.get(self._boxes[index].node, ()):
            self._place_stub(stub, self.columns[index] + 1, index)

    def _place_stub(self, stub: int, column: int, parent: int) -> None:
        row = max(self._free[column], self.rows[parent] if parent >= 0 else 0)
        self.stub_columns[stub], self.stub_rows[stub], self.stub_parents[stub] = column, row, parent
        self._free[column] = row + 1
