"""Pools sized from bytes, from a share of memory, or from pages."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from shadowviz_engine.core.errors import CapacityError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.sizing import (
    DEFAULT_POOL_BYTES,
    PageBytes,
    PoolSizes,
    free_memory,
    least_pool_bytes,
    least_pools,
    page_bytes,
    shortfall,
    size_pools,
    window_pages,
)

TINY = preset("tiny-512")
COST = page_bytes(model_preset("tiny-512"), 256, torch.float32)


def sizes(free_bytes: int = 0, cost: PageBytes = COST, **options: object) -> PoolSizes:
    return size_pools(EngineOptions(model="tiny-512", **options), TINY, cost, free_bytes)


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from((torch.float32, torch.bfloat16)))
def test_bytes_of_pages_are_the_bytes_of_the_buffers(full, swa, dtype):
    config = model_preset("tiny-512")
    buffers = StateBuffers(config, (full + 1) * 256, (swa + 1) * 256, "meta", dtype)
    assert page_bytes(config, 256, dtype).total(full, swa) == buffers.total_bytes


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**10), st.integers(1, 64), st.integers(1, 4096))
def test_pools_fill_their_bytes_and_never_exceed_them(full_cost, swa_cost, budget, max_running, chunk_tokens):
    cost = PageBytes(full_cost, swa_cost)
    switches = {"pool_bytes": budget, "max_running": max_running, "chunk_tokens": chunk_tokens}
    if budget < cost.total(1, 1):
        with pytest.raises(CapacityError, match=f"give --pool-bytes {cost.total(1, 1)} or more"):
            sizes(cost=cost, **switches)
        return
    got = sizes(cost=cost, **switches)
    assert cost.total(got.num_full_pages, got.num_swa_pages) <= budget
    assert cost.total(got.num_full_pages + 1, got.num_swa_pages) > budget
    assert 1 <= got.num_swa_pages <= got.num_full_pages
    batch = max_running * window_pages(TINY, chunk_tokens)
    assert got.num_swa_pages <= max(1, batch, got.num_full_pages // 10 + 1)


def test_a_large_pool_gives_the_window_a_tenth_of_the_pages():
    got = sizes(pool_bytes=2**33, max_running=1)
    assert got.num_full_pages // got.num_swa_pages == 10


def test_a_running_batch_sets_the_least_size_of_the_windows_pool():
    assert window_pages(TINY, 512) == 4
    even = PageBytes(1000, 1000)
    assert sizes(cost=even, pool_bytes=1_002_000, max_running=16) == PoolSizes(910, 90)
    assert sizes(cost=even, pool_bytes=1_002_000, max_running=40) == PoolSizes(840, 160)
    assert sizes(cost=even, pool_bytes=1_002_000, max_running=400) == PoolSizes(500, 500)
    assert sizes(num_full_pages=200, max_running=16) == PoolSizes(200, 64)
    assert sizes(num_full_pages=20, max_running=16) == PoolSizes(20, 20)
    assert sizes(num_full_pages=2000, max_running=1) == PoolSizes(2000, 200)


def test_pages_that_are_given_are_taken():
    assert sizes(num_full_pages=7, num_swa_pages=3) == PoolSizes(7, 3)
    got = sizes(pool_bytes=2**24, num_swa_pages=5)
    assert got.num_swa_pages == 5
    assert 2**24 - COST.full < COST.total(got.num_full_pages, 5) <= 2**24


def test_a_share_of_the_free_memory_is_bytes_like_others():
    assert sizes(free_bytes=2**30, mem_fraction=0.25) == sizes(pool_bytes=2**28)
    assert sizes() == sizes(pool_bytes=DEFAULT_POOL_BYTES)
    assert free_memory(torch.device("cpu")) > 0


LEAST = [
    # tokens, full pages, window pages of page 256 and window 128
    (1, 1, 1),
    (256, 1, 1),
    (257, 2, 2),
    (3000, 12, 2),
]


@pytest.mark.parametrize(("num_tokens", "full", "swa"), LEAST)
def test_the_least_pools_hold_every_entry_but_only_one_window(num_tokens, full, swa):
    least = least_pools(TINY, num_tokens)
    assert least == PoolSizes(full, swa)
    assert shortfall(TINY, num_tokens, least) is None


def test_a_window_longer_than_a_page_needs_more_pages_of_its_pool():
    assert least_pools(preset("tiny-article"), 3000) == PoolSizes(24, 3)


def test_a_shortfall_says_what_is_needed_and_what_is_there():
    assert shortfall(TINY, 3000, PoolSizes(8, 8)) == "needs 12 pages of 256 tokens, the full pool has 8"
    assert shortfall(TINY, 3000, PoolSizes(12, 1)) == "needs 2 pages of 256 tokens, the SWA pool has 1"


@given(
    st.integers(1, 10**5),
    st.integers(1, 10**6),
    st.integers(1, 20_000),
    st.integers(1, 32),
    st.integers(0, 10**7),
)
@example(11_808, 735_982, 34_037, 6, 1_361_422)  # one page more for the window, and the full pool shrinks by 62
def test_the_bytes_named_for_a_request_are_enough_and_so_are_more(full_cost, swa_cost, num_tokens, max_running, more):
    cost = PageBytes(full_cost, swa_cost)
    options = EngineOptions(max_running=max_running)
    budget = least_pool_bytes(options, TINY, cost, num_tokens) + more
    assert shortfall(TINY, num_tokens, sizes(cost=cost, pool_bytes=budget, max_running=max_running)) is None
