"""How full both pools are at one moment: pages that nodes of the tree and running requests have slots in."""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Ints, Mask, ranges
from shadowviz.tui.frame import PoolFill
from shadowviz_engine.core.replayer import Replayer

Slots = tuple[Ints, Ints]
"""First slot and length of each run."""
TreeSlots = tuple[Ints, Ints, Mask]
"""The same, of nodes, and whether each node is locked."""
MAX_DENSE = 2**22
"""Pages that are looked at one by one; a pool of so many has a billion tokens."""
CHUNK = 2**16
"""Nodes that are looked at together: what is worked out for them fits the processor's caches."""


def pool_fills(state: Replayer) -> tuple[PoolFill, ...]:
    """Both pools; none before the log was opened."""
    opened = state.opened
    if opened is None:
        return ()
    page, fills = opened.geometry.page_size, []
    highest = _highest_slot(state)
    for pool, num_pages in (("full", opened.num_full_pages), ("swa", opened.num_swa_pages)):
        used = _used(_tree_slots(state, pool), _held_runs(state, pool), page, highest // page + 1)
        fills.append(PoolFill(pool=pool, num_pages=num_pages, **msgspec.structs.asdict(used)))
    return tuple(fills)


class _Used(msgspec.Struct):
    """Pages of one pool."""

    used: int
    locked: int
    held: int


def _highest_slot(state: Replayer) -> int:
    """No node has had a slot above it."""
    runs = np.frombuffer(state.runs.flat, np.int32).reshape(-1, 3)
    highest = 0
    for at in range(0, len(runs), CHUNK):
        start, stop, slot = runs[at : at + CHUNK].T
        highest = max(highest, int((slot + (stop - start)).max()) - 1)
    return highest


def _tree_slots(state: Replayer, pool: str) -> Iterator[TreeSlots]:
    """Runs of all living nodes, chunk by chunk."""
    for begin in range(0, len(state.nodes), CHUNK):
        yield _slots_of(state, pool, slice(begin, begin + CHUNK))


def _slots_of(state: Replayer, pool: str, ids: slice) -> TreeSlots:
    # The views end with this call: a column that is looked at cannot grow.
    nodes = state.nodes
    column_at, column_num = (nodes.full_at, nodes.full_num) if pool == "full" else (nodes.swa_at, nodes.swa_num)
    living = np.flatnonzero(np.frombuffer(nodes.alive, np.bool_)[ids])
    at, num = (np.frombuffer(column, kind)[ids][living].astype(np.int64)
               for column, kind in ((column_at, np.int64), (column_num, np.int32)))  # fmt: skip
    locked = np.frombuffer(nodes.locks, np.int32)[ids][living] > 0
    first, flat = np.repeat(at, num) + 3 * ranges(np.zeros_like(num), num), np.frombuffer(state.runs.flat, np.int32)
    start, stop, slot = (flat[first + part].astype(np.int64) for part in range(3))
    return slot, stop - start, np.repeat(locked, num)


def _held_runs(state: Replayer, pool: str) -> Slots:
    """First slot and length of every run that a request holds beside the tree's."""
    runs = np.array([run for held in state.held[pool].values() for run in held], dtype=np.int64).reshape(-1, 3)
    return runs[:, 2], runs[:, 1] - runs[:, 0]


def _used(tree: Iterable[TreeSlots], held: Slots, page: int, num_pages: int) -> _Used:
    """Pages in use.

    Args:
        num_pages: no node has a slot in a page behind so many.
    """
    held_first, held_stop = _page_runs(held, page)
    size = max(num_pages, int(held_stop.max(initial=0)))
    if size > MAX_DENSE:
        return _used_by_stretch(tree, held, page)
    of_tree, of_locked, of_held = (np.zeros(size, dtype=bool) for _ in range(3))
    _mark(of_held, held_first, held_stop)
    for slot, length, locked in tree:
        first, stop = _page_runs((slot, length), page)
        _mark(of_tree, first, stop)
        _mark(of_locked, first[locked], stop[locked])
    return _counted(of_tree, of_locked, of_held, None)


def _used_by_stretch(tree: Iterable[TreeSlots], held: Slots, page: int) -> _Used:
    # A log of anybody may name a slot of any number: then pages are counted by the stretch, not one by one.
    slot, length, locked = (np.concatenate(part) for part in zip(*tree, strict=True))
    runs = [_page_runs(slots, page) for slots in ((slot, length), (slot[locked], length[locked]), held)]
    edges = np.unique(np.concatenate([one for run in runs for one in run]))
    of_tree, of_locked, of_held = (_stretches(first, stop, edges) for first, stop in runs)
    return _counted(of_tree, of_locked, of_held, np.diff(edges))


def _counted(of_tree: Mask, of_locked: Mask, of_held: Mask, widths: Ints | None) -> _Used:
    return _Used(_count(of_tree | of_held, widths), _count(of_locked, widths), _count(of_held & ~of_tree, widths))


def _page_runs(slots: Slots, page: int) -> tuple[Ints, Ints]:
    """First page, and the one behind the last, of each run of slots."""
    slot, length = slots
    return slot // page, (slot + length - 1) // page + 1


def _mark(mask: Mask, first: Ints, stop: Ints) -> None:
    """Mark the pages that the runs lie in."""
    mask[first] = True
    # Most runs lie in one page.
    longer = stop - first > 1
    if longer.any():
        mask[ranges(first[longer], stop[longer])] = True


def _stretches(first: Ints, stop: Ints, edges: Ints) -> Mask:
    """Which stretches between two edges the runs lie in; each begins and ends at edges."""
    steps = np.zeros(len(edges), dtype=np.int64)
    np.add.at(steps, np.searchsorted(edges, first), 1)
    np.add.at(steps, np.searchsorted(edges, stop), -1)
    inside: Mask = np.cumsum(steps)[:-1] > 0
    return inside


def _count(mask: Mask, widths: Ints | None) -> int:
    return int(np.count_nonzero(mask) if widths is None else widths[mask].sum())
