"""The events of a run as marks on tracks: requests with queue, prefill and decode, the cache, counters."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from shadowviz.diagrams.lookups import verdict_line
from shadowviz.diagrams.page_fill import PageFill
from shadowviz.diagrams.trace import NO_ARGS, Args, Begin, Count, End, Instant, Mark, Track
from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.events import (
    CacheFlushed,
    Event,
    EventsLost,
    FaultInjected,
    LogOpened,
    LookupDone,
    NotStored,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    SlotsFreed,
    SlotsTaken,
    SpanEvicted,
    SpanInserted,
    StepDone,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.holdings import cut_runs

REQUESTS, PASSES, EVICTIONS, WINDOW, ODD = range(1, 6)
FULL_PAGES, SWA_PAGES, STORED, RUNNING, WAITING = range(6, 11)
FIRST_REQUEST: Final = 1_000
MAX_NAME: Final = 80
LAST_NS: Final = 2**63 - 1
TRACKS: Final = (
    Track(REQUESTS, "Requests"),
    Track(PASSES, "Passes of the model"),
    Track(EVICTIONS, "Evictions"),
    Track(WINDOW, "Window rows"),
    Track(ODD, "Faults and losses"),
    Track(FULL_PAGES, "full pages in use", unit="pages"),
    Track(SWA_PAGES, "swa pages in use", unit="pages"),
    Track(STORED, "tokens in the tree", unit="tokens"),
    Track(RUNNING, "requests running", unit="requests"),
    Track(WAITING, "requests waiting", unit="requests"),
)


class _Request:
    """A request that has not ended."""

    __slots__ = ("decoded", "num_prompt", "open", "track")

    def __init__(self, track: int, num_prompt: int) -> None:
        self.track, self.num_prompt, self.decoded = track, num_prompt, 0
        self.open: list[str] = []
        """Names of its stretches that are open, the innermost last."""


def trace_marks(events: Iterable[Event], words: Words) -> Iterator[Mark]:
    """Marks of the events, as they come; only what has not ended is kept, beside the replayed state.

    A pass of the model begins, as far as a record can tell, at the event before the one that ends it.

    Raises:
        LogError: the events contradict each other.
    """
    tracer = _Tracer(words)
    yield from TRACKS
    for event in events:
        yield from tracer.feed(event)


class _Tracer:
    def __init__(self, words: Words) -> None:
        self._explainer = Explainer(words)
        self._requests: dict[str, _Request] = {}
        self._pools = {"full": PageFill(1), "swa": PageFill(1)}
        self._counted: dict[int, int] = {}
        self._stored = self._running = self._num_submitted = 0
        self._now = self._before = 0
        """Time of this event, and of the one before; a record whose clock runs back does not."""

    def feed(self, event: Event) -> Iterator[Mark]:
        self._before, self._now = self._now, min(LAST_NS, max(self._now, event.t_ns))
        meaning = _MEANINGS.get(type(event))
        if type(event) is LookupDone:
            explanation = self._explainer.feed(event)
            assert explanation is not None, "a lookup is always explained"
            yield from self._looked_up(explanation)
        else:
            # What a node had is read before it goes.
            if meaning is not None:
                yield from meaning(self, event)
            self._explainer.follow(event)
        if meaning is not None or type(event) is LookupDone:
            yield from self._counts()

    def _counts(self) -> Iterator[Mark]:
        values = (
            (FULL_PAGES, self._pools["full"].pages),
            (SWA_PAGES, self._pools["swa"].pages),
            (STORED, self._stored),
            (RUNNING, self._running),
            (WAITING, len(self._requests) - self._running),
        )
        for track, value in values:
            if self._counted.get(track) != value:
                self._counted[track] = value
                yield Count(track, self._now, value)

    def _opened(self, event: LogOpened) -> Iterator[Mark]:
        self._pools = {pool: PageFill(event.geometry.page_size) for pool in self._pools}
        yield from ()

    def _submitted(self, event: RequestSubmitted) -> Iterator[Mark]:
        track = FIRST_REQUEST + self._num_submitted
        self._num_submitted += 1
        request = self._requests[event.request] = _Request(track, len(event.tokens) // 4)
        yield Track(track, _name(event.request), REQUESTS)
        yield self._begin(request, "queue", self._now, {"prompt tokens": request.num_prompt})

    def _waited(self, event: RequestWaited) -> Iterator[Mark]:
        if request := self._requests.get(event.request):
            args: Args = {"pool": _name(event.pool), "needed pages": event.needed_pages, "free pages": event.free_pages}
            yield Instant(request.track, self._now, "no room", args)

    def _looked_up(self, explanation: Explanation) -> Iterator[Mark]:
        request, lookup = self._requests.get(explanation.request), explanation.lookup
        if request is None:
            return
        yield from self._end_all(request)
        args: dict[str, int | float | str] = {
            name.replace("_", " "): getattr(lookup, name)
            for name in ("num_prompt", "common", "matched", "usable", "reused", "node", "seq")
        }
        args |= {"lost": explanation.lost, "why": verdict_line(explanation)}
        yield Instant(request.track, self._now, explanation.verdict.label, args)
        self._running += 1
        todo = {"reused": lookup.reused, "computed": lookup.num_prompt - lookup.reused}
        yield self._begin(request, "prefill", self._now, todo)

    def _stepped(self, event: StepDone) -> Iterator[Mark]:
        start, now = self._before, self._now
        tokens = sum(stop - first for _, first, stop in event.prefill)
        args = {"prefill tokens": tokens, "prefill chunks": len(event.prefill), "decoded tokens": len(event.decode)}
        yield Begin(PASSES, start, "prefill" if tokens else "decode", args)
        yield End(PASSES, now)
        for name, first, stop in event.prefill:
            if request := self._requests.get(name):
                yield Begin(request.track, start, f"[{first},{stop})", {"tokens": stop - first})
                yield End(request.track, now)
                if stop == request.num_prompt:
                    yield from self._end_all(request)
        for name in event.decode:
            if request := self._requests.get(name):
                request.decoded += 1
                if "decode" not in request.open:
                    yield from self._end_all(request, start)
                    yield self._begin(request, "decode", start)

    def _finished(self, event: RequestFinished) -> Iterator[Mark]:
        args: Args = {
            "reason": _name(event.reason),
            "output tokens": len(event.tokens) // 4,
            "time to first token ms": event.ttft_ns / 1e6,
        }
        yield from self._ended(event.request, "finished", args)

    def _aborted(self, event: RequestAborted) -> Iterator[Mark]:
        yield from self._ended(event.request, "aborted", {"reason": _name(event.reason), "computed": event.computed})

    def _ended(self, name: str, word: str, args: Args) -> Iterator[Mark]:
        request = self._requests.pop(name, None)
        if request is None:
            return
        self._running -= "queue" not in request.open
        yield from self._end_all(request)
        yield Instant(request.track, self._now, word, args)

    def _not_stored(self, event: NotStored) -> Iterator[Mark]:
        reason = _name(event.reason)
        args: Args = {"request": _name(event.request), "start": event.start, "stop": event.stop}
        yield Instant(EVICTIONS, self._now, f"not stored: {reason}", args)
        request = self._requests.get(event.request)
        if event.reason == "retracted" and request is not None and "queue" not in request.open:
            self._running -= 1
            yield from self._end_all(request)
            yield self._begin(request, "queue", self._now, {"again": "its room was needed"})

    def _inserted(self, event: SpanInserted) -> Iterator[Mark]:
        self._stored += event.stop - event.start
        yield from ()

    def _evicted(self, event: SpanEvicted) -> Iterator[Mark]:
        state, node = self._explainer.state, event.node
        if not 0 < node < len(state.nodes) or not state.nodes.alive[node]:
            return
        tokens = state.nodes.stop[node] - state.nodes.start[node]
        self._stored -= tokens
        self._pools["full"].free(state.full_runs(node))
        self._pools["swa"].free(state.swa_runs(node))
        args: Args = {"node": node, "tokens": tokens, "length": state.nodes.stop[node], "by": _name(event.by)}
        yield Instant(EVICTIONS, self._now, f"evicted: {_name(event.reason)}", args)

    def _swa_freed(self, event: SwaFreed) -> Iterator[Mark]:
        state, node = self._explainer.state, event.node
        if 0 < node < len(state.nodes):
            self._pools["swa"].free(cut_runs(state.swa_runs(node), event.start, event.stop)[0])
        args: Args = {"node": node, "start": event.start, "stop": event.stop, "by": _name(event.by)}
        yield Instant(WINDOW, self._now, f"tombstone: {_name(event.reason)}", args)

    def _swa_published(self, event: SwaPublished) -> Iterator[Mark]:
        tokens = sum(stop - start for start, stop, _ in event.runs)
        args: Args = {"node": event.node, "tokens": tokens, "request": _name(event.request)}
        yield Instant(WINDOW, self._now, "healed", args)

    def _taken(self, event: SlotsTaken) -> Iterator[Mark]:
        if event.pool in self._pools:
            self._pools[event.pool].take(event.runs)
        yield from ()

    def _freed(self, event: SlotsFreed) -> Iterator[Mark]:
        if event.pool in self._pools:
            self._pools[event.pool].free(event.runs)
        yield from ()

    def _flushed(self, event: CacheFlushed) -> Iterator[Mark]:
        yield Instant(EVICTIONS, self._now, "flushed", {"nodes": event.nodes, "tokens": event.tokens})

    def _fault(self, event: FaultInjected) -> Iterator[Mark]:
        args: Args = {"request": _name(event.request), "detail": shorten(event.detail), "length": event.length}
        yield Instant(ODD, self._now, f"fault: {_name(event.fault)}", args)

    def _lost(self, event: EventsLost) -> Iterator[Mark]:
        yield Instant(ODD, self._now, "events lost", {"count": event.count})

    def _begin(self, request: _Request, name: str, t_ns: int, args: Args = NO_ARGS) -> Begin:
        request.open.append(name)
        return Begin(request.track, t_ns, name, args)

    def _end_all(self, request: _Request, t_ns: int = -1) -> Iterator[Mark]:
        t_ns = self._now if t_ns < 0 else t_ns
        while request.open:
            args = {"tokens": request.decoded} if request.open.pop() == "decode" else NO_ARGS
            yield End(request.track, t_ns, args)


def _name(text: str) -> str:
    return shorten(text, MAX_NAME)


_MEANINGS: dict[type[Event], Callable[[_Tracer, Any], Iterator[Mark]]] = {
    LogOpened: _Tracer._opened,
    RequestSubmitted: _Tracer._submitted,
    RequestWaited: _Tracer._waited,
    StepDone: _Tracer._stepped,
    RequestFinished: _Tracer._finished,
    RequestAborted: _Tracer._aborted,
    NotStored: _Tracer._not_stored,
    SpanInserted: _Tracer._inserted,
    SpanEvicted: _Tracer._evicted,
    SwaFreed: _Tracer._swa_freed,
    SwaPublished: _Tracer._swa_published,
    SlotsTaken: _Tracer._taken,
    SlotsFreed: _Tracer._freed,
    CacheFlushed: _Tracer._flushed,
    FaultInjected: _Tracer._fault,
    EventsLost: _Tracer._lost,
}
