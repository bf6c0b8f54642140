"""Our prefix tree on the workload that the peers are timed on."""

import gc
import time
from array import array
from itertools import count

from shadowviz.experiments.tree_figures import TreeFigures, time_calls
from shadowviz.experiments.workload import Workload
from shadowviz_engine.cache.manager import CacheManager
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.sinks import Emitter, MemorySink


def tree_figures(prompts: Workload, page_size: int) -> TreeFigures:
    """Figures of our tree, from ids as `array('q')` to the recorded event, with every rule's plan.

    An insert is the lookup with its event, slots of both pools with the table between them, and the publication with
    its events.
    """
    geometry = preset("v4-flash")
    assert geometry.page_size == page_size, f"the figures are for pages of {geometry.page_size} tokens"
    num_pages = len(prompts.stored) * (len(prompts.stored[0]) // page_size + 1)
    options = CacheOptions(num_full_pages=num_pages, num_swa_pages=num_pages, retention="all")
    # A ring holds what a writer would take next, so that events cost what they cost.
    cache = CacheManager(geometry, options, Emitter(MemorySink(4_096), time.monotonic_ns))
    names = map(str, count())

    def insert(ids: "array[int]") -> None:
        cache.register(next(names), ids)

    def match(ids: "array[int]") -> None:
        cache.lookup("", ids)

    gc.collect()
    inserted = time_calls(insert, prompts.stored)
    full = time_calls(match, prompts.stored)
    partial = time_calls(match, prompts.partial)
    missing = time_calls(match, prompts.missing)
    matched = {cache.probe([*ids, 0]).matched for ids in prompts.stored[:50]}
    assert matched == {len(prompts.stored[0]) // page_size * page_size}, f"stored prompts match {matched} tokens"
    partial_tokens = sum(cache.probe(ids).matched for ids in prompts.partial) / len(prompts.partial)
    begun = time.perf_counter()
    evicted = cache.evict(cache.state.num_tree_tokens // 2)
    seconds = time.perf_counter() - begun
    return TreeFigures(inserted, full, partial, missing, seconds, evicted, matched.pop(), partial_tokens)
