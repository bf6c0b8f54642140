"""Events that follow each other as columns, which processes can pass to each other."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias, Union

import msgspec
import numpy as np
from numpy.typing import NDArray

from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core import events as whole
from shadowviz_engine.core import log_lean as lean
from shadowviz_engine.core.event import Event
from shadowviz_engine.core.holdings import Runs

Ints: TypeAlias = NDArray[np.int64]
AnyEvent: TypeAlias = lean.LeanEvent | Event

INSERTED, SPLIT, OTHER = range(3)
"""What changes a node, in `Columns.order`."""
OTHERS = (
    lean.PathLocked, lean.PathUnlocked, lean.PathEnded, lean.SwaFreed, lean.SwaPublished, lean.SpanEvicted,
    whole.LogOpened,
)  # fmt: skip
POOLS = ("full", "swa")

_SEQ = attrgetter("seq")
_REQUEST = attrgetter("request", "tokens", "namespace")
_LEAF = attrgetter("node", "parent", "start", "stop", "seq", "request", "full", "swa", "namespace", "terminal")
_CUT = attrgetter("node", "at", "upper", "seq")
_LOOKUP = attrgetter("node", "seq")

_pack = msgspec.msgpack.Encoder().encode
_Other: TypeAlias = Union[OTHERS]  # type: ignore[valid-type]  # noqa: UP007
other_events: Callable[[bytes], list[Any]] = msgspec.msgpack.Decoder(list[_Other]).decode
"""The events in `Columns.others`."""


class Leaves(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Inserted nodes."""

    numbers: bytes
    """Nodes, then their parents, starts, stops and seqs."""
    requests: tuple[str, ...]
    namespaces: dict[int, str]
    """By node, of those that are named."""
    terminal: bytes
    runs: tuple[tuple[bytes, bytes], ...]
    """Of the full pool, then of the window pool if they are others: how many each leaf has; start, stop and slot of
    each."""


class Columns(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Events, by what they are of. Numbers are packed as int64."""

    first: int
    """Seq of the first event."""
    num: int
    requests: tuple[str, ...] = ()
    """Those that joined the queue."""
    prompts: bytes = b""
    """Their token ids (int32), one prompt behind the other."""
    prompt_bytes: bytes = b""
    """Length of each."""
    prompt_namespaces: tuple[str, ...] = ()
    """Of each; none at all if none is named."""
    outputs: tuple[tuple[str, bytes], ...] = ()
    """Requests that have ended, and the token ids that they gave, if any."""
    order: bytes = b""
    """What changes a node: `INSERTED`, `SPLIT` or `OTHER`."""
    leaves: Leaves | None = None
    splits: bytes = b""
    """Nodes that were split, then at how many tokens, then their new parents, and seqs."""
    others: bytes = b""
    """The `OTHERS`, as MessagePack."""
    lookups: bytes = b""
    """Nodes that lookups ended at, then their seqs."""
    slots: tuple[bytes, bytes] = (b"", b"")
    """Of each pool the ends of runs that requests took and gave back, as `ends_of` has them."""
    found: int = -1
    """Seq of the first lookup of the request that is looked for; -1 = none."""

    @property
    def end(self) -> int:
        """Seq behind the last event."""
        return self.first + self.num


def columns_of(events: Sequence[AnyEvent], wanted: str = "") -> Columns:
    """The same events; at least one, in order. Those that no tree has a use for are only counted.

    Args:
        wanted: a request of which a lookup is looked for.

    Raises:
        Unsound: a number is out of range.
    """
    of: dict[str, list[Any]] = defaultdict(list)
    by_type: dict[type, list[Any]] = defaultdict(list)
    for event in events:
        by_type[type(event)].append(event)
    for kind, some in by_type.items():
        of[kind.__name__] += some
    others = sorted((event for kind in OTHERS for event in of[kind.__name__]), key=_SEQ)
    requests, prompts, namespaces = _turned(map(_REQUEST, of["RequestSubmitted"]), 3)
    try:
        return Columns(
            first=events[0].seq,
            num=len(events),
            requests=requests,
            prompts=b"".join(prompts),
            prompt_bytes=_packed(map(len, prompts)),
            prompt_namespaces=namespaces if any(namespaces) else (),
            outputs=tuple((event.request, event.tokens) for event in of["RequestFinished"] if event.tokens),
            order=_order(of["SpanInserted"], of["SpanSplit"], others),
            leaves=_leaves(of["SpanInserted"]) if of["SpanInserted"] else None,
            splits=_packed(chain(*_turned(map(_CUT, of["SpanSplit"]), 4))),
            others=_pack(others) if others else b"",
            lookups=_packed(chain(*_turned(map(_LOOKUP, of["LookupDone"]), 2))),
            slots=(_changes(of, "full"), _changes(of, "swa")),
            found=next((event.seq for event in of["LookupDone"] if event.request == wanted), -1) if wanted else -1,
        )
    except OverflowError:
        raise Unsound("a number is out of range") from None


def _order(*of_kinds: list[Any]) -> bytes:
    seqs = np.fromiter(map(_SEQ, chain(*of_kinds)), np.int64)
    kinds = np.repeat(np.arange(len(of_kinds), dtype=np.uint8), list(map(len, of_kinds)))
    return kinds[np.argsort(seqs)].tobytes()


def _leaves(events: list[Any]) -> Leaves:
    *numbers, requests, full, swa, namespaces, terminal = _turned(map(_LEAF, events), 10)
    return Leaves(
        numbers=_packed(chain(*numbers)),
        requests=requests,
        namespaces={node: name for node, name in zip(numbers[0], namespaces, strict=True) if name},
        terminal=bytes(terminal),
        runs=(_runs(full),) if full == swa else (_runs(full), _runs(swa)),
    )


def _runs(of_each: Iterable[Runs]) -> tuple[bytes, bytes]:
    of_each = tuple(of_each)
    return _packed(map(len, of_each)), _packed(chain.from_iterable(chain.from_iterable(of_each)))


def ends_of(runs: Ints, change: int) -> Ints:
    """Where the counts of slots change, and how: 4 x slot + change + 1, at the first slot of a run and behind its last.

    Args:
        runs: start, stop and slot of each.
        change: 1 for runs that were taken, -1 for given ones.

    Raises:
        Unsound: a run is empty, or its slots are out of range.
    """
    slots = runs[:, 2]
    ends = slots + runs[:, 1] - runs[:, 0]
    if len(runs) and not ((slots < ends).all() and slots.min() >= 0 and ends.max() <= 2**31):
        raise Unsound("a run of slots is empty or out of range")
    return np.concatenate((4 * slots + 1 + change, 4 * ends + 1 - change))


def _changes(of: Mapping[str, list[Any]], pool: str) -> bytes:
    taken, freed = (
        [run for event in of[name] if event.pool == pool for run in event.runs] for name in ("SlotsTaken", "SlotsFreed")
    )
    num = len(taken) + len(freed)
    runs = np.fromiter(chain.from_iterable(chain(taken, freed)), np.int64, 3 * num).reshape(-1, 3)
    return np.concatenate((ends_of(runs[: len(taken)], 1), ends_of(runs[len(taken) :], -1))).tobytes()


def _turned(rows: Iterable[tuple[Any, ...]], num: int) -> list[tuple[Any, ...]]:
    """Columns of rows of `num` values."""
    return list(zip(*rows, strict=True)) or [()] * num


def _packed(numbers: Iterable[int]) -> bytes:
    return np.fromiter(numbers, np.int64).tobytes()
