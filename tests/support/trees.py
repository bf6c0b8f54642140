"""Real states of trees for tests of pictures: small ones made by the real cache, large ones as columns."""

import random
from array import array

import numpy as np
from cache_driver import Driver, options
from cache_walks import CacheWalk

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import state_caption
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.events import SCHEMA, LogOpened, RequestSubmitted, SlotRun, SlotsTaken, SpanInserted
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.snapshot import pack_ids


def opened_of(geometry: Geometry, chosen: CacheOptions) -> LogOpened:
    """What an engine around a test's cache would have put at the head of its log."""
    return LogOpened(
        seq=0,
        t_ns=0,
        schema=SCHEMA,
        geometry=geometry,
        resume=chosen.resume,
        unit=chosen.unit,
        match_mode=chosen.match_mode,
        retention=chosen.retention,
        policy=chosen.policy,
        num_full_pages=chosen.num_full_pages,
        num_swa_pages=chosen.num_swa_pages,
        cache_on=chosen.cache_on,
    )


def replayed(driver: Driver, geometry: Geometry, chosen: CacheOptions) -> Replayer:
    """The state that the events of a driver give."""
    state = Replayer()
    state.opened = opened_of(geometry, chosen)
    for event in driver.events:
        state.apply(event)
    return state


def walked(seed: int, num_steps: int = 120, policy: str = "") -> tuple[CacheWalk, Replayer]:
    """A random cache after random requests, some still running, and its replayed state."""
    walk = _Unchecked(random.Random(seed))
    if policy:
        walk.options = CacheOptions(
            num_full_pages=walk.options.num_full_pages,
            num_swa_pages=walk.options.num_swa_pages,
            resume=walk.options.resume,
            retention=walk.options.retention,
            policy=policy,
        )
        walk.driver = Driver(walk.geometry, walk.options)
    for _ in range(num_steps):
        walk.step()
    return walk, replayed(walk.driver, walk.geometry, walk.options)


class _Unchecked(CacheWalk):
    """A walk whose bookkeeping other tests check after every step."""

    def check(self) -> None:
        pass

    def check_lookup(self, *_: object) -> None:
        pass


def chat_state(**changes: object) -> Replayer:
    """A server's morning on `v4-flash`: one system prompt, conversations that fork, a tenant of its own, a request
    that still runs, window rows freed under pressure.
    """
    geometry, chosen = preset("v4-flash"), options(**({"num_swa_pages": 14} | changes))
    driver = Driver(geometry, chosen)
    system = list(range(1_000, 2_024))
    for turn in range(3):
        driver.run([*system, *range(5_000, 5_300 + 300 * turn)], output=range(9_000, 9_040))
    driver.run([*system, *range(6_000, 6_700)], output=range(9_100, 9_120))
    driver.run([*range(1_000, 1_512), *range(7_000, 7_300)], namespace="tenant-b", output=range(9_200, 9_210))
    running, _ = driver.start([*system, *range(5_000, 5_200), *range(8_000, 8_500)])
    driver.prefill(running, 1_024 + 200 + 500)
    return replayed(driver, geometry, chosen)


def wide_state(num_nodes: int, seed: int = 0, name: str = "v4-flash") -> Replayer:
    """A state of `num_nodes` nodes in real columns: nodes hang on earlier ones, the first ones have most children.

    Every node has its full slots, two of three their window rows, one of nine a part of them.
    """
    rng = np.random.default_rng(seed)
    geometry = preset(name)
    state = Replayer()
    parents = np.zeros(num_nodes + 1, dtype=np.int64)
    ids = np.arange(1, num_nodes + 1)
    # Half of the nodes hang on one of the first thousand, the others on any that was there before.
    parents[1:] = np.minimum((rng.random(num_nodes) ** 2 * np.where(ids % 2, 1_000, ids)).astype(np.int64), ids - 1)
    lengths = np.zeros(num_nodes + 1, dtype=np.int64)
    lengths[1:] = rng.integers(1, 180, num_nodes)
    start = np.zeros(num_nodes + 1, dtype=np.int64)
    for node, parent in enumerate(parents.tolist()[1:], 1):
        start[node] = start[parent] + lengths[parent]
    _fill_nodes(state, parents, start, start + lengths, rng)
    _fill_runs(state, start, start + lengths, rng)
    pages = int(lengths.sum()) // geometry.page_size + 1
    chosen = CacheOptions(num_full_pages=pages, num_swa_pages=pages)
    state.opened = opened_of(geometry, chosen)
    state.seq = 2 * num_nodes
    return state


