"""Random walks over the cache manager, checked after every step against definitions written another way."""

import random
from collections.abc import Iterable, Sequence

from cache_driver import Driver

from shadowviz_engine.cache.manager import Admission, Shortage
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.derive import resume_state, retained_tokens
from shadowviz_engine.core.events import LookupDone, SpanInserted, SwaPublished
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, Geometry, LayerSchedule, hybrid_geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.snapshot import unpack_ids
from shadowviz_engine.core.spans import Extent

SMALL = hybrid_geometry(
    "small", 8, 5, (Compressor("csa", 4, overlap=True, indexed=True), Compressor("hca", 8)),
    LayerSchedule((SWA_ONLY, "csa", "hca")), 2,
)  # fmt: skip
NARROW = hybrid_geometry("window of one", 8, 1, (Compressor("hca", 8),), LayerSchedule((SWA_ONLY, "hca")), 0)
GEOMETRIES: tuple[Geometry, ...] = (SMALL, NARROW, preset("recall"), preset("recall-hca"))

STEPS_A_LOOK = 4
"""Steps between two looks at every row; one that is wrong mostly stays so."""


class CacheWalk:
    """One random cache with random requests; every choice comes from `rng`."""

    def __init__(self, rng: random.Random, faults: tuple[str, ...] = ()) -> None:
        self.rng = rng
        self.geometry = rng.choice(GEOMETRIES)
        self.options = CacheOptions(
            num_full_pages=rng.choice([12, 20, 60]),
            num_swa_pages=rng.choice([8, 12, 60]),
            resume=rng.choice(list(ResumeRule)),
            match_mode=rng.choice(["partial", "partial", "classic"]),
            retention=rng.choice(["all", "window", "every:16", "forks"]),
            policy=rng.choice(["lru", "lfu", "fifo"]),
            idle_ttl_s=rng.choice([0.0, 0.0, 1e-3]),
            ghost_entries=rng.choice([8, 1_000]),
        )
        self.driver = Driver(self.geometry, self.options, faults)
        self.bases = [[rng.randrange(3) for _ in range(rng.randrange(1, 60))] for _ in range(4)]
        self.prompts: dict[str, list[int]] = {}
        self.computed: dict[str, int] = {}
        self.outputs_left: dict[str, int] = {}
        self.num_steps = 0
        self.full_rows: dict[int, int] = {}
        """By full slot, digest of the path whose last token was computed there last."""
        self.swa_rows: dict[int, int] = {}

    def step(self) -> None:
        """One random action, then every check."""
        self.driver.now_ns += self.rng.randrange(100_000)
        action = self.rng.random()
        manager = self.driver.manager
        if action < 0.35 and len(self.prompts) < 4:
            self.submit()
        elif action < 0.9 and self.prompts:
            self.advance(self.rng.choice(list(self.prompts)))
        elif action < 0.93 and self.prompts:
            self.end(self.rng.choice(list(self.prompts)), aborted=True)
        elif action < 0.95:
            manager.tick(self.driver.now_ns)
        elif action < 0.97:
            manager.evict(self.rng.randrange(40))
        elif action < 0.975:
            manager.flush()
        else:
            ids, namespace = self.prompt()
            probe = manager.probe(ids, namespace)
            lookup = self.driver.register(ids, namespace)
            self.write_inserted(f"r{self.driver.count}", ids)
            assert isinstance(lookup, Shortage) or lookup.reused == probe.reused
        self.check()

    def prompt(self) -> tuple[list[int], str]:
        rng = self.rng
        base = rng.choice(self.bases)
        ids = base[: rng.randrange(1, len(base) + 1)] + [rng.randrange(3) for _ in range(rng.randrange(20))]
        return ids, rng.choice(["", "", "x"])

    def submit(self) -> None:
        rng = self.rng
        ids, namespace = self.prompt()
        probe = self.driver.manager.probe(ids, namespace)
        self.check_lookup(probe, ids, namespace)
        num_events = len(self.driver.events)
        request, admission = self.driver.admit(ids, namespace, rng.choice([0, 5, 9]))
        looked_up = any(isinstance(event, LookupDone) for event in self.driver.events[num_events:])
        assert looked_up == isinstance(admission, Admission), "a lookup is on record exactly when the request starts"
        if isinstance(admission, Admission):
            assert admission.reused == probe.reused
            self.prompts[request] = ids
            self.computed[request] = admission.reused
            self.outputs_left[request] = rng.randrange(1, 6)

    def advance(self, request: str) -> None:
        manager, rng = self.driver.manager, self.rng
        num_prompt, done = len(self.prompts[request]), self.computed[request]
        if done >= num_prompt and self.outputs_left[request] == 0:
            self.end(request, aborted=False)
            return
        stop = min(num_prompt, done + rng.randrange(1, 10)) if done < num_prompt else done + 1
        if manager.extend(request, stop) is not None:
            if rng.random() < 0.5:
                self.end(request, aborted=True)
            return
        self.write(manager.slots(request), self.tokens_of(request), done, stop)
        manager.computed(request, stop)
        self.computed[request] = stop
        if stop == num_prompt:
            manager.publish(request)
        if stop >= num_prompt:
            self.driver.append(request, rng.randrange(3))
            self.outputs_left[request] -= 1

    def tokens_of(self, request: str) -> list[int]:
        return self.prompts[request] + self.driver.outputs[request]

    def write(self, slots: Sequence[int], path: list[int], start: int, stop: int) -> None:
        """The model writes the rows of tokens [start, stop) of `path`."""
        table, digests = self.driver.manager.full_to_swa, digests_of(path)
        for position in range(start, stop):
            slot = int(slots[position])
            self.full_rows[slot] = self.swa_rows[int(table[slot])] = digests[position]

    def write_inserted(self, request: str, ids: list[int]) -> None:
        """What `register` stores or heals counts as computed, where its rows were kept."""
        digests = digests_of(ids)
        for event in self.driver.events:
            if not isinstance(event, (SpanInserted, SwaPublished)) or event.request != request:
                continue
            whole = isinstance(event, SpanInserted)
            stored = ((event.full, self.full_rows), (event.swa, self.swa_rows)) if whole else ()
            for runs, rows in stored or ((event.runs, self.swa_rows),):
                for run in runs:
                    for position in range(run.start, run.stop):
                        rows[run.slot + position - run.start] = digests[position]

    def end(self, request: str, aborted: bool) -> None:
        if aborted:
            self.driver.abort(request)
        else:
            self.driver.finish(request)
        del self.prompts[request], self.computed[request], self.outputs_left[request]

    def check(self) -> None:
        """The bookkeeping adds up, and every running request finds the rows that its next token reads."""
        manager = self.driver.manager
        manager.check_invariants()
        for request, done in self.computed.items():
            slots, table = manager.slots(request), manager.full_to_swa
            assert len(slots) >= done
            assert all(slots[:done] > 0)
            needed = retained_tokens(self.geometry, done, page_rule=False)
            lost = [p for p in range(needed.start, needed.stop) if not table[slots[p]]]
            assert not lost, f"request {request} at {done} lost the window rows of tokens {lost}"
        self.num_steps += 1
        if self.num_steps % STEPS_A_LOOK == 0:
            self.check_rows()

    def check_rows(self) -> None:
        """Every row that is owned or read is that of the path it is taken for."""
        self.check_stored_rows()
        for request, done in self.computed.items():
            self.check_request_rows(request, done, retained_tokens(self.geometry, done, page_rule=False))

    def check_request_rows(self, request: str, done: int, needed: Extent) -> None:
        """Every row that a request goes on from is that of its own path."""
        slots, table = self.driver.manager.slots(request), self.driver.manager.full_to_swa
        for position, digest in enumerate(digests_of(self.tokens_of(request)[:done])):
            assert self.full_rows.get(int(slots[position])) == digest, f"{request} reads another row at {position}"
            if needed.start <= position < needed.stop:
                row = self.swa_rows.get(int(table[slots[position]]))
                assert row == digest, f"{request} reads another window row at {position}"

    def check_stored_rows(self) -> None:
        """Every stored token owns the rows of its own path, and rows that were computed."""
        digests: dict[int, int] = {}
        for node in sorted(self.driver.manager.node_states(), key=lambda node: node.start):
            path = digests_of(unpack_ids(node.tokens), digests.get(node.parent, 0))
            digests[node.node] = path[-1]
            for runs, rows, name in ((node.full, self.full_rows, "full"), (node.swa, self.swa_rows, "window")):
                for run in runs:
                    for position in range(run.start, run.stop):
                        found = rows.get(run.slot + position - run.start)
                        assert found == path[position - node.start], (
                            f"token {position} of node {node.node} owns another {name} row than its own"
                        )

    def check_lookup(self, lookup: LookupDone, ids: list[int], namespace: str) -> None:
        """`common` and `reused` by brute force over the tree's paths and the table."""
        paths = self.stored_paths(namespace)
        best: list[tuple[int, int]] = []
        for path in paths:
            equal = next((i for i, (t, p) in enumerate(zip(ids, path, strict=False)) if t != p[0]), None)
            length = min(len(ids), len(path)) if equal is None else equal
            if self.options.match_mode == "classic":
                length = max((i + 1 for i in range(length) if path[i][2]), default=0)
            if length > len(best):
                best = [(slot, mapped) for _, slot, _, mapped in path[:length]]
        assert lookup.common == len(best)
        limit = min(len(best), len(ids) - 1)
        assert lookup.reused == next(n for n in range(limit, -1, -1) if self.resumable(best, n))

    def resumable(self, path: list[tuple[int, int]], length: int) -> bool:
        """Whether every row that a resume at `length` reads is there, row by row."""
        page = self.options.resume is ResumeRule.PAGE
        if page and length % self.geometry.page_size:
            return False
        for descriptor in resume_state(self.geometry, length):
            kind = self.geometry.kind(descriptor.kind)
            if kind.shape is Shape.RANGE:
                continue
            first = descriptor.rows.start
            if page and kind.shape is Shape.WINDOW:
                first = max(0, length - kind.page_need)
            if not all(mapped for _, mapped in path[first:length]):
                return False
        return True

    def stored_paths(self, namespace: str) -> list[list[tuple[int, int, bool, int]]]:
        """Root-to-node token lists as (token, full slot, ends a registered path, window slot)."""
        nodes = {node.node: node for node in self.driver.manager.node_states()}
        table = self.driver.manager.full_to_swa
        paths = []
        for node in nodes.values():
            if node.namespace != namespace:
                continue
            tokens: list[tuple[int, int, bool, int]] = []
            link = node
            while link is not None:
                slots = [run.slot + i for run in link.full for i in range(run.stop - run.start)]
                ids = unpack_ids(link.tokens)
                last = len(ids) - 1
                tokens = [
                    (token, slot, i == last and link.terminal, int(table[slot]))
                    for i, (token, slot) in enumerate(zip(ids, slots, strict=True))
                ] + tokens
                link = nodes.get(link.parent)
            paths.append(tokens)
        return paths

    def drain(self) -> None:
        """End everything; afterwards the pools are as they were."""
        self.check_rows()
        for request in list(self.prompts):
            self.end(request, aborted=True)
        self.driver.manager.flush()
        self.driver.manager.check_invariants()
        assert not self.driver.manager.state.tree.nodes
        assert all(pool.free_pages == pool.num_pages for pool in self.driver.manager.pools())


def digests_of(tokens: Iterable[int], before: int = 0) -> list[int]:
    """For every token a number that stands for the path up to it; `before` is that of the path above."""
    found = []
    for token in tokens:
        before = hash((before, token))
        found.append(before)
    return found
