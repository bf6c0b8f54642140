"""How full both pools are at one moment: pages that nodes of the tree and running requests have slots in."""

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Ints, Mask, RunColumns, ranges
from shadowviz.tui.frame import PoolFill
from shadowviz_engine.core.replayer import Replayer

Slots = tuple[Ints, Ints]
"""First slot and length of each run."""
MAX_DENSE = 2**22
"""Pages that are looked at one by one; a pool of so many has a billion tokens."""


def pool_fills(state: Replayer) -> tuple[PoolFill, ...]:
    """Both pools; none before the log was opened."""
    opened = state.opened
    if opened is None:
        return ()
    nodes, page = state.nodes, opened.geometry.page_size
    living: Ints = np.flatnonzero(np.array(nodes.alive, dtype=bool))[1:]
    locked: Mask = np.array(nodes.locks, dtype=np.int64)[living] > 0
    fills = []
    for pool, num_pages, at, num in (
        ("full", opened.num_full_pages, nodes.full_at, nodes.full_num),
        ("swa", opened.num_swa_pages, nodes.swa_at, nodes.swa_num),
    ):
        owner, start, stop, slot = RunColumns(at, num, state.runs.flat).of(living)
        held_slot, held_length = _held_runs(state, pool)
        in_use = locked[owner]
        tree, held = (slot, stop - start), (held_slot, held_length)
        used = _used(tree, held, (slot[in_use], (stop - start)[in_use]), page)
        fills.append(PoolFill(pool=pool, num_pages=num_pages, **msgspec.structs.asdict(used)))
    return tuple(fills)


class _Used(msgspec.Struct):
    """Pages of one pool."""

    used: int
    locked: int
    held: int


def _held_runs(state: Replayer, pool: str) -> tuple[Ints, Ints]:
    """First slot and length of every run that a request holds beside the tree's."""
    runs = np.array([run for held in state.held[pool].values() for run in held], dtype=np.int64).reshape(-1, 3)
    return runs[:, 2], runs[:, 1] - runs[:, 0]


def _used(tree: Slots, held: Slots, locked: Slots, page: int) -> _Used:
    runs = [_page_runs(slots, page) for slots in (tree, held, locked)]
    size = max((int(stop.max(initial=0)) for _, stop in runs), default=0)
    if size <= MAX_DENSE:
        widths: Ints | None = None
        masks = [_mask(first, stop, size) for first, stop in runs]
    else:
        # A log of anybody may name a slot of any number: then pages are counted by the stretch, not one by one.
        edges = np.unique(np.concatenate([one for run in runs for one in run]))
        widths = np.diff(edges)
        masks = [_stretches(first, stop, edges) for first, stop in runs]
    of_tree, of_held, of_locked = masks
    return _Used(_count(of_tree | of_held, widths), _count(of_locked, widths), _count(of_held & ~of_tree, widths))


def _page_runs(slots: Slots, page: int) -> tuple[Ints, Ints]:
    """First page, and the one behind the last, of each run of slots."""
    slot, length = slots
    return slot // page, (slot + length - 1) // page + 1


def _mask(first: Ints, stop: Ints, size: int) -> Mask:
    """Which of `size` pages the runs lie in."""
    mask = np.zeros(size, dtype=bool)
    mask[ranges(first, stop)] = True
    return mask


def _stretches(first: Ints, stop: Ints, edges: Ints) -> Mask:
    """Which stretches between two edges the runs lie in; each begins and ends at edges."""
    steps = np.zeros(len(edges), dtype=np.int64)
    np.add.at(steps, np.searchsorted(edges, first), 1)
    np.add.at(steps, np.searchsorted(edges, stop), -1)
    inside: Mask = np.cumsum(steps)[:-1] > 0
    return inside


def _count(mask: Mask, widths: Ints | None) -> int:
    return int(np.count_nonzero(mask) if widths is None else widths[mask].sum())
