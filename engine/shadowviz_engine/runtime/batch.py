"""Queue and running requests: who gets slots of the cache for the next pass, who waits, who gives way."""

import sys
from collections import deque

from shadowviz_engine.cache.manager import Admission, CacheManager
from shadowviz_engine.cache.sequence import Shortage
from shadowviz_engine.core.errors import CapacityError
from shadowviz_engine.runtime.active import ActiveRequest
from shadowviz_engine.runtime.journal import Journal
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.scheduler import (
    Work,
    choose_retracted,
    chunk_stop,
    may_start,
    plan_decode,
    plan_prefill,
    spent,
)


class Batch:
    """Requests that have not ended, in the order of submission: first those that run, then the queue."""

    def __init__(
        self, cache: CacheManager, journal: Journal, options: EngineOptions, page_size: int, grid: int
    ) -> None:
        self.running: list[ActiveRequest] = []
        self.queue: deque[ActiveRequest] = deque()
        self._cache = cache
        self._journal = journal
        self._max_running = options.max_running
        self.chunk_tokens = options.chunk_tokens
        """Prompt tokens of one pass at most."""
        self._page_size = page_size
        self._grid = grid
        self._may_reuse_all = "full_hit_uncapped" in options.faults
        self._blocked: dict[str, Shortage] = {}
        self._held_back = False
        """A request gave way; nobody starts until another has ended."""

    @property
    def idle(self) -> bool:
        """Whether every request has ended."""
        return not self.running and not self.queue

    def remove(self, active: ActiveRequest) -> bool:
        """Take a request that ends out; whether it was running."""
        if active in self.running:
            self.running.remove(active)
            self._held_back = False
            return True
        self.queue.remove(active)
        return False

    def plan(self) -> tuple[Work, ...]:
        """Work for one pass, every token of it with a slot; empty only when no request is left.

        Raises:
            CapacityError: a request that runs alone finds no room.
        """
        while not self.idle:
            self._blocked.clear()
            work = self._reserve()
            if work:
                return work
            self._make_room()
        return ()

    def _reserve(self) -> tuple[Work, ...]:
        progress = [active.progress for active in self.running]
        decode = self._with_slots(plan_decode(progress))
        chunks = self._with_slots(plan_prefill(progress, self.chunk_tokens, self._grid))
        return (*decode, *chunks, *self._start(self.chunk_tokens - spent(chunks)))

    def _with_slots(self, planned: tuple[Work, ...]) -> list[Work]:
        found = [self._extend(work) for work in planned]
        return [work for work in found if work is not None]

    def _extend(self, work: Work) -> Work | None:
        """The work that slots were found for: all of it, the part in its first page, or none."""
        shortage = self._cache.extend(work.request, work.stop)
        if shortage is None:
            return work
        page_stop = (work.start // self._page_size + 1) * self._page_size
        if page_stop < work.stop:
            shortage = self._cache.extend(work.request, page_stop)
            if shortage is None:
                return Work(work.request, work.start, page_stop)
        self._blocked[work.request] = shortage
        return None

    def _start(self, budget: int) -> list[Work]:
        """Start requests from the head of the queue; the first chunk of each."""
        started: list[Work] = []
        while self.queue and may_start(len(self.running), self._max_running, budget, self._blocked, self._held_back):
            active = self.queue[0]
            admission, chunk = self._admit(active, budget)
            if isinstance(admission, Shortage):
                self._blocked[active.request.id] = admission
                self._tell_wait(active, admission)
                break
            self.queue.popleft()
            self.running.append(active)
            active.start(admission.lookup)
            if self._may_reuse_all and active.computed == len(active.prompt):
                active.repeat_last()
                started += self._with_slots((Work(active.request.id, active.computed, active.computed + 1),))
                continue
            stop = chunk_stop(active.computed, len(active.prompt), chunk, self._grid)
            started.append(Work(active.request.id, active.computed, stop))
            budget -= stop - active.computed
        return started

    def _admit(self, active: ActiveRequest, budget: int) -> tuple[Admission | Shortage, int]:
        """What the cache says to a start, and the tokens of the first chunk that it has slots for."""
        request = active.request
        budgets = [budget]
        if not self.running:
            # Alone in the pools it need not wait for room for a whole chunk: nobody would ever make it. A resume inside
            # a page has a page of its own there, so the smallest chunk may fit where a page of tokens does not.
            budgets += [smaller for smaller in (self._page_size, self._grid) if smaller < budget]
        for chunk in budgets:
            admission = self._cache.admit(request.id, active.prompt, request.namespace, chunk, active.cap)
            if not isinstance(admission, Shortage):
                break
        return admission, chunk

    def _make_room(self) -> None:
        """Nothing can go on: the youngest of several gives way; one that is alone starts again in an empty cache."""
        name, shortage = next(iter(self._blocked.items()))
        chosen = choose_retracted([active.progress for active in self.running])
        if chosen is None:
            alone = self.running[0] if self.running else self.queue[0]
            if alone.cleared:
                raise CapacityError(
                    f"request {name!r} has both pools for itself and finds no room: it needs "
                    f"{shortage.needed_pages} {shortage.pool} pages, {shortage.free_pages} are free"
                )
            # Pages that are only partly on its path are locked through it, so it may need more than its length says.
            alone.cleared = True
        if self.running:
            self._retract(shortage)
        if chosen is None:
            self._cache.evict(sys.maxsize)
        self._held_back = True

    def _retract(self, shortage: Shortage) -> None:
        """The youngest running request gives its slots back and goes to the head of the queue."""
        active = self.running.pop()
        self._tell_wait(active, shortage)
        self._cache.retract(active.request.id)
        active.take_back()
        self.queue.appendleft(active)

    def _tell_wait(self, active: ActiveRequest, shortage: Shortage) -> None:
        if active.waited:
            return
        active.waited = True
        self._journal.waited(active.request.id, shortage.pool, shortage.needed_pages, shortage.free_pages)
