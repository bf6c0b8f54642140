"""Lays living nodes out in preorder: as whole columns where a tree is bushy, node by node where it is deep."""

from array import array

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz_engine.core.columns import NodeColumns

Places = NDArray[np.int32]
Depths = NDArray[np.int16]

MAX_LEVELS = 1_000
"""Depth up to which sums over whole levels are faster than a walk."""
CHUNK = 2**16
"""Nodes that are worked on together where a step needs several times their memory."""


class Layout(msgspec.Struct, frozen=True, eq=False):
    """A tree in preorder, the root first, the newest child before its siblings."""

    nodes: Places
    """Node by position."""
    depths: Places
    """Edges to the root, by position."""
    sizes: Places
    """Nodes in and below each living node, by id; 0 for the others."""


def lay_out(columns: NodeColumns) -> Layout:
    """The living nodes of `columns` in preorder."""
    alive = np.array(columns.alive, dtype=bool)
    parent = _of_living(columns.parent, alive)
    edges = _sums_upward(np.ones(len(parent), dtype=np.int32), parent)
    edges[0] = 0
    if edges.max(where=alive, initial=0) >= MAX_LEVELS:
        return _walk(columns)
    depths = edges.astype(np.int16)
    del edges
    sizes = _sizes(parent, alive, depths)
    before = _of_living(columns.previous_sibling, alive)
    # The first child stands one behind its parent, each other one behind the subtree of the sibling before it.
    places = _gather(sizes, before, np.empty_like(before))
    places[before == 0] = 1
    places = _sums_upward(places, before)
    del before
    places = _sums_upward(places, parent)
    places[0] = 0
    del parent
    nodes = np.empty(np.count_nonzero(alive), dtype=np.int32)
    nodes[places[alive]] = np.flatnonzero(alive)
    del places
    return Layout(nodes, depths[nodes].astype(np.int32), sizes)


def _of_living(column: "array[int]", alive: NDArray[np.bool_]) -> Places:
    """A copy, 0 where the node does not live: what is there then may lead anywhere."""
    values = np.array(column, dtype=np.int32)
    values[~alive] = 0
    return values


def _sums_upward(sums: Places, above: Places) -> Places:
    """Of each node the sum of `sums`, which is used up, over it and all that is above it, row 0 left out."""
    hop, spare = above, np.empty_like(above)
    sums[0] = 0
    # Every round doubles the length of the hops.
    while hop.any():
        sums += _gather(sums, hop, spare)
        # What is above the nodes is still needed.
        hop, spare = _gather(hop, hop, spare), np.empty_like(above) if hop is above else hop
    return sums


def _gather(values: Places, at: Places, result: Places) -> Places:
    """`result`, filled with the values that stand at `at`."""
    # Indices become twice as long when they are used.
    for begin in range(0, len(at), CHUNK):
        result[begin : begin + CHUNK] = values[at[begin : begin + CHUNK]]
    return result


def _sizes(parent: Places, alive: NDArray[np.bool_], depths: Depths) -> Places:
    """Nodes in and below each living node, level by level from the deepest."""
    sizes = alive.astype(np.int32)
    by_depth, bounds = _by_depth(alive, depths)
    for start, stop in zip(bounds[-2:0:-1], bounds[:1:-1], strict=True):
        level = by_depth[start:stop]
        np.add.at(sizes, parent[level], sizes[level])
    return sizes


def _by_depth(alive: NDArray[np.bool_], depths: Depths) -> tuple[Places, NDArray[np.int64]]:
    """Living nodes from the root down, each level in the order of ids; and where levels begin and end."""
    num = np.bincount(depths[alive])
    bounds = np.concatenate(([0], np.cumsum(num)))
    nodes, free = np.empty(bounds[-1], dtype=np.int32), bounds[:-1].copy()
    # To sort all at once takes several times the memory.
    for begin in range(0, len(depths), CHUNK):
        some = begin + np.flatnonzero(alive[begin : begin + CHUNK])
        levels = depths[some]
        order = np.argsort(levels, kind="stable")
        num_here = np.bincount(levels, minlength=len(num))
        within = np.arange(len(some)) - np.repeat(np.cumsum(num_here) - num_here, num_here)
        nodes[np.repeat(free, num_here) + within] = some[order]
        free += num_here
    return nodes, bounds


def _walk(columns: NodeColumns) -> Layout:
    first, beside, parent = columns.first_child, columns.next_sibling, columns.parent
    nodes, depths, sizes = array("i", (0,)), array("i", (0,)), array("i", bytes(4 * len(columns)))
    add_node, add_depth = nodes.append, depths.append
    node, depth, num = first[0], 1, 1
    while node:
        add_node(node)
        add_depth(depth)
        below = first[node]
        if below:
            # Until the subtree is left its size holds where it begins.
            sizes[node] = num
            num += 1
            node = below
            depth += 1
            continue
        num += 1
        sizes[node] = 1
        while node and not beside[node]:
            node = parent[node]
            depth -= 1
            sizes[node] = num - sizes[node]
        if node:
            node = beside[node]
    sizes[0] = num
    return Layout(*(np.array(column, dtype=np.int32) for column in (nodes, depths, sizes)))
