"""Places for the boxes of a tree: a column for each depth, a row for each path, found in one pass."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from shadowviz.diagrams.tree import Box, Stub


class Places(NamedTuple):
    """Column and row of every box, and of every stub behind the last child of its box."""

    columns: "array[int]"
    rows: "array[int]"
    stub_columns: "array[int]"
    stub_rows: "array[int]"
    parents: "array[int]"
    """Index of the box that each box hangs from; -1 where that is not shown."""
    stub_parents: "array[int]"
    num_columns: int
    num_rows: int


def place(boxes: Sequence[Box], stubs: Sequence[Stub] = ()) -> Places:
    """Places of boxes in pre-order: the first child stands in its parent's row, every other in a row of its own.

    So that no two things share a place, all that hangs from a box lies in rows from its own on that no other branch
    uses. O(n), without recursion: a chain of any length is one row.
    """
    num = len(boxes)
    columns, rows, parents = (array("q", bytes(8 * num)) for _ in range(3))
    behind = _stubs_by_parent(stubs)
    stub_columns, stub_rows, stub_parents = (array("q", [-1]) * len(stubs) for _ in range(3))
    open_path: list[int] = []
    has_child = bytearray(num)
    next_row = 0

    def close(index: int) -> None:
        """Put the stubs of a box behind its last child."""
        nonlocal next_row
        for stub in behind.get(boxes[index].node, ()):
            if has_child[index]:
                stub_rows[stub] = next_row
                next_row += 1
            else:
                stub_rows[stub] = rows[index]
                has_child[index] = 1
            stub_columns[stub] = columns[index] + 1
            stub_parents[stub] = index

    for index, box in enumerate(boxes):
        while open_path and boxes[open_path[-1]].node != box.parent:
            close(open_path.pop())
        parent = open_path[-1] if open_path else -1
        parents[index] = parent
        columns[index] = columns[parent] + 1 if parent >= 0 else 0
        if parent >= 0 and not has_child[parent]:
            rows[index] = rows[parent]
            has_child[parent] = 1
        else:
            rows[index] = next_row
            next_row += 1
        open_path.append(index)
    while open_path:
        close(open_path.pop())
    _place_loose_stubs(stub_columns, stub_rows, next_row)
    num_columns = max(max(places, default=-1) for places in (columns, stub_columns)) + 1
    num_rows = max(max(places, default=-1) for places in (rows, stub_rows)) + 1
    return Places(columns, rows, stub_columns, stub_rows, parents, stub_parents, num_columns, num_rows)


def _stubs_by_parent(stubs: Sequence[Stub]) -> dict[int, list[int]]:
    behind: dict[int, list[int]] = {}
    for index, stub in enumerate(stubs):
        behind.setdefault(stub.parent, []).append(index)
    return behind


def _place_loose_stubs(columns: "array[int]", rows: "array[int]", next_row: int) -> None:
    """Stubs of a box that is not shown stand below everything, at the left."""
    for index, row in enumerate(rows):
        if row < 0:
            columns[index], rows[index] = 0, next_row
            next_row += 1