def chain_state(num_nodes: int) -> Replayer:
    """A conversation of `num_nodes` turns of four tokens, each a node below the one before; request r1 is its last."""
    geometry, chosen = preset("recall"), options(num_full_pages=num_nodes, num_swa_pages=num_nodes)
    state = Replayer()
    state.opened = opened_of(geometry, chosen)
    length = 4 * num_nodes
    state.apply(RequestSubmitted(seq=1, t_ns=0, request="r1", tokens=pack_ids(range(length))))
    runs = (SlotRun(0, length, 0),)
    for seq, pool in enumerate(("full", "swa"), 2):
        state.apply(SlotsTaken(seq=seq, t_ns=0, request="r1", pool=pool, runs=runs))
    for node in range(1, num_nodes + 1):
        start, stop = 4 * node - 4, 4 * node
        run = (SlotRun(start, stop, start),)
        state.apply(
            SpanInserted(
                seq=node + 4,
                t_ns=0,
                node=node,
                parent=node - 1,
                request="r1",
                start=start,
                stop=stop,
                full=run,
                swa=run,
            )
        )
    return state


def _fill_nodes(
    state: Replayer, parents: np.ndarray, start: np.ndarray, stop: np.ndarray, rng: np.random.Generator
) -> None:
    nodes, num = state.nodes, len(parents)
    first_child, next_sibling, previous = (np.zeros(num, dtype=np.int64) for _ in range(3))
    children: list[int] = [0] * num
    for node, parent in enumerate(parents.tolist()[1:], 1):
        before = children[parent]
        next_sibling[node] = before
        if before:
            previous[before] = node
        children[parent] = node
    first_child[:] = children
    lengths = stop - start
    tokens_at = np.cumsum(lengths) - lengths - start
    state.tokens = array("i", range(119_999)) * (int(lengths.sum()) // 119_999 + 1)
    used = np.concatenate(([-1], rng.integers(0, num * 2, num - 1)))
    columns = {
        "parent": parents, "first_child": first_child, "next_sibling": next_sibling, "previous_sibling": previous,
        "start": start, "stop": stop, "namespace": np.zeros(num), "locks": np.zeros(num), "tokens_at": tokens_at,
        "terminal": np.arange(num) % 3 == 0, "alive": np.ones(num), "last_used": used, "created": used,
        "evicted": np.full(num, -1),
    }  # fmt: skip
    for name, values in columns.items():
        column = getattr(nodes, name)
        column[:] = bytearray(map(int, values)) if isinstance(column, bytearray) else _ints(column.typecode, values)


def _fill_runs(state: Replayer, start: np.ndarray, stop: np.ndarray, rng: np.random.Generator) -> None:
    nodes, num = state.nodes, len(start)
    slot = np.cumsum(stop - start) - (stop - start)
    windows = rng.integers(0, 9, num)
    first = np.where(windows == 1, (start + stop) // 2, start)
    flat = np.stack([start, stop, slot, first, stop, slot + first - start], axis=1)
    at = np.arange(num) * 6
    state.runs.flat = _ints("i", flat.ravel())
    there = np.arange(num) > 0
    nodes.full_at, nodes.full_num = _ints("q", at), _ints("i", there)
    nodes.swa_at, nodes.swa_num = _ints("q", at + 3), _ints("i", there & (windows < 6) & (first < stop))


def _ints(typecode: str, values: np.ndarray) -> "array[int]":
    filled = array(typecode)
    filled.frombytes(np.asarray(values).astype(np.dtype(typecode)).tobytes())
    return filled


def caption_of(state: Replayer) -> Caption:
    """What a caller says of a picture of `state`."""
    return state_caption("Radix tree", "run.jsonl", state, state.seq)
