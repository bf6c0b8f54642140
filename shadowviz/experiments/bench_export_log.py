"""A log as large as asked for, to be drawn: requests on a cache, and copies of them in namespaces of their own."""

import random
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from shadowviz_engine.cache.manager import CacheManager
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.events import (
    SCHEMA,
    Event,
    LogOpened,
    LookupDone,
    PathLocked,
    PathUnlocked,
    RequestFinished,
    RequestSubmitted,
    SlotRun,
    SlotsFreed,
    SlotsTaken,
    SpanInserted,
    SpanSplit,
    StepDone,
)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.sinks import Emitter, MemorySink
from shadowviz_engine.core.snapshot import pack_ids

STEMS, STEM, REST, VOCABULARY = 50, 16, 24, 80
"""Common beginnings of prompts and their tokens, tokens of each prompt behind one, and how many tokens there are."""
_BATCH = 4096


def write_log(path: Path, requests: int, copies: int) -> int:
    """Write a log of `copies` times `requests` requests, most of which become a node; the number of its nodes.

    It is not closed: the state at its end is nobody's but the reader's.
    """
    events = list(_events(requests))
    num_nodes = max(event.node for event in events if isinstance(event, SpanInserted))
    num_nodes = max([num_nodes, *(event.upper for event in events if isinstance(event, SpanSplit))])
    num_pages = _num_pages(requests) * copies
    opened = LogOpened(
        seq=0, t_ns=0, schema=SCHEMA, geometry=_GEOMETRY, resume="any", retention="window", policy="lru",
        num_full_pages=num_pages, num_swa_pages=num_pages,
    )  # fmt: skip
    encoder, seqs = msgspec.json.Encoder(), count(1)
    with path.open("wb") as file:
        file.write(encoder.encode_lines([opened]))
        for number in range(copies):
            copy = _Copy(number, num_nodes, len(events), _num_pages(requests))
            for first in range(0, len(events), _BATCH):
                batch = [copy.of(event, next(seqs)) for event in events[first : first + _BATCH]]
                file.write(encoder.encode_lines(batch))
    return num_nodes * copies


_GEOMETRY: Geometry = preset("recall")


def _num_pages(requests: int) -> int:
    return 3 * requests + 8


def _events(requests: int) -> Iterator[Event]:
    """Requests one after another on a cache with room for all: prefill of one pass, and no output."""
    sink = MemorySink()
    emitter, chance = Emitter(sink, count().__next__), random.Random(1)
    pages = _num_pages(requests)
    manager = CacheManager(_GEOMETRY, CacheOptions(num_full_pages=pages, num_swa_pages=pages), emitter)
    stems = [_ids(STEM, chance) for _ in range(STEMS)]

    def tell(kind: Callable[..., Event], **fields: object) -> None:
        seq, t_ns = emitter.next()
        emitter.emit(kind(seq=seq, t_ns=t_ns, **fields))

    for number in range(requests):
        name, ids = f"r{number}", array("q", chance.choice(stems) + _ids(REST, chance))
        tell(RequestSubmitted, request=name, tokens=pack_ids(ids))
        manager.admit(name, ids)
        tell(StepDone, prefill=((name, STEM, len(ids)),))
        manager.computed(name, len(ids))
        manager.publish(name)
        tell(RequestFinished, request=name, reason="length", tokens=b"")
        manager.finish(name)
    yield from sink.events


def _ids(num_tokens: int, chance: random.Random) -> list[int]:
    return [chance.randrange(VOCABULARY) for _ in range(num_tokens)]


class _Copy:
    """The same events once more, with other names, nodes and slots."""

    def __init__(self, number: int, num_nodes: int, num_events: int, num_pages: int) -> None:
        self._nodes, self._events = number * num_nodes, number * num_events
        self._slots = number * num_pages * _GEOMETRY.page_size
        self._number = number
        self._namespace = f"n{number}" if number else ""
        self._changed: dict[type[Event], Callable[[Any], dict[str, object]]] = {
            RequestSubmitted: lambda _: {"namespace": self._namespace},
            RequestFinished: lambda _: {},
            LookupDone: lambda e: {
                "node": self._node(e.node),
                "near": self._node(e.near),
                "swa_lost": e.swa_lost + self._events + 1 if e.swa_lost >= 0 else -1,
            },
            PathLocked: lambda e: {"node": self._node(e.node)},
            PathUnlocked: lambda e: {"node": self._node(e.node)},
            SpanSplit: lambda e: {"node": self._node(e.node), "upper": self._node(e.upper)},
            SpanInserted: lambda e: {
                "node": self._node(e.node),
                "parent": self._node(e.parent),
                "namespace": "" if e.parent else self._namespace,
                "full": self._runs(e.full),
                "swa": self._runs(e.swa),
            },
            SlotsTaken: lambda e: {"runs": self._runs(e.runs)},
            SlotsFreed: lambda e: {"runs": self._runs(e.runs)},
            StepDone: lambda e: {"prefill": tuple((self._name(n), a, b) for n, a, b in e.prefill)},
        }

    def of(self, event: Any, seq: int) -> Event:
        """The event as this copy has it, at place `seq` of the log."""
        changed = self._changed[type(event)](event)
        if not isinstance(event, StepDone | SpanSplit):
            changed["request"] = self._name(event.request)
        copied: Event = replace(event, seq=seq, t_ns=1_000 * seq, **changed)
        return copied

    def _name(self, request: str) -> str:
        return f"{request}.{self._number}"

    def _node(self, node: int) -> int:
        return node + self._nodes if node else 0

    def _runs(self, runs: Sequence[SlotRun]) -> tuple[SlotRun, ...]:
        return tuple(SlotRun(start, stop, slot + self._slots) for start, stop, slot in runs)
