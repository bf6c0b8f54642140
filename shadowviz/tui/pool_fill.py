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
        tree = _pages(slot, stop - start, page)
        in_use = locked[owner]
        held = _held_pages(state, pool, page)
        fills.append(
            PoolFill(
                pool=pool,
                num_pages=num_pages,
                used=len(np.union1d(tree, held)),
                locked=len(_pages(slot[in_use], (stop - start)[in_use], page)),
                held=len(np.setdiff1d(held, tree)),
            )
        )
    return tuple(fills)


def _held_pages(state: Replayer, pool: str, page: int) -> Ints:
    runs = [run for held in state.held[pool].values() for run in held]
    columns = np.array(runs, dtype=np.int64).reshape(-1, 3)
    return _pages(columns[:, 2], columns[:, 1] - columns[:, 0], page)


def _pages(slot: Ints, length: Ints, page: int) -> Ints:
    """Pages that runs of this many slots from `slot` on lie in, each once, ascending."""
    pages: Ints = np.unique(ranges(slot // page, (slot + length - 1) // page + 1))
    return pages
