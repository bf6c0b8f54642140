"""The order in which the cache would evict: leaves for want of full pages, window rows for want of window pages."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz.diagrams.columns import Ints
from shadowviz_engine.core.columns import DONE
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.replayer import Replayer

POLICIES = ("lru", "fifo")
"""Those whose order follows from what a log records; of lfu no state keeps the number of lookups."""
MAX_STEPS = 1024
"""Evictions that are foretold one by one to find the place of a node."""


class Place(msgspec.Struct, frozen=True):
    """Where a leaf stands in the order."""

    before: int
    """Nodes that leave before it."""
    exact: bool
    """False = that many at least: what becomes a leaf on the way was not followed to the end."""


class FreedRows(msgspec.Struct, frozen=True):
    """Window rows of a node that are freed together."""

    node: int
    num_tokens: int


class EvictionOrder:
    """What would leave first at one moment, if room were needed and nothing else happened meanwhile.

    A node is evicted as a leaf only: when its last child leaves it becomes one, with a priority of its own, which may
    be older than that of every other leaf.
    """

    def __init__(self, state: Replayer, opened: LogOpened) -> None:
        self._state, self._opened = state, opened

    @property
    def is_known(self) -> bool:
        """Whether what is on record decides the order."""
        return self._opened.policy in POLICIES

    @cached_property
    def _births(self) -> Ints:
        return births(self._state)

    def _priorities(self) -> Ints:
        # A view of a column must not outlive the call that made it: a column that is looked at cannot grow.
        if self._opened.policy == "fifo":
            return self._births
        return np.frombuffer(self._state.nodes.last_used, np.int64)

    def since(self, node: int) -> int:
        """Event that gives a node its place: of its last use, or with fifo the one that stored it."""
        if self._opened.policy == "fifo":
            return int(self._births[node])
        return self._state.nodes.last_used[node]

    @cached_property
    def _leaves(self) -> tuple[Ints, Ints]:
        """Leaves that may leave at once, ascending, and their priorities."""
        nodes = self._state.nodes
        free: NDArray[np.bool_] = np.array(nodes.alive, dtype=bool)
        free &= np.frombuffer(nodes.first_child, np.int32) == 0
        free &= np.frombuffer(nodes.locks, np.int32) == 0
        free[0] = False
        leaves: Ints = np.flatnonzero(free)
        return leaves, self._priorities()[leaves]

    @cached_property
    def first(self) -> int:
        """The node that leaves first; 0 where none can, or the order is not known."""
        if not self.is_known:
            return 0
        leaves, priorities = self._leaves
        return int(leaves[priorities == priorities.min()].min()) if len(leaves) else 0

    def leaving(self, most: int) -> list[int]:
        """The first nodes that leave, in order; none where the order is not known."""
        return list(islice(self._evicted(*_smallest(*self._leaves, most)), most)) if self.is_known else []

    def place(self, node: int) -> Place | None:
        """Where a leaf stands; None = it is none that may leave, or the order is not known."""
        leaves, priorities = self._leaves
        at = int(np.searchsorted(leaves, node))
        if not self.is_known or at >= len(leaves) or leaves[at] != node:
            return None
        mine = priorities[at]
        earlier = priorities < mine
        earlier[:at] |= priorities[:at] == mine
        num_earlier = int(np.count_nonzero(earlier))
        if num_earlier >= MAX_STEPS:
            return Place(num_earlier, False)
        earlier[at] = True
        order = enumerate(islice(self._evicted(leaves[earlier], priorities[earlier]), MAX_STEPS))
        before = next((num for num, left in order if left == node), None)
        return Place(max(num_earlier, MAX_STEPS), False) if before is None else Place(before, True)

    def _evicted(self, leaves: Ints, priorities: Ints) -> Iterator[int]:
        """Nodes one by one as they leave, if these leaves are the first."""
        nodes = self._state.nodes
        heap = list(zip(priorities.tolist(), leaves.tolist(), strict=True))
        heapify(heap)
        gone, staying = set[int](), dict[int, int]()
        while heap:
            node = heappop(heap)[1]
            yield node
            gone.add(node)
            parent = nodes.parent[node]
            if not parent or nodes.locks[parent]:
                continue
            child = staying.get(parent, nodes.first_child[parent])
            while child in gone:
                child = nodes.next_sibling[child]
            # Children before this one have left already.
            staying[parent] = child
            if not child:
                heappush(heap, (self.since(parent), parent))

    def freed(self, most: int) -> list[FreedRows]:
        """Nodes whose window rows are freed first, in order; what a running request still reads stays."""
        if not self.is_known:
            return []
        state, nodes = self._state, self._state.nodes
        holding: NDArray[np.bool_] = np.array(nodes.alive, dtype=bool)
        holding &= np.frombuffer(nodes.swa_num, np.int32) > 0
        owners: Ints = np.flatnonzero(holding)
        kept = protected(state, self._opened.geometry)
        owners, priorities = _smallest(owners, self._priorities()[owners], most + len(kept))
        in_order = (self._freed(node, kept) for node in owners[np.lexsort((owners, priorities))].tolist())
        return list(islice((rows for rows in in_order if rows.num_tokens), most))

    def _freed(self, node: int, kept: Mapping[int, int]) -> FreedRows:
        stop = kept.get(node, self._state.nodes.stop[node])
        runs = self._state.swa_runs(node)
        return FreedRows(node, sum(min(last, stop) - first for first, last, _ in runs if first < stop))


def _smallest(nodes: Ints, priorities: Ints, most: int) -> tuple[Ints, Ints]:
    """Nodes of which the first `most` in order are among them, and their priorities."""
    if len(nodes) <= 4 * most:
        return nodes, priorities
    # Of equals the one with the smaller id leaves first, so none of them may be missing here.
    keep = priorities <= np.partition(priorities, most)[most]
    return nodes[keep], priorities[keep]


def births(state: Replayer) -> Ints:
    """Event in which each node was stored, by id: the upper part of a node that was split is as old as the node.

    A node is stored below older ones. So whatever lies above it with a higher id was put there by a split of it, or of
    such an upper part.
    """
    nodes = state.nodes
    parent = np.array(nodes.parent, dtype=np.int64)
    born: Ints = np.array(nodes.created, dtype=np.int64)
    below: Ints = np.flatnonzero(parent > np.arange(len(parent)))
    created, above = born[below], parent[below]
    while len(below):
        np.minimum.at(born, above, created)
        above = parent[above]
        higher = above > below
        below, created, above = below[higher], created[higher], above[higher]
    return born


def protected(state: Replayer, geometry: Geometry) -> Mapping[int, int]:
    """First token by node that a running request still reads through its window."""
    requests, nodes = state.requests, state.nodes
    running = np.frombuffer(requests.state, np.uint8) < DONE
    rows = np.flatnonzero(running & (np.frombuffer(requests.lock_node, np.int32) > 0)).tolist()
    first_read = dict[int, int]()
    for row in rows:
        computed = requests.computed[row]
        needed = retained_tokens(geometry, computed, page_rule=False)
        first = needed.start if needed else computed
        for node in nodes.path(requests.lock_node[row]):
            if nodes.stop[node] <= first:
                break
            first_read[node] = min(first_read.get(node, nodes.stop[node]), max(first, nodes.start[node]))
    return first_read
