"""The prefix cache as the runtime sees it; it decides the order of things, the other modules do them."""

from array import array
from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from shadowviz_engine.cache import growth, lookup, publish
from shadowviz_engine.cache.eviction import Evictor
from shadowviz_engine.cache.faults import check_faults
from shadowviz_engine.cache.invariants import check_invariants
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, Walk, pack_key, path_of, unpack_key
from shadowviz_engine.cache.sequence import Sequence, Shortage
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import CacheFlushed, FaultInjected, LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.sinks import Emitter
from shadowviz_engine.core.snapshot import HolderState, NodeState, pack_ids


class Admission(msgspec.Struct, frozen=True):
    """A request that may run."""

    reused: int
    lookup: LookupDone


class PoolFill(msgspec.Struct, frozen=True):
    """Pages of a pool."""

    pool: str
    num_pages: int
    free_pages: int


class CacheManager:
    """Tree, pools and requests of one cache.

    Raises:
        InputError: an unknown retention, policy or fault.
    """

    def __init__(
        self, geometry: Geometry, options: CacheOptions, emitter: Emitter, faults: frozenset[str] = frozenset()
    ) -> None:
        self.state = CacheState(geometry, options, emitter, check_faults(faults))
        self._evictor = Evictor(self.state)
        for fault in sorted(faults):
            seq, t_ns = emitter.next()
            emitter.emit(FaultInjected(seq=seq, t_ns=t_ns, fault=fault))

    def lookup(self, request: str, ids: Iterable[int], namespace: str = "", cap: int | None = None) -> LookupDone:
        """Match a prompt and record it; touches recency, locks and splits nothing.

        Args:
            cap: most tokens that may be reused where that is less than the prompt but for its last token.
        """
        state = self.state
        key = pack_key(ids)
        found = state.walk(namespace, key)
        stamp = state.emitter.next()
        event = lookup.lookup_done(state, found, request, namespace, key, self._cap(key, cap), stamp)
        lookup.touch(found, *stamp)
        state.emitter.emit(event)
        return event

    def probe(self, ids: Iterable[int], namespace: str = "", cap: int | None = None) -> LookupDone:
        """What a prompt would reuse now; changes and records nothing. Its seq is that of the last event."""
        key = pack_key(ids)
        found = self.state.walk(namespace, key)
        stamp = (self.state.emitter.last_seq, 0)
        return lookup.lookup_done(self.state, found, "", namespace, key, self._cap(key, cap), stamp)

    def admit(
        self, request: str, ids: Iterable[int], namespace: str = "", chunk: int = 0, cap: int | None = None
    ) -> Admission | Shortage:
        """Look a prompt up, lock what is reused and take slots for its first `chunk` computed tokens (0 = all).

        On a shortage nothing is held.

        Raises:
            InputError: an empty prompt, or a request id that runs already.
        """
        state = self.state
        ids = ids if isinstance(ids, array) and ids.typecode == "q" else array("q", ids)
        if not ids:
            raise InputError(f"the prompt of request {request!r} is empty: expected at least one token")
        if request in state.sequences:
            raise InputError(f"request {request!r} runs already: expected an id of its own")
        key = ids.tobytes()
        limit = self._cap(key, cap)
        found = state.walk(namespace, key)
        pages = len(ids) // state.geometry.page_size + 2
        if min(len(state.full.free), len(state.swa.free)) < pages:
            preview = lookup.lookup_done(state, found, request, namespace, key, limit, (state.emitter.last_seq, 0))
            stop = len(ids) if not chunk else min(len(ids), preview.reused + chunk)
            reused_path = [node for node in path_of(found.node) if node.start < preview.reused]
            shortage = growth.room(state, preview.reused, stop, reused_path)
            if shortage is not None:
                return shortage
        stamp = state.emitter.next()
        event = lookup.lookup_done(state, found, request, namespace, key, limit, stamp)
        lookup.touch(found, *stamp)
        state.emitter.emit(event)
        sequence = Sequence(request, namespace, ids)
        sequence.forks = growth.forks_ahead(state, namespace, key)
        self._reuse(sequence, found, event.reused)
        state.sequences[request] = sequence
        stop = len(ids) if not chunk else min(len(ids), event.reused + chunk)
        shortage = growth.extend(state, self._evictor, sequence, stop)
        if shortage is not None:
            del state.sequences[request]
            publish.give_back(state, self._evictor, sequence)
            return shortage
        return Admission(event.reused, event)

    def register(self, request: str, ids: "array[int]", namespace: str = "") -> LookupDone | Shortage:
        """Look a prompt up and store it whole, as if it had been computed at once; nothing runs afterwards.

        For those who replay prompts without a model.

        Raises:
            InputError: an empty prompt.
        """
        state = self.state
        key = ids.tobytes()
        state.tree.root(namespace)
        found = state.walk(namespace, key)
        pages = len(ids) // state.geometry.page_size + 2
        roomy = min(len(state.full.free), len(state.swa.free)) >= pages
        plain = state.options.cache_on and state.options.match_mode == "partial"
        if not (plain and roomy and found.swa_live and key):
            return self._register_slowly(request, ids, namespace)
        stamp = state.emitter.next()
        event = lookup.lookup_done(state, found, request, namespace, key, len(ids) - 1, stamp)
        lookup.touch(found, *stamp)
        state.emitter.emit(event)
        sequence = Sequence(request, namespace, ids)
        return publish.register(state, self._evictor, sequence, found, key) or event

    def _register_slowly(self, request: str, ids: "array[int]", namespace: str) -> LookupDone | Shortage:
        admission = self.admit(request, ids, namespace)
        if isinstance(admission, Shortage):
            return admission
        self.computed(request, len(ids))
        self.finish(request)
        return admission.lookup

    def extend(self, request: str, stop: int) -> Shortage | None:
        """Give the request slots for its tokens up to `stop`, evicting where needed; on a shortage it gets none."""
        return growth.extend(self.state, self._evictor, self._sequence(request), stop)

    def slots(self, request: str) -> npt.NDArray[np.int64]:
        """Full slot of every token of the request that has one; a view that the next call may change."""
        return self._sequence(request).slots

    @property
    def full_to_swa(self) -> npt.NDArray[np.int64]:
        """Window slot of every full slot, 0 where none is mapped."""
        return self.state.table.slots

    @property
    def num_full_slots(self) -> int:
        """Slots of the full pool, the dummy page included."""
        return self.state.full.num_slots

    @property
    def num_swa_slots(self) -> int:
        """Slots of the window's pool, the dummy page included."""
        return self.state.swa.num_slots

    def append(self, request: str, token: int) -> None:
        """A generated token joins the request."""
        self._sequence(request).append(token)

    def computed(self, request: str, stop: int) -> None:
        """The state of tokens before `stop` is written; window rows behind it may be freed."""
        sequence = self._sequence(request)
        behind = sequence.computed // self.state.geometry.page_size
        sequence.computed = stop
        if stop < sequence.num_prompt or stop // self.state.geometry.page_size > behind:
            growth.trim_behind(self.state, sequence)

    def publish(self, request: str) -> None:
        """The prompt is computed: other requests may reuse it."""
        sequence = self._sequence(request)
        if self.state.options.cache_on:
            publish.store(self.state, self._evictor, sequence, sequence.num_prompt, running=True)

    def finish(self, request: str) -> None:
        """Store all that was computed, and let the request go."""
        sequence = self._sequence(request)
        del self.state.sequences[request]
        if self.state.options.cache_on:
            publish.store(
                self.state, self._evictor, sequence, publish.num_finished(self.state, sequence), running=False
            )
        else:
            publish.leave_unstored(self.state, sequence, sequence.computed, "off")
        self._release(sequence)

    def abort(self, request: str) -> None:
        """Let the request go without storing what is not stored yet."""
        if "abort_published" in self.state.faults and self.state.options.cache_on:
            sequence = self._sequence(request)
            stop = min(sequence.reserved, sequence.num_prompt)
            publish.store(self.state, self._evictor, sequence, stop, running=False)
        self._let_go(request, "abort")

    def retract(self, request: str) -> None:
        """Take a running request's slots away so that others can go on; it is admitted anew later."""
        self._let_go(request, "retracted")

    def tick(self, now_ns: int) -> int:
        """Evict leaves idle for longer than the time to live; `now_ns` as in events. Returns how many nodes left."""
        return self._evictor.expire(now_ns)

    def flush(self) -> int:
        """Evict all that no request uses; returns the tokens that left."""
        nodes, tokens = self._evictor.flush()
        seq, t_ns = self.state.emitter.next()
        self.state.emitter.emit(CacheFlushed(seq=seq, t_ns=t_ns, nodes=nodes, tokens=tokens))
        return tokens

    def evict(self, tokens: int) -> int:
        """Evict at least `tokens` where there are as many to evict; returns how many left."""
        return self._evictor.evict_tokens(tokens)

    def pools(self) -> tuple[PoolFill, ...]:
        """Fill of the full pool and the window's pool."""
        return tuple(PoolFill(p.name, p.num_pages, len(p.free)) for p in (self.state.full, self.state.swa))

    def check_invariants(self) -> None:
        """Check the bookkeeping slot by slot.

        Raises:
            InvariantError: the first contradiction found.
        """
        check_invariants(self.state)

    def node_states(self) -> Iterable[NodeState]:
        """Every node, walked from the tree."""
        for node in self.state.tree.nodes.values():
            yield _node_state(node)

    def holder_states(self) -> Iterable[HolderState]:
        """What running requests hold beside the tree."""
        for sequence in self.state.sequences.values():
            yield HolderState(sequence.request, tuple(sequence.full), tuple(sequence.swa))

    def _reuse(self, sequence: Sequence, found: Walk, reused: int) -> None:
        sequence.reused = sequence.computed = sequence.stored = sequence.reserved = reused
        if not reused:
            return
        node = lookup.node_at(self.state, found, reused)
        if "lock_skipped" not in self.state.faults:
            self.state.lock(sequence.request, node)
            sequence.lock_node = node
        self._evictor.note(node)
        for link in path_of(node):
            sequence.place(link.full)

    def _cap(self, key: bytes, cap: int | None) -> int:
        """Most tokens that a prompt may reuse: the last one is always computed."""
        last = 0 if "full_hit_uncapped" in self.state.faults else 1
        most = max(0, len(key) // TOKEN_BYTES - last)
        return most if cap is None else max(0, min(cap, most))

    def _let_go(self, request: str, reason: str) -> None:
        sequence = self._sequence(request)
        del self.state.sequences[request]
        publish.leave_unstored(self.state, sequence, sequence.computed, reason)
        self._release(sequence)

    def _release(self, sequence: Sequence) -> None:
        if "unlock_skipped" in self.state.faults:
            sequence.lock_node = None
        publish.give_back(self.state, self._evictor, sequence)

    def _sequence(self, request: str) -> Sequence:
        sequence = self.state.sequences.get(request)
        if sequence is None:
            raise InputError(f"request {request!r} does not run: expected one of {', '.join(self.state.sequences)}")
        return sequence


def _node_state(node: Node) -> NodeState:
    parent = node.parent
    assert parent is not None, "a root is no node of the state"
    return NodeState(
        node.id,
        parent.id,
        node.start,
        node.stop,
        node.namespace,
        node.terminal,
        node.locks,
        pack_ids(unpack_key(node.key)),
        tuple(node.full),
        tuple(node.swa),
    )
