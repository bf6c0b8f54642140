"""Columns of events applied to a state: its tree, tokens and slots are right when `settle` was called."""

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from shadowviz.replay.bulk import rows
from shadowviz.replay.bulk.columns import INSERTED, OTHER, POOLS, SPLIT, Columns, Ints, ends_of, other_events
from shadowviz.replay.bulk.places import link, top_nodes
from shadowviz.replay.bulk.slots import SlotSums
from shadowviz.replay.bulk.state import TreeState
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core import log_lean as lean
from shadowviz_engine.core import replay_tree as tree
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.log_lean import RequestFinished
from shadowviz_engine.core.replay_checks import check_living, check_runs
from shadowviz_engine.core.replay_requests import finish


class BulkReplay:
    """Applies events, many at once, to the state of a tree.

    Of what is applied at once, requests come first, then leaves, then what happens to nodes in its order. What is
    checked is what a picture would show wrongly: nodes have their places, and slots come out even.
    """

    def __init__(self) -> None:
        self.state = TreeState()
        self._stems = array("i", (0,))
        """By node, the leaf that it is, or that it was the first tokens of when it was split off."""
        self._named: dict[int, int] = {}
        """Row of the namespace of leaves that came with its name."""
        self._locks: dict[int, int] = {}
        """By node, locks on its path that the columns do not have yet."""
        self._used: Ints = np.full(1024, -1, dtype=np.int64)
        """By node, seq of the last lookup that ended there; -1 = none."""
        self._slots = SlotSums(), SlotSums()
        self._is_settled = False
        self._meanings: dict[type, Callable[[Any], object]] = {
            LogOpened: self._open,
            lean.PathLocked: self._lock,
            lean.PathUnlocked: self._unlock,
            lean.PathEnded: lambda event: tree.end_path(self.state, event),
            lean.SwaFreed: lambda event: tree.free_swa(self.state, event),
            lean.SwaPublished: self._publish,
            lean.SpanEvicted: self._evict,
        }

    def apply(self, events: Columns) -> None:
        """Apply the next events.

        Raises:
            Unsound: they do not fit together.
            LogError: one contradicts the state.
        """
        self._is_settled = False
        if events.requests:
            rows.submit(self.state, events)
        for request, tokens in events.outputs:
            finish(self.state, RequestFinished(events.first, request, tokens))  # type: ignore[arg-type]
        if events.order:
            self._change_nodes(events)
        if events.lookups:
            self._use(*rows.ints(events.lookups).reshape(2, -1))
        for sums, ends in zip(self._slots, events.slots, strict=True):
            sums.add(rows.ints(ends))
        self.state.seq = events.end - 1

    def settle(self) -> None:
        """Count what was left: tree, tokens and slots are those after the events so far.

        Raises:
            Unsound: slots do not come out even, or a node has a place or a lookup that it cannot have.
        """
        if self._is_settled:
            return
        self._is_settled = True
        self._count_locks()
        link(self.state.nodes, self._stems)
        self._name()
        self._count_lookups()
        self.state.slots = {pool: sums.held() for pool, sums in zip(POOLS, self._slots, strict=True)}

    def _change_nodes(self, events: Columns) -> None:
        nodes, first = self.state.nodes, len(self.state.nodes)
        order = np.frombuffer(events.order, np.uint8)
        made = order[order != OTHER]
        rows.add_nodes(nodes, len(made))
        self._stems.frombytes(np.arange(first, len(nodes), dtype=np.int32).tobytes())
        splits = rows.ints(events.splits).reshape(4, -1)
        if (splits[2] != first + np.flatnonzero(made == SPLIT)).any():
            raise Unsound("a node is not the next one")
        if events.leaves:
            rows.fill(self.state, events.leaves, first + np.flatnonzero(made == INSERTED), self._slots)
            for node, name in events.leaves.namespaces.items():
                self._named[node] = self.state.namespaces.intern(name)
        if events.others:
            self._change_in_order(events, first)
        else:
            for split in splits.T.tolist():
                self._split(*split)
        rows.check_starts(nodes, first)

    def _change_in_order(self, events: Columns, node: int) -> None:
        """Splits and the events beside them, of which none may be of `node` or a later one before that was made."""
        splits = iter(rows.ints(events.splits).reshape(4, -1).T.tolist())
        others = iter(other_events(events.others))
        for kind in events.order:
            if kind != OTHER:
                node += 1
            if kind == SPLIT:
                self._split(*next(splits))
            elif kind == OTHER:
                other = next(others)
                if getattr(other, "node", 0) >= node:
                    raise Unsound("a node that is not there yet")
                self._meanings[type(other)](other)

    def _split(self, node: int, at: int, upper: int, seq: int) -> None:
        """A new node, whose row is empty, takes the place and the first tokens of another."""
        nodes, runs = self.state.nodes, self.state.runs
        if not 0 < node < upper or not nodes.alive[node]:
            raise Unsound("the node to split is not there")
        start, stop = nodes.start[node], nodes.stop[node]
        middle = start + at
        if not start < middle < stop:
            raise Unsound("a node is cut outside of its tokens")
        full_at, full_num = nodes.full_at[node], nodes.full_num[node]
        swa_at, swa_num = nodes.swa_at[node], nodes.swa_num[node]
        full = swa = runs.cut(full_at, full_num, middle)
        if swa_at != full_at or swa_num != full_num:
            swa = runs.cut(swa_at, swa_num, middle)
        nodes.parent[upper], nodes.parent[node] = nodes.parent[node], upper
        nodes.start[upper], nodes.stop[upper], nodes.start[node] = start, middle, middle
        nodes.tokens_at[upper] = nodes.tokens_at[node]
        nodes.locks[upper], nodes.last_used[upper] = nodes.locks[node], nodes.last_used[node]
        nodes.created[upper] = seq
        nodes.full_at[upper], nodes.full_num[upper], nodes.full_at[node], nodes.full_num[node] = full
        nodes.swa_at[upper], nodes.swa_num[upper], nodes.swa_at[node], nodes.swa_num[node] = swa
        self._stems[upper] = self._stems[node]

    def _open(self, event: LogOpened) -> None:
        if self.state.opened is not None:
            raise Unsound("a log was opened twice")
        self.state.opened = event

    def _lock(self, event: lean.PathLocked) -> None:
        node = event.node
        if node and not (node > 0 and self.state.nodes.alive[node]):
            raise Unsound("a node is locked that is gone")
        self._locks[node] = self._locks.get(node, 0) + 1

    def _unlock(self, event: lean.PathUnlocked) -> None:
        locks, node = self._locks, event.node
        num = locks.get(node, 0)
        if num > 1:
            locks[node] = num - 1
        elif num == 1:
            del locks[node]
        elif node:
            # The lock is counted already, or on a node below; or there is none.
            self._count_locks()
            tree.unlock(self.state, event)  # type: ignore[arg-type]

    def _count_locks(self) -> None:
        for node, num in self._locks.items():
            tree.count_locks(self.state, node, num)
        self._locks.clear()

    def _publish(self, event: lean.SwaPublished) -> None:
        check_living(self.state, event, event.node)  # type: ignore[arg-type]
        check_runs(event, event.runs)  # type: ignore[arg-type]
        tree.heal(self.state, event)  # type: ignore[arg-type]
        self._slots[1].add(ends_of(np.array(event.runs, dtype=np.int64).reshape(-1, 3), -1))

    def _evict(self, event: lean.SpanEvicted) -> None:
        nodes, node = self.state.nodes, event.node
        if node in self._locks:
            self._count_locks()
        if node <= 0 or not nodes.alive[node] or nodes.locks[node]:
            raise Unsound("a node is evicted that is locked or gone")
        nodes.alive[node], nodes.evicted[node] = 0, event.seq

    def _use(self, nodes: Ints, seqs: Ints) -> None:
        # An event makes one node at most, so a node is as large as a seq at most.
        if nodes.min() < 0 or (nodes > seqs).any():
            raise Unsound("a path was looked up that was not there")
        room = int(nodes.max()) + 1 - len(self._used)
        if room > 0:
            self._used = np.concatenate((self._used, np.full(max(room, len(self._used) // 2), -1)))
        # Of several lookups of a node the last one stays.
        self._used[nodes] = seqs

    def _name(self) -> None:
        """Every node is in the namespace that the leaf at the top of its path came with."""
        nodes, named = self.state.nodes, self._named
        if not named:
            return
        own = np.zeros(len(nodes), dtype=np.int32)
        own[list(named)] = list(named.values())
        names = own[np.frombuffer(self._stems, np.int32)[top_nodes(nodes)]]
        if (own != names)[own > 0].any():
            raise Unsound("a node is in another namespace than its parent")
        np.frombuffer(nodes.namespace, np.int32)[:] = names

    def _count_lookups(self) -> None:
        """Every node was used last when a path through it was looked up last, or when it was made."""
        nodes, used = self.state.nodes, self._used
        ends = np.flatnonzero(used[1:] >= 0) + 1
        seqs = used[ends]
        if len(ends):
            if ends[-1] >= len(nodes):
                raise Unsound("a path was looked up that was not there")
            created, evicted = np.array(nodes.created)[ends], np.array(nodes.evicted)[ends]
            if (created > seqs).any() or ((evicted >= 0) & (evicted < seqs)).any():
                raise Unsound("a path was looked up that was not there")
        parent, last_used, seen = nodes.parent, nodes.last_used, bytearray(len(nodes))
        seen[0] = 1
        # From the latest on, so that what is above a node that was seen is as recent already.
        order = np.argsort(-seqs)
        for node, seq in zip(ends[order].tolist(), seqs[order].tolist(), strict=True):
            above = node
            while not seen[above]:
                seen[above] = 1
                last_used[above] = max(last_used[above], seq)
                above = parent[above]
