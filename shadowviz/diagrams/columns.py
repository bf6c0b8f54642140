"""The tree of a replayed state as numpy columns: a copy that a picture is worked out from, however many nodes."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shadowviz_engine.core.replayer import Replayer

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MAX_LEVELS = 10_000
"""Levels up to which sums are formed level by level; beyond, the levels are so small that node by node is faster."""


class TreeColumns:
    """Columns by node id, dead nodes and the root included; later events do not change them."""

    def __init__(self, state: Replayer) -> None:
        nodes = state.nodes
        self.alive: Mask = np.array(nodes.alive, dtype=bool)
        self.parent: Ints = np.array(nodes.parent, dtype=np.int64)
        self.start: Ints = np.array(nodes.start, dtype=np.int64)
        self.stop: Ints = np.array(nodes.stop, dtype=np.int64)
        self.namespace: Ints = np.array(nodes.namespace, dtype=np.int64)
        self.terminal: Mask = np.array(nodes.terminal, dtype=bool)
        self.locks: Ints = np.array(nodes.locks, dtype=np.int64)
        self.last_used: Ints = np.array(nodes.last_used, dtype=np.int64)
        self.full = RunColumns(nodes.full_at, nodes.full_num, state.runs.flat)
        self.swa = RunColumns(nodes.swa_at, nodes.swa_num, state.runs.flat)
        self.first_token: Ints = _first_tokens(state, self.start)

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def living(self) -> Ints:
        """Ids of living nodes without the root, ascending."""
        living: Ints = np.flatnonzero(self.alive)[1:]
        return living

    @cached_property
    def subtree(self) -> tuple[Ints, Ints]:
        """Nodes and tokens in and below each living node; of the root, all of them."""
        nodes, tokens = self.alive.astype(np.int64), np.where(self.alive, self.stop - self.start, 0)
        nodes[0] = 0
        depths = self.depths(0)[self.living]
        deepest_first = self.living[np.argsort(-depths, kind="stable")]
        ends = np.cumsum(np.bincount(depths)[::-1])[:-1]
        if len(ends) > MAX_LEVELS:
            return _sums_along(self.parent, deepest_first, nodes, tokens)
        for level in np.split(deepest_first, ends[:-1]):
            np.add.at(nodes, self.parent[level], nodes[level])
            np.add.at(tokens, self.parent[level], tokens[level])
        return nodes, tokens

    def depths(self, root: int) -> Ints:
        """Edges between `root` and each living node; -1 outside its subtree."""
        hop = self.parent.copy()
        hop[root] = root
        depths: Ints = (hop != np.arange(len(self))).astype(np.int64)
        # Every round doubles the length of the hops, until all have come to the root of the picture or of the tree.
        while not np.array_equal(further := hop[hop], hop):
            depths += depths[hop]
            hop = further
        depths[(hop != root) | ~self.alive] = -1
        return depths

    @cached_property
    def has_children(self) -> Mask:
        """Whether each node has living children."""
        mask = np.zeros(len(self), dtype=bool)
        mask[self.parent[self.living]] = True
        return mask

    @cached_property
    def _by_parent(self) -> tuple[Ints, Ints]:
        """Living nodes ordered by parent, and where the children of each node begin among them."""
        parents = self.parent[self.living]
        order = np.argsort(parents, kind="stable")
        return self.living[order], np.searchsorted(parents[order], np.arange(len(self) + 1))

    def children(self, node: int) -> Ints:
        """Living children."""
        ordered, begins = self._by_parent
        return ordered[begins[node] : begins[node + 1]]

    def children_of(self, nodes: Ints) -> Ints:
        """Living children of all of `nodes`."""
        ordered, begins = self._by_parent
        return ordered[ranges(begins[nodes], begins[nodes + 1])]

    def path(self, node: int) -> list[int]:
        """`node` and its ancestors from the top down, the root left out."""
        path = []
        while node:
            path.append(node)
            node = int(self.parent[node])
        return path[::-1]


def _sums_along(parent: Ints, deepest_first: Ints, nodes: Ints, tokens: Ints) -> tuple[Ints, Ints]:
    """Sums of subtrees, a node at a time."""
    parents, num_nodes, num_tokens = parent.tolist(), nodes.tolist(), tokens.tolist()
    for node in deepest_first.tolist():
        num_nodes[parents[node]] += num_nodes[node]
        num_tokens[parents[node]] += num_tokens[node]
    return np.array(num_nodes, dtype=np.int64), np.array(num_tokens, dtype=np.int64)


class RunColumns:
    """Runs of every node in one pool."""

    def __init__(self, at: object, num: object, flat: object) -> None:
        self._at: Ints = np.array(at, dtype=np.int64)
        self.num: Ints = np.array(num, dtype=np.int64)
        self._flat: NDArray[np.int32] = np.array(flat, dtype=np.int32)

    def of(self, nodes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Owner (its place in `nodes`), start, stop and slot of every run of `nodes`, in their order."""
        at, num = self._at[nodes], self.num[nodes]
        owner = np.repeat(np.arange(len(nodes)), num)
        places = ranges(np.zeros_like(num), num)
        first = np.repeat(at, num) + 3 * places
        flat = self._flat
        return owner, flat[first].astype(np.int64), flat[first + 1].astype(np.int64), flat[first + 2].astype(np.int64)


def ranges(begins: Ints, ends: Ints) -> Ints:
    """All of `range(begin, end)`, one after another."""
    sizes = ends - begins
    total = int(sizes.sum())
    if not total:
        return np.empty(0, dtype=np.int64)
    before = np.cumsum(sizes) - sizes
    every: Ints = np.arange(total) + np.repeat(begins - before, sizes)
    return every


def _first_tokens(state: Replayer, start: Ints) -> Ints:
    """First token id of every span; 0 for the root."""
    if not len(state.tokens):
        return np.zeros(len(start), dtype=np.int64)
    at = np.array(state.nodes.tokens_at, dtype=np.int64) + start
    at[0] = 0
    # The view must not outlive this call: an array that is looked at cannot grow.
    first: Ints = np.asarray(state.tokens)[at].astype(np.int64)
    return first
