"""Pools sized from bytes, from a share of memory, or from pages."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.errors import CapacityError, InputError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.sizing import (
    DEFAULT_POOL_BYTES,
    PageBytes,
    PoolSizes,
    free_memory,
    page_bytes,
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"page_size": -1}, "page_size -1 must be at least 0"),
        ({"max_running": 0}, "max_running 0 must be at least 1"),
        ({"chunk_tokens": 0}, "chunk_tokens 0 must be at least 1"),
        ({"mem_fraction": 1.0}, "mem_fraction 1.0 must be"),
        ({"mem_fraction": 0.5, "pool_bytes": 9}, "give one of the two"),
        ({"idle_ttl_s": -1.0}, "idle_ttl_s -1.0"),
        ({"record": "full"}, "needs a file"),
        ({"sidecar": "x.topk"}, "'lookups' has none"),
    ],
)
def test_options_out_of_range_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        EngineOptions(**changes)
