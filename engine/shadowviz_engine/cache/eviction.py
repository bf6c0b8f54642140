"""Eviction: leaves that leave under pressure, by idleness or by a flush, and window rows that are freed."""

from heapq import heappop, heappush

from shadowviz_engine.cache.ghost import Departure
from shadowviz_engine.cache.policies import Priority
from shadowviz_engine.cache.pools import keep_runs
from shadowviz_engine.cache.radix import Node, ancestors
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.events import GhostOverflowed, SpanEvicted, SwaFreed
from shadowviz_engine.core.spans import Extent


class Evictor:
    """Two queues of candidates, checked again when they come up: leaves, and nodes with window rows."""

    def __init__(self, state: CacheState) -> None:
        self.state = state
        self._leaves: list[tuple[Priority, int]] = []
        self._windows: list[tuple[Priority, int]] = []
        self._ttl_ns = round(state.options.idle_ttl_s * 1e9)
        self._next_expiry_ns = 0
        self._overflow_told = False

    def note(self, node: Node) -> None:
        """Consider `node` from now on; called whenever it may have become a candidate."""
        if node.parent is None:
            return
        if not node.queued and not node.children and not node.locks:
            node.queued = True
            heappush(self._leaves, (self.state.priority(node), node.id))
        if not node.swa_queued and node.swa:
            node.swa_queued = True
            heappush(self._windows, (self.state.priority(node), node.id))

    def free_full_pages(self, num_pages: int, by: str) -> bool:
        """Evict leaves until `num_pages` of the full pool are free; False when nothing more can leave."""
        pool = self.state.full
        while len(pool.free) < num_pages:
            node = self._next_leaf()
            if node is None:
                return False
            self.evict(node, self.state.options.policy, by)
        return True

    def evict_tokens(self, tokens: int, by: str = "") -> int:
        """Evict leaves until `tokens` have left; returns how many did."""
        gone = 0
        while gone < tokens:
            node = self._next_leaf()
            if node is None:
                return gone
            gone += node.stop - node.start
            self.evict(node, self.state.options.policy, by)
        return gone

    def free_swa_pages(self, num_pages: int, by: str) -> bool:
        """Free window rows that no running request reads until `num_pages` are free; False when none are left."""
        state = self.state
        if len(state.swa.free) >= num_pages:
            return True
        protected = self._protected()
        spared: list[Node] = []
        while len(state.swa.free) < num_pages:
            node = self._next_window()
            if node is None:
                break
            start = protected.get(node.id, node.stop)
            if node.swa[0].start >= start:
                spared.append(node)
                continue
            self.free_window(node, Extent(node.start, start), "pressure", by)
            if node.swa:
                spared.append(node)
        for node in spared:
            self.note(node)
        return len(state.swa.free) >= num_pages

    def evict(self, node: Node, reason: str, by: str) -> None:
        """Take a leaf out with all its kinds, and remember it."""
        state = self.state
        seq, t_ns = state.emitter.next()
        state.ghost.remember_node(node, Departure(seq, reason, by))
        if "tombstone_mapped" not in state.faults:
            state.table.unmap(node.full, node.swa)
        state.full.release(node.full)
        state.swa.release(node.swa)
        parent = node.parent
        state.tree.remove_leaf(node)
        state.num_tree_tokens -= node.stop - node.start
        state.emitter.emit(
            SpanEvicted(seq=seq, t_ns=t_ns, node=node.id, reason=reason, by=by, length=node.stop - node.start)
        )
        if parent is not None:
            self.note(parent)
            # Its last lookup may be older than that of every leaf there was.
            self._next_expiry_ns = min(self._next_expiry_ns, parent.used_ns + self._ttl_ns)
        if state.ghost.forgotten and not self._overflow_told:
            self._overflow_told = True
            seq, t_ns = state.emitter.next()
            state.emitter.emit(GhostOverflowed(seq=seq, t_ns=t_ns, forgotten=state.ghost.forgotten))

    def free_window(self, node: Node, extent: Extent, reason: str, by: str) -> None:
        """Free the window-table rows of `node` in `extent`: what stays is a tombstone there."""
        state = self.state
        gone, kept = keep_runs(node.swa, [extent])
        if not gone:
            return
        if "tombstone_mapped" not in state.faults:
            state.table.unmap(node.full, gone)
        state.swa.release(gone)
        node.swa = kept
        node.swa_live = False
        seq, t_ns = state.emitter.next()
        node.swa_event = seq
        start, stop = gone[0].start, gone[-1].stop
        state.emitter.emit(SwaFreed(seq=seq, t_ns=t_ns, node=node.id, start=start, stop=stop, reason=reason, by=by))

    def expire(self, now_ns: int) -> int:
        """Evict leaves that have been idle for the time to live; returns how many nodes left."""
        ttl_ns = self._ttl_ns
        if not ttl_ns or now_ns < self._next_expiry_ns:
            return 0
        idle = [node for node in self.state.tree.nodes.values() if not node.children]
        self._next_expiry_ns = min((node.used_ns for node in idle), default=now_ns) + ttl_ns
        count = 0
        while idle:
            node = idle.pop()
            if node.locks or node.children or now_ns - node.used_ns < ttl_ns:
                continue
            parent = node.parent
            self.evict(node, "ttl", "")
            count += 1
            if parent is not None and parent.parent is not None:
                idle.append(parent)
        if count:
            self._next_expiry_ns = 0
        return count

    def flush(self) -> tuple[int, int]:
        """Evict everything that is not locked; returns nodes and tokens."""
        nodes, tokens = 0, 0
        while (node := self._next_leaf()) is not None:
            nodes, tokens = nodes + 1, tokens + node.stop - node.start
            self.evict(node, "flush", "")
        return nodes, tokens

    def _next_leaf(self) -> Node | None:
        nodes, priority = self.state.tree.nodes, self.state.priority
        while self._leaves:
            queued_at, node_id = heappop(self._leaves)
            node = nodes.get(node_id)
            if node is None:
                continue
            node.queued = False
            if node.children or node.locks:
                continue
            if priority(node) != queued_at:
                self.note(node)
                continue
            return node
        return None

    def _next_window(self) -> Node | None:
        nodes, priority = self.state.tree.nodes, self.state.priority
        while self._windows:
            queued_at, node_id = heappop(self._windows)
            node = nodes.get(node_id)
            if node is None:
                continue
            node.swa_queued = False
            if not node.swa:
                continue
            if priority(node) != queued_at:
                self.note(node)
                continue
            return node
        return None

    def _protected(self) -> dict[int, int]:
        """First token by node id that a running request still reads through the window's table."""
        protected: dict[int, int] = {}
        for sequence in self.state.sequences.values():
            if sequence.lock_node is None:
                continue
            first = self.state.first_read(sequence.computed)
            for node in ancestors(sequence.lock_node):
                if node.stop <= first:
                    break
                protected[node.id] = min(protected.get(node.id, node.stop), max(first, node.start))
        return protected
