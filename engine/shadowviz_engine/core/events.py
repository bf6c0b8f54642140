"""Events: everything that happens to a request, the tree or a pool, as small complete facts."""

import msgspec

from shadowviz_engine.core.event import Event as Event  # noqa: PLC0414  (given on)
from shadowviz_engine.core.event import SlotRun as SlotRun  # noqa: PLC0414  (given on)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.reuse import KindLength
from shadowviz_engine.core.stress_events import BoundaryChecked as BoundaryChecked  # noqa: PLC0414  (given on)
from shadowviz_engine.core.stress_events import BoundaryStressStarted as BoundaryStressStarted  # noqa: PLC0414  (given on)

SCHEMA = 1
"""Version of the event format; raised by one when a field is renamed or changes its meaning."""


class LogOpened(Event, frozen=True, kw_only=True):
    """First event: what everything after it depends on."""

    volatile = True
    schema: int
    geometry: Geometry
    model: str = ""
    model_fingerprint: str = ""
    tokenizer_fingerprint: str = ""
    resume: str = "page"
    unit: int = 0
    """Tokens that a reused length is a multiple of; 0 = the geometry's."""
    match_mode: str = "partial"
    retention: str = ""
    policy: str = ""
    numerics: str = ""
    record: str = "lookups"
    idle_ttl_s: float = 0.0
    num_full_pages: int = 0
    """Pages of the full pool, the dummy page 0 left out."""
    num_swa_pages: int = 0
    cache_on: bool = True
    redacted: bool = False
    """Token ids are keyed hashes: equal ids stay equal, nothing else can be read."""
    opened_at: str = ""
    """Wall clock, ISO 8601, UTC."""
    sidecar: str = ""
    """File beside the log that holds selected entries, at record level `full`."""


class LogClosed(Event, frozen=True, kw_only=True):
    """Last event of a log that was closed properly."""

    volatile = True
    count: int
    """Events before this one."""
    digest: str
    """Digest of the live state at the end; empty in a redacted log, where it could confirm a guess."""


class RequestSubmitted(Event, frozen=True, kw_only=True):
    """A prompt entered the queue."""

    request: str
    tokens: bytes
    """Prompt ids, int32 little-endian."""
    namespace: str = ""
    max_tokens: int = 0
    text: str | None = None


class RequestWaited(Event, frozen=True, kw_only=True):
    """A request could not start: a pool is full."""

    request: str
    pool: str
    needed_pages: int
    free_pages: int


