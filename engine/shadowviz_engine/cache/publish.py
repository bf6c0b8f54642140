"""Handing a request's slots to the tree: new spans, healed window rows, duplicates given back."""

from shadowviz_engine.cache.eviction import Evictor
from shadowviz_engine.cache.ghost import Departure
from shadowviz_engine.cache.growth import extend, promised
from shadowviz_engine.cache.lookup import node_at
from shadowviz_engine.cache.pools import clip_runs, extents_of, keep_runs
from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, Walk, num_tokens, path_of
from shadowviz_engine.cache.sequence import Sequence, Shortage
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.events import NotStored, PathEnded, SpanInserted, SwaPublished
from shadowviz_engine.core.spans import Extent, merge, subtract


def store(state: CacheState, evictor: Evictor, sequence: Sequence, stop: int, running: bool) -> None:
    """Put the first `stop` tokens of `sequence` into the tree; its lock moves to their end while it is running.

    What the tree has already is not stored twice: the request goes on with the tree's slots, and its window rows
    heal those that the tree lost. `running` keeps the rows that the run itself still reads.
    """
    if stop <= sequence.stored:
        return
    key = sequence.key(stop)
    begin = sequence.lock_node
    if begin is None or begin.stop != sequence.stored:
        begin = state.tree.root(sequence.namespace)
    found = state.tree.walk_from(begin, key)
    end = node_at(state, found, found.common)
    evictor.note(end)
    # What is inserted below `end` makes a fork of it where it has a child already.
    forks = tuple(n.stop for n in path_of(end) if len(n.children) > (n is not end or stop == found.common))
    keep = promised(state, sequence, stop, forks)
    if running:
        keep = merge([*keep, retained_tokens(state.geometry, stop, page_rule=False)])
    if found.common > sequence.stored:
        _join(state, evictor, sequence, end, keep)
    if stop > found.common:
        end = _insert(state, evictor, sequence, end, key, keep)
    else:
        _mark(state, end)
    sequence.stored = stop
    if running:
        _relock(state, evictor, sequence, end)


def register(state: CacheState, evictor: Evictor, sequence: Sequence, found: Walk, key: bytes) -> Shortage | None:
    """Store a whole prompt whose walk was just made and whose window rows are all there; no lock is needed.

    What the tree has already gets no slots at all, so nothing is computed twice and handed back.
    """
    end = node_at(state, found, found.common)
    evictor.note(end)
    sequence.stored = sequence.reserved = found.common
    sequence.computed = sequence.num_prompt
    if found.common == sequence.num_prompt:
        _mark(state, end)
        return None
    shortage = extend(state, evictor, sequence, sequence.num_prompt)
    if shortage is not None:
        return shortage
    forks = tuple(n.stop for n in path_of(end) if len(n.children) > (n is not end))
    _insert(state, evictor, sequence, end, key, promised(state, sequence, sequence.num_prompt, forks))
    give_back(state, evictor, sequence)
    return None


def num_finished(state: CacheState, sequence: Sequence) -> int:
    """Tokens of a request that is complete that can be stored: the last generated one is never computed."""
    if "last_token_published" in state.faults:
        return len(sequence.key(min(sequence.computed + 1, sequence.reserved))) // TOKEN_BYTES
    return sequence.computed


def leave_unstored(state: CacheState, sequence: Sequence, stop: int, reason: str) -> None:
    """Note that the tokens computed up to `stop` did not enter the tree."""
    if stop <= sequence.stored:
        return
    seq, t_ns = state.emitter.next()
    if state.options.cache_on:
        state.ghost.remember_key(
            sequence.namespace, sequence.key(stop), sequence.stored, Departure(seq, reason, sequence.request)
        )
    state.emitter.emit(
        NotStored(seq=seq, t_ns=t_ns, request=sequence.request, start=sequence.stored, stop=stop, reason=reason)
    )


def give_back(state: CacheState, evictor: Evictor, sequence: Sequence) -> None:
    """Release the lock and every slot that the request still holds."""
    state.table.unmap(sequence.full, sequence.swa)
    full, swa = sequence.full, sequence.swa
    sequence.full, sequence.swa = [], []
    if "slot_leaked" in state.faults and full:
        full = full[:-1]
    state.release(sequence, state.full, full)
    state.release(sequence, state.swa, swa)
    if sequence.lock_node is not None:
        node, sequence.lock_node = sequence.lock_node, None
        state.unlock(sequence.request, node)
        evictor.note(node)


