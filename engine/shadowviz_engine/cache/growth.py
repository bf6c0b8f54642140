"""Slots of a running request: taking them as it grows, and freeing window rows behind it."""

from shadowviz_engine.cache.eviction import Evictor
from shadowviz_engine.cache.pools import PagePool, clip_runs, keep_runs
from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, ancestors, path_of
from shadowviz_engine.cache.retention import RetentionMode, resume_points, retained_extents
from shadowviz_engine.cache.sequence import Sequence, Shortage
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.events import SlotRun, SlotsTaken
from shadowviz_engine.core.spans import Extent, merge


def extend(state: CacheState, evictor: Evictor, sequence: Sequence, stop: int) -> Shortage | None:
    """Give `sequence` slots for its tokens up to `stop`; on a shortage nothing is taken."""
    if stop <= sequence.reserved:
        return None
    size = state.geometry.page_size
    start = sequence.reserved
    num_pages = -(-stop // size) - start // size
    if len(state.full.free) < num_pages:
        reachable = state.full.num_pages - len(_full_pages_in_use(state, []))
        if reachable < num_pages or not evictor.free_full_pages(num_pages, sequence.request):
            return Shortage("full", num_pages, len(state.full.free))
    if len(state.swa.free) < num_pages and not evictor.free_swa_pages(num_pages, sequence.request):
        for running in [sequence, *state.sequences.values()]:
            trim(state, running, _minimum(state, running))
            if len(state.swa.free) >= num_pages:
                break
        else:
            return Shortage("swa", num_pages, len(state.swa.free))
    full, swa = _take(state, sequence, start, num_pages)
    state.table.map(full, swa)
    sequence.full += full
    sequence.swa += swa
    sequence.place(full)
    for pool, runs in ((state.full, full), (state.swa, swa)):
        seq, t_ns = state.emitter.next()
        state.emitter.emit(SlotsTaken(seq=seq, t_ns=t_ns, request=sequence.request, pool=pool.name, runs=tuple(runs)))
    return None


def _take(state: CacheState, sequence: Sequence, start: int, num_pages: int) -> tuple[list[SlotRun], list[SlotRun]]:
    """Runs of both pools from `start` on; a request that goes on inside a page has a page of its own for the rest."""
    if "fork_overwrites" in state.faults and start == sequence.reused and _parts_in_page(state, sequence):
        slot = int(sequence.slots[start - 1])
        row = int(state.table.slots[slot])
        if row:
            return _take_behind(state.full, slot, start, num_pages), _take_behind(state.swa, row, start, num_pages)
    return state.full.take(start, num_pages), state.swa.take(start, num_pages)


def _parts_in_page(state: CacheState, sequence: Sequence) -> bool:
    """Whether the path of a request leaves every stored one, inside a page."""
    start, node = sequence.reused, sequence.lock_node
    if node is None or not start % state.geometry.page_size:
        return False
    return sequence.key(start + 1)[start * TOKEN_BYTES :] not in node.children


def _take_behind(pool: PagePool, slot: int, start: int, num_pages: int) -> list[SlotRun]:
    """As `PagePool.take`, but the first page is that of the token before, at `slot`: what it holds is overwritten."""
    size = pool.page_size
    stop = start - start % size + size
    pool.owned[slot // size] += stop - start
    return [SlotRun(start, stop, slot + 1), *(pool.take(stop, num_pages - 1) if num_pages > 1 else [])]


def trim_behind(state: CacheState, sequence: Sequence) -> None:
    """Free the request's window rows that neither the run nor a promised resume point needs any more."""
    if state.retention.mode is RetentionMode.ALL:
        return
    keep = promised(state, sequence, sequence.computed, sequence.forks)
    trim(state, sequence, merge([*_minimum(state, sequence), *keep]))


def trim(state: CacheState, sequence: Sequence, keep: list[Extent]) -> None:
    """Free the window rows that the request itself holds outside of `keep`."""
    kept, gone = keep_runs(sequence.swa, keep)
    if gone:
        state.table.unmap(sequence.full, gone)
        sequence.swa = kept
        state.release(sequence, state.swa, gone)


def promised(state: CacheState, sequence: Sequence, end: int, forks: tuple[int, ...] = ()) -> list[Extent]:
    """Tokens whose window rows the policy keeps for the path of `sequence`, stored up to `end`."""
    if state.retention.mode is RetentionMode.ALL:
        return [Extent(0, end)]
    points = resume_points(state.retention, state.rules, sequence.num_prompt, max(end, sequence.num_prompt), forks)
    extents = retained_extents(state.geometry, state.rules, points)
    if "window_off_by_one" in state.faults:
        extents = [Extent(extent.start + 1, extent.stop) for extent in extents]
    return extents


def forks_ahead(state: CacheState, namespace: str, key: bytes) -> tuple[int, ...]:
    """Lengths of `key` at which stored paths part, or it will part from them; only where the policy keeps forks.

    Known before anything is computed, so that the rows of a fork are still there when the path is stored.
    """
    if state.retention.mode is not RetentionMode.FORKS:
        return ()
    found = state.tree.walk(namespace, key)
    grows = found.common < len(key) // TOKEN_BYTES
    whole = [node for node in path_of(found.node) if node is not found.node or found.whole]
    forks = [node.stop for node in whole if len(node.children) > (node is not found.node or not grows)]
    return (*forks, found.common) if grows and not found.whole else tuple(forks)


def _minimum(state: CacheState, sequence: Sequence) -> list[Extent]:
    """Tokens that the run itself reads: its window and tails, and everything not computed yet."""
    first = state.first_read(sequence.computed)
    return [Extent(first, max(sequence.reserved, first))]


def room(state: CacheState, start: int, stop: int, path: list[Node]) -> Shortage | None:
    """Whether a new branch from `start` to `stop` finds slots once everything idle has left.

    Args:
        path: nodes of the path that it reuses; they may not be evicted for it.
    """
    size = state.geometry.page_size
    num_pages = -(-stop // size) - start // size
    if state.full.num_pages - len(_full_pages_in_use(state, path)) < num_pages:
        return Shortage("full", num_pages, len(state.full.free))
    if state.swa.num_pages - len(_swa_pages_in_use(state, path, start)) < num_pages:
        return Shortage("swa", num_pages, len(state.swa.free))
    return None


def _full_pages_in_use(state: CacheState, path: list[Node]) -> set[int]:
    """Pages of the full pool that hold a slot of a locked node, of a running request or of `path`."""
    nodes = {node.id: node for node in path}
    for sequence in state.sequences.values():
        if sequence.lock_node is not None:
            nodes.update((node.id, node) for node in ancestors(sequence.lock_node))
    runs = [run for node in nodes.values() for run in node.full]
    runs += [run for sequence in state.sequences.values() for run in sequence.full]
    return _pages(runs, state.geometry.page_size)


def _swa_pages_in_use(state: CacheState, path: list[Node], length: int) -> set[int]:
    """Pages of the window's pool with a row that a running request reads, or a resume at `length` of `path`."""
    first = state.first_read(length)
    runs = [run for node in path for run in clip_runs(node.swa, first, length)]
    for sequence in state.sequences.values():
        (needed,) = _minimum(state, sequence)
        runs += clip_runs(sequence.swa, needed.start, needed.stop)
        if sequence.lock_node is not None:
            for node in ancestors(sequence.lock_node):
                runs += clip_runs(node.swa, needed.start, needed.stop)
    return _pages(runs, state.geometry.page_size)


def _pages(runs: list[SlotRun], size: int) -> set[int]:
    return {page for run in runs for page in range(run.slot // size, (run.slot + run.stop - run.start - 1) // size + 1)}
