"""How full both pools are at one moment: pages that nodes of the tree and running requests have slots in."""

import numpy as np

from shadowviz.diagrams.columns import Ints, Mask, RunColumns, ranges
from shadowviz.tui.frame import PoolFill
from shadowviz_engine.core.replayer import Replayer


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
        ends = np.concatenate((slot + stop - start, held_slot + held_length))
        size = max(num_pages + 1, int(ends.max(initial=0)) // page + 1)
        tree = _pages(slot, stop - start, page, size)
        held = _pages(held_slot, held_length, page, size)
        in_use = locked[owner]
        fills.append(
            PoolFill(
                pool=pool,
                num_pages=num_pages,
                used=int(np.count_nonzero(tree | held)),
                locked=int(np.count_nonzero(_pages(slot[in_use], (stop - start)[in_use], page, size))),
                held=int(np.count_nonzero(held & ~tree)),
            )
        )
    return tuple(fills)


def _held_runs(state: Replayer, pool: str) -> tuple[Ints, Ints]:
    """First slot and length of every run that a request holds beside the tree's."""
    runs = np.array([run for held in state.held[pool].values() for run in held], dtype=np.int64).reshape(-1, 3)
    return runs[:, 2], runs[:, 1] - runs[:, 0]


def _pages(slot: Ints, length: Ints, page: int, size: int) -> Mask:
    """Which of `size` pages hold one of this many slots from `slot` on."""
    mask = np.zeros(size, dtype=bool)
    mask[ranges(slot // page, (slot + length - 1) // page + 1)] = True
    return mask