def _mark(state: CacheState, end: Node) -> None:
    """Note that a registered path ends at `end`."""
    if not end.terminal:
        end.terminal = True
        seq, t_ns = state.emitter.next()
        state.emitter.emit(PathEnded(seq=seq, t_ns=t_ns, node=end.id))


def _join(state: CacheState, evictor: Evictor, sequence: Sequence, end: Node, keep: list[Extent]) -> None:
    """Go over to the tree's slots where the tree was first, healing its window rows on the way."""
    for node in path_of(end):
        start, stop = max(node.start, sequence.stored), node.stop
        if start >= stop:
            continue
        if not node.swa_live and "heal_skipped" not in state.faults:
            _heal(state, evictor, sequence, node, [e.intersect(Extent(start, stop)) for e in keep])
        sequence.place(clip_runs(node.full, start, stop))
        duplicates, sequence.full = keep_runs(sequence.full, [Extent(start, stop)])
        unwanted, sequence.swa = keep_runs(sequence.swa, [Extent(start, stop)])
        state.table.unmap(duplicates, unwanted)
        if "twin_freed" in state.faults:
            duplicates, unwanted = clip_runs(node.full, start, stop), clip_runs(node.swa, start, stop)
        state.release(sequence, state.full, duplicates)
        state.release(sequence, state.swa, unwanted)


def _heal(state: CacheState, evictor: Evictor, sequence: Sequence, node: Node, keep: list[Extent]) -> None:
    """Give `node` the window rows it lost, as far as the policy keeps them."""
    missing = [extent for extent in keep if extent]
    for live in extents_of(node.swa):
        missing = subtract(missing, live)
    healed, left = keep_runs(sequence.swa, missing)
    if not healed:
        return
    sequence.swa = left
    state.table.unmap(sequence.full, healed)
    state.table.map(node.full, healed)
    node.swa = sorted([*node.swa, *healed])
    node.swa_live = num_tokens(node.swa) == node.stop - node.start
    seq, t_ns = state.emitter.next()
    state.emitter.emit(SwaPublished(seq=seq, t_ns=t_ns, node=node.id, request=sequence.request, runs=tuple(healed)))
    evictor.note(node)


def _insert(
    state: CacheState, evictor: Evictor, sequence: Sequence, parent: Node, key: bytes, keep: list[Extent]
) -> Node:
    """New leaf under `parent` with the request's own slots; window rows outside of `keep` are freed."""
    start, stop = parent.stop, len(key) // TOKEN_BYTES
    node = state.tree.add_child(parent, key[start * TOKEN_BYTES :])
    span = Extent(start, stop)
    node.full, sequence.full = keep_runs(sequence.full, [span])
    own, sequence.swa = keep_runs(sequence.swa, [span])
    node.swa, unwanted = keep_runs(own, [e for e in (extent.intersect(span) for extent in keep) if e])
    if unwanted:
        # The run may hold rows up to now that no resume point asks for; the request gives them back itself.
        state.table.unmap(node.full, unwanted)
        state.release(sequence, state.swa, unwanted)
    node.swa_live = num_tokens(node.swa) == stop - start
    seq, t_ns = state.emitter.next()
    node.swa_event = -1 if node.swa_live else seq
    node.terminal = True
    node.used, node.used_ns, node.created = seq, t_ns, seq
    state.num_tree_tokens += stop - start
    state.emitter.emit(
        SpanInserted(
            seq=seq,
            t_ns=t_ns,
            node=node.id,
            parent=parent.id,
            request=sequence.request,
            start=start,
            stop=stop,
            namespace=sequence.namespace,
            full=tuple(node.full),
            swa=tuple(node.swa),
            terminal=True,
        )
    )
    evictor.note(node)
    return node


def _relock(state: CacheState, evictor: Evictor, sequence: Sequence, end: Node) -> None:
    old = sequence.lock_node
    if old is end:
        return
    state.lock(sequence.request, end)
    sequence.lock_node = end
    if old is not None:
        state.unlock(sequence.request, old)
        evictor.note(old)
