"""How many pages the pools get, from bytes or from a share of the free memory."""

import os

import msgspec
import torch

from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.errors import CapacityError, InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.runtime.options import EngineOptions

DEFAULT_POOL_BYTES = 128 * 2**20
"""Bytes of the pools when the options name neither bytes, nor a share, nor pages."""

FULL_PAGES_PER_SWA_PAGE = 10
"""Production default: the window's pool has a tenth of the full pool's slots."""


class PageBytes(msgspec.Struct, frozen=True):
    """Bytes of one page in all kinds and layers of a pool."""

    full: int
    swa: int

    def total(self, num_full_pages: int, num_swa_pages: int) -> int:
        """Bytes of pools of this many pages and their two dummy pages."""
        return (num_full_pages + 1) * self.full + (num_swa_pages + 1) * self.swa


class PoolSizes(msgspec.Struct, frozen=True):
    """Pages of both pools, the dummy pages left out."""

    num_full_pages: int
    num_swa_pages: int


def page_bytes(config: ModelConfig, page_size: int, dtype: torch.dtype) -> PageBytes:
    """Bytes of one page of each pool of a model; rows are counted, none is allocated."""
    full = StateBuffers(config, page_size, 0, "meta", dtype).total_bytes
    swa = StateBuffers(config, 0, page_size, "meta", dtype).total_bytes
    return PageBytes(full, swa)


def pages_of(num_tokens: int, page_size: int) -> int:
    """Pages that hold `num_tokens` from a page's beginning on."""
    return -(-num_tokens // page_size)


def window_pages(geometry: Geometry, chunk_tokens: int) -> int:
    """Pages of the window's pool that one running request holds at most, when it frees what its window left behind.

    The window before a chunk, and the chunk; neither need begin with a page.
    """
    return pages_of(geometry.n_win + chunk_tokens, geometry.page_size) + 1


def size_pools(options: EngineOptions, geometry: Geometry, cost: PageBytes, free_bytes: int) -> PoolSizes:
    """Pages of both pools under `options`.

    The window's pool gets a tenth of the full pool's pages, at least what a running batch needs, at most half of
    the bytes, and never more pages than the full pool.

    Args:
        free_bytes: memory that `mem_fraction` is a share of.

    Raises:
        CapacityError: the bytes hold no page of each pool.
    """
    batch = options.max_running * window_pages(geometry, options.chunk_tokens)
    full, swa = options.num_full_pages, options.num_swa_pages
    if full:
        return PoolSizes(full, swa or min(full, max(batch, _tenth(full))))
    budget = options.pool_bytes or int(options.mem_fraction * free_bytes) or DEFAULT_POOL_BYTES
    room = budget - cost.total(0, 0)
    if not swa:
        swa = max(1, min(batch, room // (2 * cost.swa), room // (cost.full + cost.swa)))
        # Exact division: a page of the full pool together with its tenth of a window page.
        grown = room * FULL_PAGES_PER_SWA_PAGE // (FULL_PAGES_PER_SWA_PAGE * cost.full + cost.swa)
        swa = max(swa, grown // FULL_PAGES_PER_SWA_PAGE)
    full = (room - swa * cost.swa) // cost.full
    if full < 1:
        least = cost.total(1, swa)
        raise CapacityError(
            f"{budget} bytes hold too little: {swa} SWA pages and one full page of {geometry.page_size} tokens cost "
            f"{least}; give --pool-bytes {least} or more"
        )
    return PoolSizes(full, swa)


def least_pools(geometry: Geometry, num_tokens: int) -> PoolSizes:
    """The smallest pools in which one request can hold state for `num_tokens`, alone and reusing nothing.

    It keeps the entries of all its tokens, but of window rows only what the next token reads, and one page to write.
    """
    full = pages_of(num_tokens, geometry.page_size)
    behind = retained_tokens(geometry, num_tokens // geometry.page_size * geometry.page_size, page_rule=False).size
    return PoolSizes(full, min(full, pages_of(behind, geometry.page_size) + 1))


def shortfall(geometry: Geometry, num_tokens: int, pools: PoolSizes) -> str | None:
    """Why a request that grows to `num_tokens` can never fit `pools`; None if it can."""
    least = least_pools(geometry, num_tokens)
    needs = (("full", least.num_full_pages, pools.num_full_pages), ("SWA", least.num_swa_pages, pools.num_swa_pages))
    for pool, needed, there in needs:
        if needed > there:
            return f"needs {needed} pages of {geometry.page_size} tokens, the {pool} pool has {there}"
    return None


def least_pool_bytes(options: EngineOptions, geometry: Geometry, cost: PageBytes, num_tokens: int) -> int:
    """Bytes from which on pools of any size take a request that grows to `num_tokens`."""
    least = least_pools(geometry, num_tokens)
    # One more page for the window's pool can cost the full pool this many.
    spare = cost.swa // cost.full + 1
    budget = cost.total(least.num_full_pages, least.num_swa_pages)
    while True:
        switches = {"pool_bytes": budget, "mem_fraction": 0.0, "num_full_pages": 0, "num_swa_pages": 0}
        pools = size_pools(msgspec.structs.replace(options, **switches), geometry, cost, 0)
        missing_full = least.num_full_pages + spare - pools.num_full_pages
        missing_swa = least.num_swa_pages - pools.num_swa_pages
        if missing_full <= 0 and missing_swa <= 0:
            return budget
        budget += max(missing_full * cost.full, missing_swa * cost.swa)


def free_memory(device: torch.device) -> int:
    """Bytes of memory that nobody uses now, on the device or on the host.

    Raises:
        InputError: the system does not say.
    """
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError) as error:
        raise InputError("this system does not say how much memory is free: give --pool-bytes") from error


def _tenth(num_full_pages: int) -> int:
    return pages_of(num_full_pages, FULL_PAGES_PER_SWA_PAGE)
