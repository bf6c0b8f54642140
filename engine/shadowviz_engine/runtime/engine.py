"""The embedded engine: takes requests, runs passes of the model over a prefix cache, puts everything on record."""

import time
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from shadowviz_engine.cache.manager import CacheManager
from shadowviz_engine.core.errors import CapacityError, InputError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.sinks import Clock, Emitter, Sink
from shadowviz_engine.core.snapshot import state_digest
from shadowviz_engine.model.numerics import BLOCK
from shadowviz_engine.model.trace import STATE_AND_READS, Stages
from shadowviz_engine.runtime.active import ActiveRequest
from shadowviz_engine.runtime.assembly import (
    EngineModel,
    allocate,
    cache_options,
    check_model,
    load_engine_model,
    log_opened,
    page_cost,
    pool_sizes,
    sort_faults,
)
from shadowviz_engine.runtime.batch import Batch
from shadowviz_engine.runtime.injection import ModelFaults
from shadowviz_engine.runtime.journal import Journal
from shadowviz_engine.runtime.options import EngineOptions, Record
from shadowviz_engine.runtime.request import Request, RequestOutput, check_request, token_array
from shadowviz_engine.runtime.runner import LogitsTrace, PassItem, PassResult, RequestTrace, Runner
from shadowviz_engine.runtime.scheduler import Work
from shadowviz_engine.runtime.selections import SelectionWriter
from shadowviz_engine.runtime.sizing import least_pool_bytes, shortfall

CLOSED = "closed"
"""Reason of requests that the engine's end cuts short."""


