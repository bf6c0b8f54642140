"""Each contradiction of the bookkeeping is named, whoever brought it about."""

from collections.abc import Callable

import pytest
from cache_driver import Driver, options

from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.core.events import SlotRun
from shadowviz_engine.core.presets import preset


def give_one_slot_to_two_tokens(state: CacheState) -> None:
    node = state.tree.nodes[1]
    node.full = [SlotRun(0, 16, node.full[0].slot), SlotRun(16, 32, node.full[0].slot)]


def give_one_slot_to_two_nodes(state: CacheState) -> None:
    state.tree.nodes[2].full = state.tree.nodes[1].full


def free_a_page_in_use(state: CacheState) -> None:
    state.full.free.append(state.tree.nodes[1].full[0].slot // 16)


def forget_a_free_page(state: CacheState) -> None:
    state.swa.free.pop()


def count_a_slot_too_many(state: CacheState) -> None:
    state.full.owned[state.tree.nodes[1].full[0].slot // 16] += 1


def map_a_tombstone(state: CacheState) -> None:
    node = state.tree.nodes[1]
    state.swa.release(node.swa)
    node.swa, node.swa_live = [], False


def miscount_the_tree(state: CacheState) -> None:
    state.num_tree_tokens += 1


def lock_for_nobody(state: CacheState) -> None:
    state.tree.nodes[1].locks += 1


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (give_one_slot_to_two_tokens, "slot 16 of full has two owners: node 1 and node 1"),
        (give_one_slot_to_two_nodes, "slot 16 of full has two owners: node 1 and node 2"),
        (free_a_page_in_use, "page 1 of full with 16 owned slots stands 1 times in the free list"),
        (forget_a_free_page, "page 5 of swa with 0 owned slots stands 0 times in the free list"),
        (count_a_slot_too_many, "page 1 of full counts 17 owned slots, 16 have an owner"),
        (map_a_tombstone, "full slot 16 maps window slot 16, its owner holds 0: a tombstone maps none"),
        (miscount_the_tree, "the tree holds 64 tokens, the count says 65"),
        (lock_for_nobody, "node 1 counts 1 locks, requests hold 0"),
    ],
)
def test_damaged_books_are_named(damage: Callable[[CacheState], None], named: str) -> None:
    driver = Driver(preset("recall"), options(num_full_pages=40, num_swa_pages=40, retention="all"))
    driver.run(range(32))
    driver.run(range(100, 132))
    state = driver.manager.state
    damage(state)
    with pytest.raises(InvariantError) as error:
        driver.manager.check_invariants()
    assert str(error.value) == named
