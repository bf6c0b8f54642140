"""What is timed on a prefix tree, and how."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Latency:
    """Wall time of one call over many, in microseconds."""

    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class TreeFigures:
    """Figures of one tree on one workload.

    `insert` is the whole path of a request's prompt into the tree: match, slots for the rest, publish. The lookups are
    of prompts that are stored, that part from a stored one inside a page, and that share nothing.
    """

    insert: Latency
    full_match: Latency
    partial_match: Latency
    miss: Latency
    evict_half_s: float
    evict_half_tokens: int
    full_match_tokens: int
    """Length that a lookup of every stored prompt gave."""
    partial_match_tokens: float
    """Mean length over the prompts that part from a stored one."""

    @property
    def evict_tokens_per_s(self) -> float:
        """Tokens let go in a second while half of the tree is evicted in one call."""
        return self.evict_half_tokens / self.evict_half_s

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Self:
        """The figures that `dataclasses.asdict` took apart."""
        latencies = ("insert", "full_match", "partial_match", "miss")
        return cls(**{**fields, **{name: Latency(**fields[name]) for name in latencies}})


def time_calls(call: Callable[[Item], object], items: Iterable[Item]) -> Latency:
    """Latency of one call an item, each timed alone and its answer let go before the next."""
    durations = []
    clock = time.perf_counter_ns
    for item in items:
        begun = clock()
        call(item)
        durations.append(clock() - begun)
    durations.sort()
    return Latency(durations[len(durations) // 2] / 1e3, durations[len(durations) * 99 // 100] / 1e3)