class Engine:
    """Runs requests in batches over a prefix cache; a context manager that closes itself.

    Raises:
        InputError: options that do not fit together or the model.
        CapacityError: pools too small for a single page, or too large for the memory.
    """

    def __init__(
        self, options: EngineOptions, sink: Sink, clock: Clock = time.monotonic_ns, model: EngineModel | None = None
    ) -> None:
        self.options = options
        self.model = load_engine_model(options) if model is None else check_model(options, model)
        self.pools = pool_sizes(options, self.model)
        self.outputs: dict[str, RequestOutput] = {}
        """By request id, of every request that has ended."""
        geometry = self.model.geometry
        switches = cache_options(options, self.pools)
        faults = sort_faults(options.faults, geometry)
        self._runner = Runner(self.model.transformer, allocate(self.model, self.pools), options.threads)
        self._selections = self._open_sidecar()
        self._requests: dict[str, ActiveRequest] = {}
        self._closed = False
        self._failed = False
        self._clock = clock
        self._opened_ns = clock()
        self._emitter = Emitter(sink, clock)
        # All that may refuse its input has done so: nothing is on record before the engine stands.
        stamp = self._emitter.next()
        self._emitter.emit(log_opened(options, self.model, self.pools, stamp, datetime.now(UTC)))
        self.cache = CacheManager(geometry, switches, self._emitter, faults.cache)
        self._journal = Journal(self._emitter)
        if faults.model or faults.passes:
            self._runner.faults = ModelFaults(faults, self.model.transformer, geometry, self._runner.buffers)
            for name in (*sorted(faults.passes), *(placed.name for placed in faults.model)):
                self._journal.fault_put_in(name)
        self._batch = Batch(self.cache, self._journal, options, geometry.page_size, BLOCK)

    def watch(
        self,
        trace: RequestTrace | None = None,
        logits: LogitsTrace | None = None,
        stages: Stages = STATE_AND_READS,
    ) -> None:
        """From the next pass on, `trace` sees what is found, stored and read, `logits` the logits of every token.

        Every call says anew who looks; in exact numerics looking changes no bit.

        Args:
            stages: what `trace` is told: rows that are stored cost a fraction of what is read of them.
        """
        self._runner.trace, self._runner.logits_trace, self._runner.stages = trace, logits, stages

    def limit_chunks(self, tokens: int) -> None:
        """From the next pass on, compute at most so many prompt tokens in one.

        Raises:
            InputError: no token at all.
        """
        if tokens < 1:
            raise InputError(f"a pass of {tokens} prompt tokens: expected at least 1")
        self._batch.chunk_tokens = tokens

    def submit(self, request: Request) -> None:
        """Put a request into the queue.

        Raises:
            InputError: the request cannot be run, or its id was used before.
            CapacityError: it can never fit the pools.
        """
        prompt = self.check(request)
        self._requests[request.id] = active = ActiveRequest(request, prompt, self._clock())
        self._batch.queue.append(active)
        self._journal.submitted(request, prompt)

    def check(self, request: Request) -> "array[int]":
        """The prompt of a request that `submit` would take now, as int64 ids; changes nothing.

        Raises:
            InputError: the request cannot be run, or its id was used before.
            CapacityError: it can never fit the pools.
        """
        self._require_open()
        if request.id in self._requests or request.id in self.outputs:
            raise InputError(f"request {request.id!r} was submitted before: every request needs an id of its own")
        config = self.model.config
        prompt = check_request(request, config.vocab_size, config.max_positions)
        self._require_room(request, len(prompt))
        return prompt

    def step(self) -> bool:
        """Run one pass: every decoding request's next token, chunks of prompts, new starts.

        Returns:
            Whether any request is left.

        Raises:
            ShadowvizError: the pass failed; what is on record is whole, and the engine takes nothing more.
        """
        self._require_open()
        try:
            self.cache.tick(self._clock() - self._opened_ns)
            work = self._batch.plan()
            if work:
                self._settle(work, self._run(work))
        except BaseException:
            self._failed = True
            raise
        finally:
            self._flush_record()
        return not self._batch.idle

    def run(self) -> None:
        """Run passes until no request is left."""
        while self.step():
            pass

    def abort(self, request_id: str, reason: str = "client") -> None:
        """End a request now, wherever it is; nothing of it is held afterwards. One that has ended stays as it is.

        Raises:
            InputError: there is no such request.
        """
        self._require_open()
        active = self._requests.get(request_id)
        if active is None:
            if request_id in self.outputs:
                return
            raise InputError(f"request {request_id!r} is unknown: it was never submitted")
        self._abort(active, reason)
        self._flush_record()

    def probe(self, ids: Sequence[int], namespace: str = "") -> LookupDone:
        """What a prompt would reuse now; changes nothing and is not put on record.

        Raises:
            InputError: an id that is no 64-bit integer.
        """
        return self.cache.probe(token_array("the prompt", ids), namespace)

    def flush(self) -> None:
        """Let everything that no request uses leave the cache."""
        self._require_open()
        self.cache.flush()
        self._flush_record()

    def close(self) -> None:
        """Abort what is left, end the record with the state's digest, and close the sink.

        After a failed pass the record ends where it was: without `LogClosed` it reads as a crash.
        """
        if self._closed:
            return
        self._closed = True
        if not self._failed:
            for active in list(self._requests.values()):
                self._abort(active, CLOSED)
            digest = state_digest(self.cache.node_states(), self.cache.holder_states())
            self._journal.closed(digest)
        try:
            if self._selections is not None:
                self._selections.close()
        finally:
            self._emitter.close()

    def __enter__(self) -> Self:
        """The engine itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the engine."""
        self.close()

    def _run(self, work: tuple[Work, ...]) -> PassResult:
        """Compute the tokens of `work`, and put the pass on record."""
        items = [self._item(part) for part in work]
        if self._selections is None:
            result = self._runner.run(items, self.cache.full_to_swa)
        else:
            result = self._runner.run_observed(items, self.cache.full_to_swa, self._selections)
        if self._runner.faults is not None:
            self._journal.injected(self._runner.faults.take())
        self._journal.computed(items, result.near_ties)
        return result

    def _item(self, work: Work) -> PassItem:
        active = self._requests[work.request]
        return PassItem(
            work.request,
            active.tokens(work.stop),
            self.cache.slots(work.request)[: work.stop],
            work.start,
            work.stop,
            work.start >= len(active.prompt),
            active.choice if work.stop == active.num_tokens else None,
            active.scored(work.start, work.stop),
            active.resumed,
        )

    def _settle(self, work: tuple[Work, ...], result: PassResult) -> None:
        """Note what was computed, hand finished prompts to the tree, take the new tokens, end what is complete."""
        now_ns = self._clock()
        for part in work:
            active = self._requests[part.request]
            active.computed = part.stop
            active.prompt_logprobs += result.logprobs.get(part.request, ())
            self.cache.computed(part.request, part.stop)
            if part.start < len(active.prompt) <= part.stop:
                self.cache.publish(part.request)
            token = result.tokens.get(part.request)
            if token is None:
                continue
            active.accept(token, now_ns)
            self.cache.append(part.request, token)
            if active.end:
                self._finish(active)

    def _finish(self, active: ActiveRequest) -> None:
        name = active.request.id
        output = active.result(active.end, aborted=False)
        # The cache's own events about the end name tokens of the output, so the output goes on record first.
        self._journal.finished(name, output)
        self._batch.remove(active)
        self.cache.finish(name)
        del self._requests[name]
        self.outputs[name] = output

    def _abort(self, active: ActiveRequest, reason: str) -> None:
        name = active.request.id
        self._journal.aborted(name, reason, active.computed)
        if self._batch.remove(active):
            self.cache.abort(name)
        del self._requests[name]
        self.outputs[name] = active.result(reason, aborted=True)

    def _require_open(self) -> None:
        if self._closed or self._failed:
            raise InputError(f"the engine {'is closed' if self._closed else 'failed in a pass'}: make a new one")

    def _require_room(self, request: Request, num_prompt: int) -> None:
        # The last generated token is never computed, so it needs no slot.
        num_tokens = num_prompt + request.max_tokens - 1
        geometry = self.model.geometry
        why = shortfall(geometry, num_tokens, self.pools)
        if why is not None:
            least = least_pool_bytes(self.options, geometry, page_cost(self.model), num_tokens)
            raise CapacityError(f"request {request.id!r} can never fit: it {why}; give --pool-bytes {least} or more")

    def _open_sidecar(self) -> SelectionWriter | None:
        if self.options.record is not Record.FULL:
            return None
        return SelectionWriter(Path(self.options.sidecar), self.model.geometry.index_topk)

    def _flush_record(self) -> None:
        self._emitter.flush()
        if self._selections is not None:
            self._selections.flush()
