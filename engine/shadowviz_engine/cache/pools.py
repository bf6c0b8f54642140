"""Page pools: who owns how many slots of a page, and the table from full slots to window slots."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from shadowviz_engine.core.events import SlotRun
from shadowviz_engine.core.spans import Extent

DUMMY_PAGE = 0
"""Page that masked reads go to; never handed out."""


class PagePool:
    """Free list of pages and the number of owned slots of each; a page is free when none of its slots is owned."""

    def __init__(self, name: str, num_pages: int, page_size: int) -> None:
        self.name = name
        self.num_pages = num_pages
        self.page_size = page_size
        # Popped from the end: a fresh pool hands pages out in ascending order, which keeps runs long.
        self.free = list(range(num_pages, DUMMY_PAGE, -1))
        self.owned = array("i", bytes(4 * (num_pages + 1)))

    @property
    def num_slots(self) -> int:
        """Slots of the pool, the dummy page included."""
        return (self.num_pages + 1) * self.page_size

    def take(self, start: int, num_pages: int) -> list[SlotRun]:
        """Runs for the tokens from `start` to the end of the `num_pages`-th page, all of their slots owned."""
        size = self.page_size
        pages = self.free[: -num_pages - 1 : -1]
        del self.free[-num_pages:]
        owned = self.owned
        for page in pages:
            owned[page] = size
        offset = start % size
        owned[pages[0]] = size - offset
        if pages[-1] - pages[0] == num_pages - 1 and pages == list(range(pages[0], pages[0] + num_pages)):
            return [SlotRun(start, start - offset + num_pages * size, pages[0] * size + offset)]
        runs = [SlotRun(start, start - offset + size, pages[0] * size + offset)]
        for page in pages[1:]:
            last = runs[-1]
            if last.slot + last.stop - last.start == page * size:
                runs[-1] = SlotRun(last.start, last.stop + size, last.slot)
            else:
                runs.append(SlotRun(last.stop, last.stop + size, page * size))
        return runs

    def release(self, runs: Iterable[SlotRun]) -> None:
        """Give up the slots of `runs`; pages without an owner become free."""
        size, owned = self.page_size, self.owned
        for run in runs:
            slot, last = run.slot, run.slot + run.stop - run.start
            while slot < last:
                page = slot // size
                stop = min(last, (page + 1) * size)
                owned[page] -= stop - slot
                if owned[page] == 0:
                    self.free.append(page)
                slot = stop


class WindowTable:
    """`full_to_swa`: window slot of every full slot, 0 where none is mapped."""

    def __init__(self, num_full_slots: int) -> None:
        self.slots: npt.NDArray[np.int64] = np.zeros(num_full_slots, dtype=np.int64)

    def map(self, full: Sequence[SlotRun], swa: Sequence[SlotRun]) -> None:
        """Map the tokens that both hold."""
        slots = self.slots
        for full_run in full:
            for swa_run in swa:
                start, stop = max(full_run.start, swa_run.start), min(full_run.stop, swa_run.stop)
                if start < stop:
                    slot = full_run.slot + start - full_run.start
                    first = swa_run.slot + start - swa_run.start
                    slots[slot : slot + stop - start] = np.arange(first, first + stop - start)

    def unmap(self, full: Sequence[SlotRun], extents: Iterable[Extent | SlotRun]) -> None:
        """Unmap the tokens of `full` that lie in `extents`."""
        for extent in extents:
            for run in full:
                start, stop = max(run.start, extent.start), min(run.stop, extent.stop)
                if start < stop:
                    slot = run.slot + start - run.start
                    self.slots[slot : slot + stop - start] = 0


def clip_runs(runs: Iterable[SlotRun], start: int, stop: int) -> list[SlotRun]:
    """The parts of `runs` inside the tokens [start, stop)."""
    clipped: list[SlotRun] = []
    for run in runs:
        low, high = max(run.start, start), min(run.stop, stop)
        if low < high:
            clipped.append(SlotRun(low, high, run.slot + low - run.start))
    return clipped


def keep_runs(runs: Sequence[SlotRun], extents: Sequence[Extent]) -> tuple[list[SlotRun], list[SlotRun]]:
    """Runs inside and outside of `extents` (sorted, disjoint)."""
    if len(extents) == 1 and runs and extents[0].start <= runs[0].start and runs[-1].stop <= extents[0].stop:
        return list(runs), []
    kept: list[SlotRun] = []
    left: list[SlotRun] = []
    for run in runs:
        position = run.start
        for extent in extents:
            low, high = max(position, extent.start), min(run.stop, extent.stop)
            if low >= high:
                continue
            if low > position:
                left.append(SlotRun(position, low, run.slot + position - run.start))
            kept.append(SlotRun(low, high, run.slot + low - run.start))
            position = high
        if position < run.stop:
            left.append(SlotRun(position, run.stop, run.slot + position - run.start))
    return kept, left


def extents_of(runs: Iterable[SlotRun]) -> list[Extent]:
    """Token extents of sorted runs, touching ones joined."""
    extents: list[Extent] = []
    for run in runs:
        if extents and extents[-1].stop == run.start:
            extents[-1] = Extent(extents[-1].start, run.stop)
        else:
            extents.append(Extent(run.start, run.stop))
    return extents
