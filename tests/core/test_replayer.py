"""Replay against a model by dictionaries, forwards and backwards."""

import random
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.columns import REQUEST_STATES, RunStore
from shadowviz_engine.core.events import (
    Event,
    LookupDone,
    PathEnded,
    PathLocked,
    PathUnlocked,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    SlotRun,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    StepDone,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.holdings import cut_runs, take_run, take_runs
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import HolderState, NodeState, pack_ids, state_digest

Slots = dict[int, int]
"""Slot by token position."""


def runs_of(slots: Slots) -> tuple[SlotRun, ...]:
    runs: list[SlotRun] = []
    for position, slot in sorted(slots.items()):
        if runs and runs[-1].stop == position and runs[-1].slot + position - runs[-1].start == slot:
            runs[-1] = SlotRun(runs[-1].start, position + 1, runs[-1].slot)
        else:
            runs.append(SlotRun(position, position + 1, slot))
    return tuple(runs)


class Node:
    def __init__(self, parent: int, start: int, ids: list[int], namespace: str) -> None:
        self.parent, self.start, self.ids, self.namespace = parent, start, ids, namespace
        self.terminal, self.locks, self.used = False, 0, -1
        self.slots: dict[str, Slots] = {"full": {}, "swa": {}}

    @property
    def stop(self) -> int:
        return self.start + len(self.ids)


class Request:
    def __init__(self, prompt: list[int], namespace: str) -> None:
        self.ids, self.num_prompt, self.namespace = prompt, len(prompt), namespace
        self.state, self.computed, self.lookup, self.lock = "queued", 0, -1, 0
        self.slots: dict[str, Slots] = {"full": {}, "swa": {}}


class Model:
    """The state by dictionaries and one slot a token; every operation gives valid events or none."""

    def __init__(self, seed: int, scale: int = 1) -> None:
        self.random = random.Random(seed)
        self.scale = scale
        self.nodes: dict[int, Node] = {}
        self.num_nodes = 1
        self.requests: dict[str, Request] = {}
        self.running: list[str] = []
        self.free = {pool: list(range(1, 4000 * scale)) for pool in ("full", "swa")}
        self.seq = -1

    def events(self, num_operations: int) -> Iterator[Event]:
        operations = (
            self.submit, self.submit, self.wait, self.look_up, self.look_up, self.take, self.take, self.take,
            self.step, self.step, self.insert, self.insert, self.insert, self.split, self.end_path, self.free_swa,
            self.publish_swa, self.evict, self.give_back, self.finish, self.abort, self.relock,
        )  # fmt: skip
        for _ in range(num_operations):
            yield from self.random.choice(operations)()

    def place(self) -> dict[str, int]:
        self.seq += 1
        return {"seq": self.seq, "t_ns": self.seq * 10}

    def some_running(self) -> tuple[str, Request] | None:
        if not self.running:
            return None
        name = self.random.choice(self.running)
        return name, self.requests[name]

    def some_node(self) -> int | None:
        return self.random.choice(list(self.nodes)) if self.nodes else None

    def path(self, node: int) -> list[int]:
        return [node, *self.path(self.nodes[node].parent)] if node else []

    def children(self, node: int, namespace: str) -> list[int]:
        return [i for i, n in self.nodes.items() if n.parent == node and n.namespace == namespace]

    def walk(self, ids: list[int], namespace: str) -> tuple[int, int]:
        """Deepest node that the ids reach into, and how many agree."""
        node, common = 0, 0
        while True:
            below = [c for c in self.children(node, namespace) if ids[common : common + 1] == self.nodes[c].ids[:1]]
            if not below:
                return node, common
            node = below[0]
            for id_ in self.nodes[node].ids:
                if common == len(ids) or ids[common] != id_:
                    return node, common
                common += 1

    def submit(self) -> Iterator[Event]:
        if len(self.running) >= 8:
            return
        known = [r.ids for r in self.requests.values()] or [[]]
        base = self.random.choice(known)
        shared = base[: self.random.randint(0, len(base))]
        fresh = [self.random.randint(0, 3) for _ in range(self.random.randint(1, 12) * self.scale)]
        name, namespace = f"r{len(self.requests)}", self.random.choice(("", "", "tenant"))
        self.requests[name] = Request(shared + fresh, namespace)
        self.running.append(name)
        yield RequestSubmitted(**self.place(), request=name, tokens=pack_ids(shared + fresh), namespace=namespace)

    def wait(self) -> Iterator[Event]:
        if chosen := self.some_running():
            chosen[1].state = "waiting"
            yield RequestWaited(**self.place(), request=chosen[0], pool="full", needed_pages=2, free_pages=1)

    def look_up(self) -> Iterator[Event]:
        chosen = self.some_running()
        if not chosen or chosen[1].lookup >= 0:
            return
        name, request = chosen
        node, common = self.walk(request.ids, request.namespace)
        place = self.place()
        request.state, request.lookup, request.computed = "prefill", place["seq"], min(common, request.num_prompt - 1)
        for above in self.path(node):
            self.nodes[above].used = place["seq"]
        yield LookupDone(
            **place, request=name, num_prompt=request.num_prompt, common=common, cap=request.num_prompt - 1, unit=1,
            matched=request.computed, usable=request.computed, reused=request.computed, node=node,
        )  # fmt: skip
        if node and common < self.nodes[node].stop:
            at = common - self.nodes[node].start
            node = self.num_nodes
            yield self.split_at(self.path(self.walk(request.ids, request.namespace)[0])[0], at)
        yield from self.lock(name, node)

    def lock(self, name: str, node: int) -> Iterator[Event]:
        before = self.requests[name].lock
        for above in self.path(node):
            self.nodes[above].locks += 1
        self.requests[name].lock = node
        yield PathLocked(**self.place(), request=name, node=node)
        if before:
            yield from self.unlock(name, before)

    def unlock(self, name: str, node: int) -> Iterator[Event]:
        for above in self.path(node):
            self.nodes[above].locks -= 1
        if self.requests[name].lock == node:
            self.requests[name].lock = 0
        yield PathUnlocked(**self.place(), request=name, node=node)

    def relock(self) -> Iterator[Event]:
        chosen = self.some_running()
        if chosen and chosen[1].lock:
            yield from self.unlock(chosen[0], chosen[1].lock)

    def take(self) -> Iterator[Event]:
        if chosen := self.some_running():
            name, request = chosen
            pool = self.random.choice(("full", "swa"))
            start = self.random.randint(0, len(request.ids) - 1)
            stop = min(len(request.ids), start + self.random.randint(1, 8) * self.scale)
            free = [p for p in range(start, stop) if p not in request.slots[pool]]
            yield from self.take_at(name, pool, free)

    def take_at(self, name: str, pool: str, positions: list[int]) -> Iterator[Event]:
        slots = {}
        for position in positions:
            slots[position] = self.free[pool].pop(self.random.choice((0, 0, 0, 0, -1)))
        if slots:
            self.requests[name].slots[pool] |= slots
            yield SlotsTaken(**self.place(), request=name, pool=pool, runs=runs_of(slots))

    def give_back(self) -> Iterator[Event]:
        if chosen := self.some_running():
            name, request = chosen
            pool = self.random.choice(("full", "swa"))
            freed = {p: s for p, s in request.slots[pool].items() if self.random.random() < 0.5}
            if freed:
                for position, slot in freed.items():
                    del request.slots[pool][position]
                    self.free[pool].append(slot)
                yield SlotsFreed(**self.place(), request=name, pool=pool, runs=runs_of(freed))

    def step(self) -> Iterator[Event]:
        chunks, decoded = [], []
        for name in self.running:
            request = self.requests[name]
            if request.computed < request.num_prompt:
                stop = self.random.randint(request.computed + 1, request.num_prompt)
                chunks.append((name, request.computed, stop))
                request.computed = stop
                request.state = "decode" if stop == request.num_prompt else "prefill"
            else:
                decoded.append(name)
                request.computed += 1
                request.state = "decode"
        if chunks or decoded:
            yield StepDone(**self.place(), prefill=tuple(chunks), decode=tuple(decoded))

    def insert(self) -> Iterator[Event]:
        if not self.requests:
            return
        name = self.random.choice(list(self.requests))
        request = self.requests[name]
        parent, common = self.walk(request.ids, request.namespace)
        start = self.nodes[parent].stop if parent else 0
        if common != start or start == len(request.ids):
            return
        stop = self.random.randint(start + 1, len(request.ids))
        node = Node(parent, start, request.ids[start:stop], request.namespace)
        for pool in ("full", "swa"):
            node.slots[pool] = {p: s for p, s in request.slots[pool].items() if start <= p < stop}
            for position in node.slots[pool]:
                del request.slots[pool][position]
        place = self.place()
        node.terminal, node.used = self.random.random() < 0.5, place["seq"]
        self.nodes[self.num_nodes] = node
        self.num_nodes += 1
        yield SpanInserted(
            **place, node=self.num_nodes - 1, parent=parent, request=name, start=start, stop=stop,
            namespace=request.namespace, full=runs_of(node.slots["full"]), swa=runs_of(node.slots["swa"]),
            terminal=node.terminal,
        )  # fmt: skip
        if name in self.running:
            yield from self.lock(name, self.num_nodes - 1)

    def split(self) -> Iterator[Event]:
        node = self.some_node()
        if node and len(self.nodes[node].ids) > 1:
            yield self.split_at(node, self.random.randint(1, len(self.nodes[node].ids) - 1))

    def split_at(self, node: int, at: int) -> Event:
        lower, upper = self.nodes[node], self.num_nodes
        self.num_nodes += 1
        above = Node(lower.parent, lower.start, lower.ids[:at], lower.namespace)
        above.locks, above.used = lower.locks, lower.used
        lower.parent, lower.start, lower.ids = upper, lower.start + at, lower.ids[at:]
        for pool in ("full", "swa"):
            above.slots[pool] = {p: s for p, s in lower.slots[pool].items() if p < lower.start}
            lower.slots[pool] = {p: s for p, s in lower.slots[pool].items() if p >= lower.start}
        self.nodes[upper] = above
        return SpanSplit(**self.place(), node=node, at=at, upper=upper)

    def end_path(self) -> Iterator[Event]:
        if node := self.some_node():
            self.nodes[node].terminal = True
            yield PathEnded(**self.place(), node=node)

    def free_swa(self) -> Iterator[Event]:
        node = self.some_node()
        if node and self.nodes[node].slots["swa"]:
            held = self.nodes[node]
            start = self.random.randint(held.start, held.stop - 1)
            stop = self.random.randint(start + 1, held.stop)
            freed = [p for p in held.slots["swa"] if start <= p < stop]
            if freed:
                self.free["swa"] += [held.slots["swa"].pop(p) for p in freed]
                yield SwaFreed(**self.place(), node=node, start=start, stop=stop, reason="retention")

    def publish_swa(self) -> Iterator[Event]:
        chosen = self.some_running()
        if not chosen or not chosen[1].lock:
            return
        name, request = chosen
        node = self.random.choice(self.path(request.lock))
        held = self.nodes[node]
        missing = [p for p in range(held.start, held.stop) if p not in held.slots["swa"]]
        yield from self.take_at(name, "swa", [p for p in missing if p not in request.slots["swa"]])
        moved = {p: request.slots["swa"].pop(p) for p in missing if self.random.random() < 0.8}
        if moved:
            held.slots["swa"] |= moved
            yield SwaPublished(**self.place(), node=node, request=name, runs=runs_of(moved))

    def evict(self) -> Iterator[Event]:
        parents = {n.parent for n in self.nodes.values()}
        leaves = [i for i, n in self.nodes.items() if i not in parents and not n.locks]
        if leaves:
            node = self.random.choice(leaves)
            left = self.nodes.pop(node)
            for pool in ("full", "swa"):
                self.free[pool] += left.slots[pool].values()
            yield SpanEvicted(**self.place(), node=node, reason="lru", length=len(left.ids))

    def finish(self) -> Iterator[Event]:
        if chosen := self.some_running():
            name, request = chosen
            output = [self.random.randint(0, 3) for _ in range(self.random.randint(0, 6))]
            request.ids, request.state = request.ids + output, "done"
            self.running.remove(name)
            yield RequestFinished(**self.place(), request=name, reason="length", tokens=pack_ids(output))
            if request.lock:
                yield from self.unlock(name, request.lock)

    def abort(self) -> Iterator[Event]:
        if self.random.random() < 0.3 and (chosen := self.some_running()):
            name, request = chosen
            request.state = "aborted"
            self.running.remove(name)
            yield RequestAborted(**self.place(), request=name, reason="client", computed=request.computed)
            if request.lock:
                yield from self.unlock(name, request.lock)

    def digest(self) -> str:
        nodes = [
            NodeState(
                i, n.parent, n.start, n.stop, n.namespace, n.terminal, n.locks, pack_ids(n.ids),
                runs_of(n.slots["full"]), runs_of(n.slots["swa"]),
            )
            for i, n in self.nodes.items()
        ]  # fmt: skip
        holders = [
            HolderState(name, runs_of(r.slots["full"]), runs_of(r.slots["swa"]))
            for name, r in self.requests.items()
            if r.slots["full"] or r.slots["swa"]
        ]
        return state_digest(nodes, holders)


random_runs = given(seed=st.integers(0, 2**32), num_operations=st.integers(1, 150))


def picture(replayer: Replayer) -> object:
    """Everything the replayer keeps, as values."""
    nodes, requests = replayer.nodes, replayer.requests
    return (
        replayer.seq,
        [list(getattr(nodes, name)) for name in nodes.__slots__],
        [list(getattr(requests, name)) for name in requests.__slots__],
        list(replayer.namespaces.names),
        list(replayer.tokens),
        list(replayer.runs.flat),
        {pool: dict(held) for pool, held in replayer.held.items()},
    )


@random_runs
def test_a_replayed_run_has_the_state_of_an_independent_model_after_every_event(seed: int, num_operations: int) -> None:
    model, replayer = Model(seed), Replayer()
    for event in model.events(num_operations):
        replayer.apply(event)
        if event.seq % 5 == 0:
            assert replayer.digest() == model.digest()
    assert replayer.digest() == model.digest()
    assert {n: replayer.nodes.last_used[n] for n in model.nodes} == {n: m.used for n, m in model.nodes.items()}
    for row, request in enumerate(model.requests.values()):
        columns = replayer.requests
        assert REQUEST_STATES[columns.state[row]] == request.state
        assert columns.computed[row] == request.computed
        assert columns.lookup[row] == request.lookup
        assert columns.lock_node[row] == request.lock
        assert list(replayer.request_tokens(row)) == request.ids


@random_runs
def test_undoing_every_event_gives_back_every_earlier_state(seed: int, num_operations: int) -> None:
    replayer = Replayer()
    steps = []
    for event in Model(seed).events(num_operations):
        before = picture(replayer)
        digest = replayer.digest()
        steps.append((before, digest, replayer.apply(event)))
    last = picture(replayer)
    for before, digest, undo in reversed(steps):
        replayer.undo(undo)
        assert replayer.digest() == digest
        assert picture(replayer) == before
    for event in Model(seed).events(num_operations):
        replayer.apply(event)
    assert picture(replayer) == last


@random_runs
def test_advancing_in_any_pieces_gives_the_state_of_applying_and_can_be_gone_on_from(
    seed: int, num_operations: int
) -> None:
    events = list(Model(seed).events(num_operations))
    applied, advanced, rng = Replayer(), Replayer(), random.Random(seed)
    assert advanced.advance([]) is None
    done = 0
    while done < len(events):
        piece = events[done : done + rng.randint(1, 20)]
        for event in piece:
            applied.apply(event)
        assert advanced.advance(iter(piece)) is piece[-1]
        assert picture(advanced) == picture(applied)
        done += len(piece)
    if events:
        whole = Replayer()
        whole.advance(events[:-1])
        before = picture(whole)
        whole.undo(whole.apply(events[-1]))
        assert picture(whole) == before


@random_runs
def test_the_digest_of_the_columns_is_that_of_the_nodes_one_by_one(seed: int, num_operations: int) -> None:
    replayer = Replayer()
    replayer.advance(Model(seed).events(num_operations))
    assert replayer.digest() == state_digest(replayer.node_states(), replayer.holder_states())


@pytest.mark.parametrize("num_nodes", [14, 15, 16, 17, 1023, 1024, 1025, 1040])
def test_the_digest_is_that_of_row_after_row_however_many_are_encoded_at_once(num_nodes: int) -> None:
    nodes = [
        NodeState(i, i - 1, i, i + 1, "", False, 0, pack_ids([i]), (SlotRun(i, i + 1, 7),), ())
        for i in range(1, num_nodes + 1)
    ]
    encoder, digest = msgspec.msgpack.Encoder(), blake2b(digest_size=16)
    for n in nodes:
        tokens = blake2b(n.tokens, digest_size=8).digest()
        digest.update(encoder.encode(((n.node, n.parent, n.start, n.stop, "", False, 0, tokens), n.full, n.swa)))
    assert state_digest(reversed(nodes), []) == digest.hexdigest()


cuts = st.lists(st.integers(1, 6), max_size=12)


@given(cuts, st.integers(0, 50), st.integers(0, 3))
def test_stored_runs_are_cut_as_loose_ones_and_what_was_stored_stays(sizes: list[int], position: int, odd: int) -> None:
    bounds = [0, *accumulate(sizes)]
    runs = tuple((a, b, 100 * i + a) for i, (a, b) in enumerate(pairwise(bounds)) if i % 4 != odd)
    store = RunStore()
    store.append([(1, 2, 3)])
    at = store.append(runs)
    stored = list(store.flat)
    before_at, num_before, after_at, num_after = store.cut(at, len(runs), position)
    expected = cut_runs(runs, 0, position)
    assert (store.read(before_at, num_before), store.read(after_at, num_after)) == expected
    assert list(store.flat[: len(stored)]) == stored


@given(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 30)), st.integers(0, 9), st.integers(1, 9))
def test_one_run_is_taken_from_one_as_from_many(taken: tuple[int, int, int], low: int, size: int) -> None:
    held = (low, low + size, 20)
    if taken[0] < taken[1]:
        assert take_run(held, taken) == take_runs((held,), (taken,))
    else:
        assert take_run(held, taken) is None
