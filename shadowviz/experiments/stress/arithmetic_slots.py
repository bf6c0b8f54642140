"""Slots, page tables and entry rows of the real cache, against a memory that is written and read token by token.

Every token of two requests that part somewhere is written where the cache put it, and every entry where its row lies.
Whatever a request finds at its places afterwards must be its own: that is the whole definition of a page table.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from random import Random

from shadowviz.experiments.stress.arithmetic_lengths import boundary_sizes
from shadowviz.experiments.stress.arithmetic_spans import Mismatch
from shadowviz.experiments.stress.definition import Definition, run_definition
from shadowviz.experiments.stress.work import Plan
from shadowviz.replay.placement import place_request
from shadowviz_engine.cache.manager import Admission, CacheManager
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.derive import StateDescriptor, derive
from shadowviz_engine.core.events import SCHEMA, LogOpened, RequestSubmitted
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.sinks import Emitter, MemorySink
from shadowviz_engine.core.snapshot import pack_ids
from shadowviz_engine.core.spans import Extent

LONGEST = 4096
"""Tokens of the longest path that is laid out token by token."""
MOST_SLOTS = 1 << 18
"""Slots of the largest pool that is walked."""

MOST_BEHIND = 300
"""Tokens of the stored path behind the fork."""

_STORED, _RUNNING = "stored", "running"
_BRANCH = {_STORED: 10_000_000, _RUNNING: 20_000_000}
"""Added to the token ids of a path behind the fork; before it, an id is its position."""
_WINDOW = "window slot"
_FULL = "slot"


@dataclass(frozen=True)
class Fork:
    """A stored path, and a request that parts from it."""

    length: int
    """Tokens of the request."""
    cut: int
    """Tokens that it shares with the stored path."""
    stored: int
    """Tokens of the stored path."""
    resume: ResumeRule
    retention: str

    def ids(self, name: str) -> "array[int]":
        """Token ids of the stored path or of the request; no two tokens of both have the same but those shared."""
        return array("q", [t if t < self.cut else _BRANCH[name] + t for t in range(self.tokens(name))])

    def tokens(self, name: str) -> int:
        """Tokens of the stored path or of the request."""
        return self.stored if name == _STORED else self.length


def fork_at(plan: Plan, geometry: Geometry, length: int) -> Fork:
    """The fork that a plan lays out at `length`: its cut lies at a boundary in half of the cases, else anywhere."""
    chance = Random(f"fork {plan.seed} {plan.subject} {length}")
    cut = chance.randint(0, length)
    if chance.random() < 0.5:
        size = chance.choice(boundary_sizes(geometry))
        cut = min(length, max(0, cut // size * size + chance.choice((-1, 0, 1))))
    page = geometry.page_size
    stored = max(1, cut + chance.choice((0, 0, 1, chance.randint(0, min(2 * page, MOST_BEHIND)))))
    return Fork(length, cut, stored, chance.choice(tuple(ResumeRule)), chance.choice(("all", "window")))


def why_not_laid_out(geometry: Geometry, length: int) -> str:
    """Why slots are not checked at a length; empty where they are: in hybrid geometries, paths a test can walk."""
    if not geometry.compressors:
        return "its cache has no compressed entries to lay out"
    if length > LONGEST:
        return f"paths are laid out up to {LONGEST:,} tokens"
    slots = 2 * (length // geometry.page_size + 4) * geometry.page_size
    if slots > MOST_SLOTS:
        return f"pages of {geometry.page_size:,} tokens: pools of more than {MOST_SLOTS:,} slots are not walked"
    return ""


def check_slots(plan: Plan, geometry: Geometry, length: int) -> Mismatch | None:
    """Lay a fork at `length` out in a cache with pages in random order, and read everything back."""
    definition = _definition_of(geometry)
    fork = fork_at(plan, geometry, length)
    cache = _Cache(geometry, fork, Random(f"pages {plan.seed} {length}"))
    memory = _Memory(geometry)
    cache.admit(_STORED)
    memory.write(cache, _STORED, 0)
    stored = cache.slots(_STORED)
    cache.publish(_STORED)
    cache.finish(_STORED)
    expected = _reusable(definition, geometry, fork, cache.mapped(stored))
    reused = cache.admit(_RUNNING)
    if reused != expected:
        detail = f"of {length} tokens, {fork.cut} shared: found {reused} reused, expected {expected} ({fork})"
        return Mismatch("", min(reused, expected), detail)
    memory.write(cache, _RUNNING, reused)
    cache.publish(_RUNNING)
    running = cache.slots(_RUNNING)
    return (
        memory.mismatch(cache, _STORED, stored)
        or memory.mismatch(cache, _RUNNING, running)
        or _unmapped(definition, cache.mapped(running), length)
        or _misplaced(memory, cache, running)
    )


def _reusable(definition: Definition, geometry: Geometry, fork: Fork, mapped: set[int]) -> int:
    """Longest shared length whose retained tokens all are in the window's table, trying each one downwards."""
    page_rule = fork.resume is ResumeRule.PAGE
    for length in range(min(fork.cut, fork.stored, fork.length - 1), 0, -1):
        if page_rule and length % geometry.page_size:
            continue
        if all(token in mapped for token in range(*definition.retained(length, page_rule))):
            return length
    return 0


