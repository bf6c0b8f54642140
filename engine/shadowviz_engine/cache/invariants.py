"""Checks that the cache's bookkeeping adds up, slot by slot, from tree and requests alone."""

from collections import Counter

from shadowviz_engine.cache.pools import DUMMY_PAGE, PagePool
from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, ancestors, num_tokens
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.core.events import SlotRun


def check_invariants(state: CacheState) -> None:
    """Every slot has one owner; a page is free exactly when none of its slots is owned; a tombstoned span maps no
    window slot; counts add up; locks pair.

    Raises:
        InvariantError: the first contradiction found.
    """
    _check_tree(state)
    full = _owners(state.full, [(f"node {n.id}", n.full) for n in state.tree.nodes.values()], state, "full")
    swa = _owners(state.swa, [(f"node {n.id}", n.swa) for n in state.tree.nodes.values()], state, "swa")
    _check_pool(state.full, full)
    _check_pool(state.swa, swa)
    _check_table(state)
    _check_locks(state)


def _check_tree(state: CacheState) -> None:
    tokens = 0
    for node in state.tree.nodes.values():
        size = node.stop - node.start
        _demand(size > 0 and len(node.key) == size * TOKEN_BYTES, f"node {node.id} spells {len(node.key)} bytes")
        parent = node.parent
        _demand(parent is not None, f"node {node.id} has no parent")
        assert parent is not None
        _demand(parent.stop == node.start, f"node {node.id} begins at {node.start}, its parent ends at {parent.stop}")
        _demand(parent.children.get(node.key[:TOKEN_BYTES]) is node, f"node {node.id} is no child of its parent")
        _demand(num_tokens(node.full) == size, f"node {node.id} owns {num_tokens(node.full)} of {size} full slots")
        live = num_tokens(node.swa)
        _demand(node.swa_live == (live == size), f"node {node.id} says swa_live={node.swa_live} at {live} of {size}")
        for run in (*node.full, *node.swa):
            _demand(node.start <= run.start < run.stop <= node.stop, f"run {run} lies outside node {node.id}")
        tokens += size
    _demand(tokens == state.num_tree_tokens, f"the tree holds {tokens} tokens, the count says {state.num_tree_tokens}")


def _owners(pool: PagePool, holders: list[tuple[str, list[SlotRun]]], state: CacheState, name: str) -> dict[int, str]:
    owners: dict[int, str] = {}
    requests = [(f"request {s.request}", s.full if name == "full" else s.swa) for s in state.sequences.values()]
    for holder, runs in (*holders, *requests):
        for run in runs:
            for slot in range(run.slot, run.slot + run.stop - run.start):
                _demand(slot // pool.page_size != DUMMY_PAGE, f"{holder} owns slot {slot} of the dummy page in {name}")
                _demand(slot not in owners, f"slot {slot} of {name} has two owners: {owners.get(slot)} and {holder}")
                owners[slot] = holder
            _demand(
                run.slot % pool.page_size == run.start % pool.page_size,
                f"token {run.start} of {holder} lies at slot {run.slot}: offsets in the page differ",
            )
    return owners


def _check_pool(pool: PagePool, owners: dict[int, str]) -> None:
    counts = Counter(slot // pool.page_size for slot in owners)
    free = Counter(pool.free)
    for page in range(DUMMY_PAGE + 1, pool.num_pages + 1):
        _demand(
            pool.owned[page] == counts[page],
            f"page {page} of {pool.name} counts {pool.owned[page]} owned slots, {counts[page]} have an owner",
        )
        expected = 0 if counts[page] else 1
        _demand(
            free[page] == expected,
            f"page {page} of {pool.name} with {counts[page]} owned slots stands {free[page]} times in the free list",
        )


def _check_table(state: CacheState) -> None:
    expected: dict[int, int] = {}
    for full, swa in (
        *((n.full, n.swa) for n in state.tree.nodes.values()),
        *((s.full, s.swa) for s in state.sequences.values()),
    ):
        slot_of = {token: run.slot + token - run.start for run in full for token in range(run.start, run.stop)}
        for run in swa:
            for token in range(run.start, run.stop):
                _demand(token in slot_of, f"window row of token {token} has no full slot with the same owner")
                expected[slot_of[token]] = run.slot + token - run.start
    mapped = {int(slot): int(state.table.slots[slot]) for slot in state.table.slots.nonzero()[0]}
    for slot in mapped.keys() ^ expected.keys():
        _demand(
            False,
            f"full slot {slot} maps window slot {mapped.get(slot, 0)}, its owner holds "
            f"{expected.get(slot, 0)}: a tombstone maps none",
        )
    for slot, value in expected.items():
        _demand(mapped[slot] == value, f"full slot {slot} maps window slot {mapped[slot]}, its owner holds {value}")


def _check_locks(state: CacheState) -> None:
    counts: Counter[int] = Counter()
    for sequence in state.sequences.values():
        if sequence.lock_node is not None:
            counts.update(node.id for node in ancestors(sequence.lock_node))
            _demand(
                _is_alive(state, sequence.lock_node),
                f"request {sequence.request} locks node {sequence.lock_node.id}, which has left the tree",
            )
        _demand(
            sequence.stored == 0 or (sequence.lock_node is not None and sequence.lock_node.stop == sequence.stored),
            f"request {sequence.request} reads {sequence.stored} stored tokens without a lock that ends there",
        )
    for node in state.tree.nodes.values():
        _demand(
            node.locks == counts[node.id], f"node {node.id} counts {node.locks} locks, requests hold {counts[node.id]}"
        )


def _is_alive(state: CacheState, node: Node) -> bool:
    return state.tree.nodes.get(node.id) is node


def _demand(holds: bool, contradiction: str) -> None:
    if not holds:
        raise InvariantError(contradiction)
