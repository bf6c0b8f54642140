"""How many pages of a pool are in use, kept up to date event by event."""

from collections.abc import Iterable

from shadowviz_engine.core.holdings import Run


class PageFill:
    """Pages of one pool by the slots in them that are taken; as large as the pool, whatever the run's length."""

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size
        self._taken: dict[int, int] = {}

    @property
    def pages(self) -> int:
        """Pages with a slot that is taken."""
        return len(self._taken)

    def take(self, runs: Iterable[Run]) -> None:
        """Slots were taken."""
        for page, slots in self._by_page(runs):
            self._taken[page] = self._taken.get(page, 0) + slots

    def free(self, runs: Iterable[Run]) -> None:
        """Slots were given back."""
        for page, slots in self._by_page(runs):
            left = self._taken.get(page, 0) - slots
            if left > 0:
                self._taken[page] = left
            else:
                self._taken.pop(page, None)

    def _by_page(self, runs: Iterable[Run]) -> Iterable[tuple[int, int]]:
        size = self._page_size
        for start, stop, slot in runs:
            last = slot + stop - start
            for page in range(slot // size, (last - 1) // size + 1):
                yield page, min(last, (page + 1) * size) - max(slot, page * size)