def _unmapped(definition: Definition, mapped: set[int], length: int) -> Mismatch | None:
    """A token whose window or tail row the next token reads, and that has no slot in the window's table."""
    missing = set(range(*definition.retained(length, False))) - mapped
    if not missing:
        return None
    first = min(missing)
    return Mismatch("swa_kv", first, f"going on at {length} reads token {first}, which has no {_WINDOW}")


def _misplaced(memory: "_Memory", cache: "_Cache", slots: list[int]) -> Mismatch | None:
    """Rows and pages of the request's entries as the events tell them, against those that its slots give."""
    page = cache.geometry.page_size
    rows: dict[str, list[int]] = {}
    pages: dict[str, dict[int, None]] = {}
    for token, slot in enumerate(slots):
        for label, row in memory.closing(token, slot):
            rows.setdefault(label, []).append(row)
            pages.setdefault(label, {})[slot // page] = None
    for descriptor in cache.placed(len(slots)):
        label = descriptor.kind
        if label not in rows:
            continue
        if descriptor.slots != tuple(rows[label]):
            pairs = enumerate(zip_longest(descriptor.slots, rows[label]))
            entry, (found, expected) = next(item for item in pairs if item[1][0] != item[1][1])
            return Mismatch(label, entry, f"found entry {entry} of {label} in row {found}, expected row {expected}")
        if descriptor.pages != tuple(pages[label]):
            return Mismatch(label, -1, f"found {label} in other pages than its slots lie in")
    return None


class _Cache:
    """A cache whose free pages lie in random order, and what its events say."""

    def __init__(self, geometry: Geometry, fork: Fork, chance: Random) -> None:
        pages = (fork.length + fork.stored) // geometry.page_size + 6
        options = CacheOptions(num_full_pages=pages, num_swa_pages=pages, resume=fork.resume, retention=fork.retention)
        self._sink = MemorySink()
        self._emitter = Emitter(self._sink, lambda: 0)
        self.geometry = geometry
        self.fork = fork
        self._manager = CacheManager(geometry, options, self._emitter)
        for pool in (self._manager.state.full, self._manager.state.swa):
            chance.shuffle(pool.free)
        seq, t_ns = self._emitter.next()
        opened = LogOpened(seq=seq, t_ns=t_ns, schema=SCHEMA, geometry=geometry, resume=fork.resume)
        self._emitter.emit(opened)

    def admit(self, name: str) -> int:
        """Look a path up and give it slots; the tokens it reuses."""
        ids = self.fork.ids(name)
        seq, t_ns = self._emitter.next()
        self._emitter.emit(RequestSubmitted(seq=seq, t_ns=t_ns, request=name, tokens=pack_ids(ids)))
        admission = self._manager.admit(name, ids)
        assert isinstance(admission, Admission), "pools have room for both paths"
        return admission.reused

    def publish(self, name: str) -> None:
        """The path is computed and stored, its request still runs."""
        self._manager.computed(name, self.fork.tokens(name))
        self._manager.publish(name)

    def finish(self, name: str) -> None:
        """The request is done; its path stays."""
        self._manager.finish(name)

    def slots(self, name: str) -> list[int]:
        """Full slot of every token."""
        # The manager hands out whole pages: what lies behind the path is room.
        return [int(slot) for slot in self._manager.slots(name)[: self.fork.tokens(name)]]

    def window_slots(self, slots: Iterable[int]) -> list[int]:
        """Slot in the window's pool of every token, 0 where it has none."""
        table = self._manager.full_to_swa
        return [int(table[slot]) for slot in slots]

    def mapped(self, slots: Iterable[int]) -> set[int]:
        """Tokens that have a slot in the window's pool."""
        return {token for token, slot in enumerate(self.window_slots(slots)) if slot}

    def placed(self, length: int) -> tuple[StateDescriptor, ...]:
        """What the running request's tokens own, with pages and slots as the events tell them."""
        replayer = Replayer()
        for event in self._sink.events:
            replayer.apply(event)
        place = place_request(replayer, _RUNNING, Extent(0, length))
        return tuple(place(descriptor) for descriptor in derive(self.geometry, 0, length))


class _Memory:
    """What was written to every slot and entry row: the content, and what token it is of."""

    def __init__(self, geometry: Geometry) -> None:
        self._page = geometry.page_size
        self._closed_by = _closed_by(geometry)
        self._in_a_page = _entries_in_a_page(geometry)
        self._cells: dict[tuple[str, int], tuple[str, int]] = {}

    def write(self, cache: _Cache, name: str, start: int) -> None:
        """Compute a path from `start` on: each token's rows, and each entry's with the token that closes it."""
        slots = cache.slots(name)
        window_slots = cache.window_slots(slots)
        for token in range(start, len(slots)):
            content = _content(cache.fork, name, token)
            for cell in self._cells_of(token, slots[token], window_slots[token]):
                self._cells[cell] = content

    def mismatch(self, cache: _Cache, name: str, slots: list[int]) -> Mismatch | None:
        """The first token of a path that lies at another offset of its page, or whose rows hold another's content."""
        window_slots = cache.window_slots(slots)
        for token, slot in enumerate(slots):
            for place in (slot, window_slots[token]):
                if place and (place % self._page != token % self._page or place < self._page):
                    detail = f"token {token} of the {name} path has slot {place}: another offset, or the dummy page"
                    return Mismatch("swa_kv" if place != slot else "", token, f"{detail} ({cache.fork})")
            expected = _content(cache.fork, name, token)
            for label, row in self._cells_of(token, slot, window_slots[token]):
                found = self._cells.get((label, row), ("nothing", -1))
                if found != expected:
                    detail = f"{label} {row} of token {token} of the {name} path holds {found}, expected {expected}"
                    kind = "" if label == _FULL else "swa_kv" if label == _WINDOW else label
                    return Mismatch(kind, row, f"{detail} ({cache.fork})")
        return None

    def closing(self, token: int, slot: int) -> list[tuple[str, int]]:
        """Kind and row of every entry that a token closes: the entries of all slots before its own, counted."""
        labels = self._closed_by[token]
        if not labels:
            return []
        page, offset = divmod(slot, self._page)
        counts = [self._in_a_page[label] for label in labels]
        return [(label, page * count[-1] + count[offset]) for label, count in zip(labels, counts, strict=True)]

    def _cells_of(self, token: int, slot: int, window_slot: int) -> Iterable[tuple[str, int]]:
        window = ((_WINDOW, window_slot),) if window_slot else ()
        return ((_FULL, slot), *window, *self.closing(token, slot))


def _content(fork: Fork, name: str, token: int) -> tuple[str, int]:
    """What tells a token's rows from others; they depend on no later token, so the fork alone parts them."""
    return ("both" if token < fork.cut else name, token)


@lru_cache(maxsize=4)
def _definition_of(geometry: Geometry) -> Definition:
    return run_definition(geometry, 2 * LONGEST)


@lru_cache(maxsize=4)
def _closed_by(geometry: Geometry) -> list[tuple[str, ...]]:
    """Kinds of which each token closes an entry."""
    ranges = [account for account in _definition_of(geometry).accounts if account.rule.shape == "range"]
    return [
        tuple(item.rule.label for item in ranges if item.closed(token + 1) > item.closed(token))
        for token in range(2 * LONGEST)
    ]


@lru_cache(maxsize=4)
def _entries_in_a_page(geometry: Geometry) -> dict[str, list[int]]:
    """Entries that the first slots of a page close, by kind and number of slots."""
    page = geometry.page_size
    accounts = run_definition(geometry, page).accounts
    return {
        account.rule.label: [account.closed(offset) for offset in range(page + 1)]
        for account in accounts
        if account.rule.shape == "range"
    }
