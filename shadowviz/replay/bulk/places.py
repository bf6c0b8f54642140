"""Places of nodes among others, worked out for all of them at once."""

from array import array

import numpy as np

from shadowviz.replay.bulk.columns import Ints
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core.columns import NodeColumns


def link(nodes: NodeColumns, stems: "array[int]") -> None:
    """Every living node is in the list of its parent's children, the newest first; evicted ones are in none.

    Args:
        stems: by node, the leaf that it is or was part of. A node that was split off has the place of that leaf.

    Raises:
        Unsound: a node was in the tree without its parent.
    """
    parent, alive = np.frombuffer(nodes.parent, np.int32), np.frombuffer(nodes.alive, np.uint8).astype(bool)
    evicted = np.frombuffer(nodes.evicted, np.int64)
    outlives = (evicted[parent] >= 0) & (alive | (evicted > evicted[parent]))
    if outlives[1:].any():
        raise Unsound("a node was in the tree without its parent")
    living = np.flatnonzero(alive)[1:]
    order = living[np.lexsort((-np.frombuffer(stems, np.int32)[living], parent[living]))]
    of = parent[order]
    begins = np.concatenate((np.ones(min(len(of), 1), dtype=bool), of[1:] != of[:-1]))
    before = np.where(begins, 0, np.roll(order, 1))
    first, following, previous = (np.zeros(len(nodes), dtype=np.int32) for _ in range(3))
    first[of[begins]] = order[begins]
    previous[order] = before
    following[before] = order
    following[0] = 0
    for column, values in (
        (nodes.first_child, first), (nodes.next_sibling, following), (nodes.previous_sibling, previous)
    ):  # fmt: skip
        np.frombuffer(column, np.int32)[:] = values


def top_nodes(nodes: NodeColumns) -> Ints:
    """By node, the one of its path right below the root; of the root, the root."""
    top: Ints = np.array(nodes.parent, dtype=np.int64)
    here = np.arange(len(top))
    top[top == 0] = here[top == 0]
    # Every round doubles the length of the hops.
    while not np.array_equal(further := top[top], top):
        top = further
    return top
