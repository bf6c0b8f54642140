"""Times SGLang's prefix tree for full and sliding-window attention; runs in the peers' environment, prints JSON."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import importlib.util
import json
import sys
import time
from array import array
from pathlib import Path
from typing import Any, cast

import torch

from shadowviz.experiments.tree_figures import TreeFigures, time_calls
from shadowviz.experiments.workload import Workload, workload

N_WIN = 128


def declare_missing_operators() -> list[torch.library.Library]:
    """Names that torchvision's Python part insists on where its library is built for another torch; keep the result.

    No operator is called: a CUDA build of torchvision beside a CPU build of torch loads no library, and the import of
    SGLang's configurations would end there.
    """
    found = importlib.util.find_spec("torchvision")
    if found is None or not found.submodule_search_locations:
        return []
    libraries = [path for place in found.submodule_search_locations for path in Path(place).glob("_C*.so")]
    try:
        for library in libraries:
            torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
    except OSError:
        operators = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
        for name in ("nms", "qnms"):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
        return [operators]
    return []


class Tree:
    """SGLang's unified radix cache over its own two-pool allocator, on the CPU, without KV buffers."""

    def __init__(self, core: str, page_size: int, capacity: int) -> None:
        """`core` is `python` or `rust`; `capacity` counts tokens, the same for both pools."""
        from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
        from sglang.srt.mem_cache.base_prefix_cache import EvictParams, InsertParams, MatchPrefixParams
        from sglang.srt.mem_cache.cache_init_params import CacheInitParams
        from sglang.srt.mem_cache.radix_cache import RadixKey
        from sglang.srt.mem_cache.unified_cache.components import ComponentType
        from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache

        self._key, self._match_params, self._insert_params = RadixKey, MatchPrefixParams, InsertParams
        self._evict_params = EvictParams
        self._page_size = page_size
        self._slots = SWATokenToKVPoolAllocator(
            capacity, capacity, page_size, torch.bfloat16, "cpu", pool_without_buffers(), need_sort=False
        )
        self._cache = UnifiedRadixCache(
            CacheInitParams(
                disable=False,
                req_to_token_pool=None,
                token_to_kv_pool_allocator=self._slots,
                page_size=page_size,
                tree_components=(ComponentType.FULL, ComponentType.SWA),
                tree_core_backend=core,
                sliding_window_size=N_WIN,
            )
        )
        running = type(self._cache.tree_core).__name__
        if running.startswith("Rust") != (core == "rust"):
            sys.exit(f"asked SGLang for its {core} core and got {running}")

    def match(self, tokens: array[int]) -> Any:
        """SGLang's own answer to a lookup."""
        return self._cache.match_prefix(self._match_params(key=self._key(tokens)))

    def matched_tokens(self, tokens: array[int]) -> int:
        """Length of prefix that a lookup gives."""
        return cast(int, self.match(tokens).device_prefix_len)

    def insert(self, tokens: array[int]) -> None:
        """Match, take slots of both pools for the whole pages that are new, publish the prompt."""
        found = self.match(tokens)
        num_matched = found.device_prefix_len
        num_new = len(tokens) // self._page_size * self._page_size - num_matched
        full = self._slots.full_attn_allocator.alloc(num_new)
        self._slots.set_full_to_swa_mapping(full, self._slots.swa_attn_allocator.alloc(num_new))
        if num_matched:
            full = torch.cat([self._cache.path_device_indices(found.last_device_node), full])
        self._cache.insert(self._insert_params(key=self._key(tokens), value=full, prev_prefix_len=num_matched))

    def evict_half(self) -> int:
        """Tokens that left when half of the tree was asked to."""
        wanted = self._cache.evictable_size() // 2
        return cast(int, self._cache.evict(self._evict_params(num_tokens=wanted)).num_tokens_evicted)


def pool_without_buffers() -> Any:
    """A KV pool for sliding windows that holds only what the allocator asks of it: the map between its two pools."""
    from sglang.srt.mem_cache.base_swa_memory_pool import BaseSWAKVPool

    class MapOnly(BaseSWAKVPool):  # type: ignore[misc] # its base is not there when types are checked
        full_kv_pool = swa_kv_pool = full_to_swa_index_mapping = None

        def __init__(self) -> None:
            pass

        def register_mapping(self, full_to_swa_index_mapping: torch.Tensor) -> None:
            self.full_to_swa_index_mapping = full_to_swa_index_mapping

        def translate_loc_from_full_to_swa(self, kv_indices: torch.Tensor) -> torch.Tensor:
            assert self.full_to_swa_index_mapping is not None
            return self.full_to_swa_index_mapping[kv_indices]

    # What stays abstract reads and writes rows, and this pool has none.
    MapOnly.__abstractmethods__ = frozenset()
    return MapOnly()


def figures(tree: Tree, prompts: Workload) -> TreeFigures:
    """Every figure of one tree, stored prompts first, eviction last."""
    gc.collect()
    insert = time_calls(tree.insert, prompts.stored)
    full_match = time_calls(tree.match, prompts.stored)
    partial_match = time_calls(tree.match, prompts.partial)
    miss = time_calls(tree.match, prompts.missing)
    lengths = {tree.matched_tokens(tokens) for tokens in prompts.stored}
    partial = [tree.matched_tokens(tokens) for tokens in prompts.partial]
    if len(lengths) != 1:
        sys.exit(f"stored prompts of equal length match at different lengths: {sorted(lengths)}")
    begun = time.perf_counter()
    evicted = tree.evict_half()
    evict_half_s = time.perf_counter() - begun
    return TreeFigures(
        insert=insert,
        full_match=full_match,
        partial_match=partial_match,
        miss=miss,
        evict_half_s=evict_half_s,
        evict_half_tokens=evicted,
        full_match_tokens=lengths.pop(),
        partial_match_tokens=sum(partial) / len(partial),
    )


def main() -> None:
    """Figures by core as one JSON object on the last line of stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nseq", type=int, required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--page-size", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    operators = declare_missing_operators()
    prompts = workload(options.nseq, options.length, options.seed)
    capacity = options.nseq * (options.length // options.page_size + 1) * options.page_size
    by_core = {core: figures(Tree(core, options.page_size, capacity), prompts) for core in ("python", "rust")}
    sys.stdout.write(json.dumps({core: dataclasses.asdict(value) for core, value in by_core.items()}) + "\n")
    del operators


if __name__ == "__main__":
    main()