class LeftCache(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the ghost index remembers of a longer path that is not stored any more, or never was."""

    length: int
    """Tokens of the prompt that were there."""
    reason: str
    """The eviction policy's name, ttl, flush, abort or retracted."""
    event: int
    """Seq of the event in which it left."""
    by: str = ""
    """Request that needed the room."""
    gain: int = 0


class Elsewhere(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Equal tokens that this lookup may not use: under another namespace, or still being computed."""

    common: int
    gain: int
    namespace: str = ""
    request: str = ""


class LookupDone(Event, frozen=True, kw_only=True):
    """One lookup with the length of every rule; all in tokens. See `ReusePlan`."""

    request: str
    num_prompt: int
    common: int
    cap: int
    cap_rule: str = "last token"
    """last token, logprobs or pair."""
    unit: int
    matched: int
    usable: int
    reused: int
    cap_gain: int = 0
    page_gain: int = 0
    kinds: tuple[KindLength, ...] = ()
    """Kinds that allow less than `matched`."""
    node: int = 0
    """Deepest node that `common` reaches into; 0 is the root."""
    near: int = 0
    """Node of the nearest stored path where the prompt parts from it; 0 = the stored path ended or nothing is near."""
    swa_lost: int = -1
    """Seq of the event that freed the window rows which cut this lookup; -1 = none."""
    left: LeftCache | None = None
    namespace: Elsewhere | None = None
    in_flight: Elsewhere | None = None
    ghost_overflowed: bool = False
    """The ghost index has forgotten something: absence of `left` proves nothing."""
    cache_on: bool = True


class PathLocked(Event, frozen=True, kw_only=True):
    """Every node from `node` to the root is in use by `request`."""

    request: str
    node: int


class PathUnlocked(Event, frozen=True, kw_only=True):
    """The lock of `request` on the path of `node` is gone."""

    request: str
    node: int


class SpanSplit(Event, frozen=True, kw_only=True):
    """`node` gave its first `at` tokens to the new node `upper`, which is now its parent."""

    node: int
    at: int
    upper: int


class SpanInserted(Event, frozen=True, kw_only=True):
    """Tokens [start, stop) of `request` became a node; its slots passed from the request to the tree."""

    node: int
    parent: int
    request: str
    start: int
    stop: int
    namespace: str = ""
    full: tuple[SlotRun, ...] = ()
    swa: tuple[SlotRun, ...] = ()
    terminal: bool = False


class PathEnded(Event, frozen=True, kw_only=True):
    """A registered path ends at `node` (its terminal mark)."""

    node: int


class SwaFreed(Event, frozen=True, kw_only=True):
    """Window-table rows of tokens [start, stop) of `node` were freed; compressed rows stay (a tombstone)."""

    node: int
    start: int
    stop: int
    reason: str
    """retention or pressure."""
    by: str = ""


class SwaPublished(Event, frozen=True, kw_only=True):
    """Window-table rows of `node` came back: computed again by `request` and handed over (healing)."""

    node: int
    request: str
    runs: tuple[SlotRun, ...]


class SpanEvicted(Event, frozen=True, kw_only=True):
    """A leaf left the tree with all its kinds."""

    node: int
    reason: str
    by: str = ""
    length: int = 0


class SlotsTaken(Event, frozen=True, kw_only=True):
    """A running request took slots of a pool (`full` or `swa`)."""

    request: str
    pool: str
    runs: tuple[SlotRun, ...]


class SlotsFreed(Event, frozen=True, kw_only=True):
    """A running request gave slots back to a pool."""

    request: str
    pool: str
    runs: tuple[SlotRun, ...]


class StepDone(Event, frozen=True, kw_only=True):
    """One pass of the model: prefill chunks as (request, start, stop), and decoded tokens."""

    prefill: tuple[tuple[str, int, int], ...] = ()
    decode: tuple[str, ...] = ()


class RequestFinished(Event, frozen=True, kw_only=True):
    """A request has its output."""

    request: str
    reason: str
    """length or stop."""
    tokens: bytes
    """Generated ids, int32 little-endian."""
    ttft_ns: int = 0
    """Submission to first token."""
    decode_ns: int = 0
    """First token to last token."""


class RequestAborted(Event, frozen=True, kw_only=True):
    """A request ended before its output was whole."""

    request: str
    reason: str
    computed: int = 0
    """Prompt and output tokens that had been computed."""


class NotStored(Event, frozen=True, kw_only=True):
    """Computed tokens [start, stop) of `request` did not enter the tree."""

    request: str
    start: int
    stop: int
    reason: str
    """abort, retracted (its room was needed; it runs again later) or off."""


class CacheFlushed(Event, frozen=True, kw_only=True):
    """Everything that was not locked left the tree; each node has its own `SpanEvicted` before this."""

    volatile = True
    nodes: int
    tokens: int


class GhostOverflowed(Event, frozen=True, kw_only=True):
    """The ghost index forgot its oldest entries; from here on absence of a memory proves nothing."""

    volatile = True
    forgotten: int


class NearTieSeen(Event, frozen=True, kw_only=True):
    """The indexer's choice at a query hung on less than the noise of another implementation."""

    volatile = True
    request: str
    layer: int
    position: int
    margin: float


class FaultInjected(Event, frozen=True, kw_only=True):
    """A named fault was put into the running engine on purpose."""

    volatile = True
    fault: str
    request: str = ""
    detail: str = ""
    length: int = -1
    """Tokens that the request goes on from, where the fault acts on one; -1 = it is ready to act."""
    kind: str = ""
    """Kind of the first row that is wrong, or wrongly read."""
    layer: int = -1
    """-1 = every row has the bits that it should have."""
    row: int = -1


class EventsLost(Event, frozen=True, kw_only=True):
    """A live source missed events."""

    volatile = True
    count: int


EVENT_TYPES: tuple[type[Event], ...] = (
    LogOpened,
    LogClosed,
    RequestSubmitted,
    RequestWaited,
    LookupDone,
    PathLocked,
    PathUnlocked,
    SpanSplit,
    SpanInserted,
    PathEnded,
    SwaFreed,
    SwaPublished,
    SpanEvicted,
    SlotsTaken,
    SlotsFreed,
    StepDone,
    RequestFinished,
    RequestAborted,
    NotStored,
    CacheFlushed,
    GhostOverflowed,
    NearTieSeen,
    FaultInjected,
    BoundaryStressStarted,
    BoundaryChecked,
    EventsLost,
)
