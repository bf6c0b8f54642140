"""The cache's whole state: tree, pools, table, running requests and ghost index, and how events leave it."""

from collections.abc import Callable

from shadowviz_engine.cache.ghost import GhostIndex
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.cache.policies import policy_named
from shadowviz_engine.cache.pools import PagePool, WindowTable
from shadowviz_engine.cache.radix import ROOT, Node, RadixTree, Walk
from shadowviz_engine.cache.retention import parse_retention
from shadowviz_engine.cache.sequence import Sequence
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.events import PathLocked, PathUnlocked, SlotRun, SlotsFreed, SpanSplit
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.reuse import ResumeRule, reuse_rules
from shadowviz_engine.core.sinks import Emitter


def _walk_off(namespace: str, key: bytes) -> Walk:  # noqa: ARG001
    return Walk(Node(ROOT, None, b"", 0, namespace), 0, True, True)


class CacheState:
    """What the parts of the cache share; they act on it, `manager` decides which one when."""

    def __init__(self, geometry: Geometry, options: CacheOptions, emitter: Emitter, faults: frozenset[str]) -> None:
        self.geometry = geometry
        self.options = options
        self.emitter = emitter
        self.faults = faults
        self.rules = reuse_rules(geometry, options.resume, options.unit)
        self.page_rule = options.resume is ResumeRule.PAGE
        self.retention = parse_retention(options.retention)
        self.priority = policy_named(options.policy)
        self.tree = RadixTree()
        self.walk: Callable[[str, bytes], Walk] = _walk_off
        """Follows a prompt in the match mode of the cache; changes nothing."""
        if options.cache_on:
            self.walk = self.tree.walk_classic if options.match_mode == "classic" else self.tree.walk
        self.full = PagePool("full", options.num_full_pages, geometry.page_size)
        self.swa = PagePool("swa", options.num_swa_pages, geometry.page_size)
        self.table = WindowTable(self.full.num_slots)
        self.ghost = GhostIndex(options.ghost_entries, geometry.page_size)
        self.sequences: dict[str, Sequence] = {}
        self.num_tree_tokens = 0
        self.window_label = next((kind.label for kind in geometry.kinds if kind.shape is Shape.WINDOW), "")

    def first_read(self, length: int) -> int:
        """First token whose window-table row a run going on at `length` reads; `length` where it reads none."""
        needed = retained_tokens(self.geometry, length, page_rule=False)
        return needed.start if needed else length

    def split(self, node: Node, at: int) -> Node:
        """Cut `node` after its first `at` tokens; returns the upper part."""
        upper = self.tree.split(node, at)
        seq, t_ns = self.emitter.next()
        self.emitter.emit(SpanSplit(seq=seq, t_ns=t_ns, node=node.id, at=at, upper=upper.id))
        return upper

    def lock(self, request: str, node: Node) -> None:
        """Count `request` as a user of every node from `node` to the root."""
        current: Node | None = node
        while current is not None and current.parent is not None:
            current.locks += 1
            current = current.parent
        seq, t_ns = self.emitter.next()
        self.emitter.emit(PathLocked(seq=seq, t_ns=t_ns, request=request, node=node.id))

    def unlock(self, request: str, node: Node) -> None:
        """Take back one `lock` of `request`."""
        current: Node | None = node
        while current is not None and current.parent is not None:
            current.locks -= 1
            current = current.parent
        seq, t_ns = self.emitter.next()
        self.emitter.emit(PathUnlocked(seq=seq, t_ns=t_ns, request=request, node=node.id))

    def release(self, sequence: Sequence, pool: PagePool, runs: list[SlotRun]) -> None:
        """Give slots of a request back; those of the window's pool must be out of the table already."""
        if not runs:
            return
        pool.release(runs)
        seq, t_ns = self.emitter.next()
        self.emitter.emit(SlotsFreed(seq=seq, t_ns=t_ns, request=sequence.request, pool=pool.name, runs=tuple(runs)))
