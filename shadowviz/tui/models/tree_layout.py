"""Lays living nodes out in preorder: as whole columns where a tree is bushy, node by node where it is deep."""

from array import array

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz_engine.core.columns import NodeColumns

Places = NDArray[np.int32]

MAX_LEVELS = 1_000
"""Depth up to which sums over whole levels are faster than a walk."""


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
    parent = np.array(columns.parent, dtype=np.int32)
    alive = np.array(columns.alive, dtype=bool)
    parent[~alive] = 0
    depths = _sums_upward(np.ones(len(parent), dtype=np.int32), parent)
    depths[0] = 0
    levels = int(depths[alive].max()) + 1
    if levels > MAX_LEVELS:
        return _walk(columns)
    sizes = _sizes(parent, alive, depths)
    before = np.array(columns.previous_sibling, dtype=np.int32)
    before[~alive] = 0
    # The first child stands one behind its parent, each other one behind the subtree of the sibling before it.
    steps = np.where(before > 0, sizes[before], 1)
    places = _sums_upward(_sums_upward(steps, before), parent)
    places[0] = 0
    living = np.flatnonzero(alive)
    nodes = np.empty(len(living), dtype=np.int32)
    nodes[places[living]] = living
    return Layout(nodes, depths[nodes], sizes)


def _sums_upward(values: Places, above: Places) -> Places:
    """Of each node the sum of `values` over it and all that is above it, row 0 left out."""
    sums, hop = values.astype(np.int32), above
    sums[0] = 0
    # Every round doubles the length of the hops.
    while hop.any():
        sums += sums[hop]
        hop = hop[hop]
    return sums


def _sizes(parent: Places, alive: NDArray[np.bool_], depths: Places) -> Places:
    """Nodes in and below each living node, level by level from the deepest."""
    sizes = alive.astype(np.int32)
    living = np.flatnonzero(alive)[1:].astype(np.int32)
    by_depth = living[np.argsort(depths[living].astype(np.int16), kind="stable")]
    bounds = np.cumsum(np.bincount(depths[living]))
    for start, stop in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
        level = by_depth[start:stop]
        np.add.at(sizes, parent[level], sizes[level])
    return sizes


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
