"""The embedded engine as a source of events: it runs prompts in this process."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from shadowviz.tokens.encode.tokenizer import Tokenizer
from shadowviz.tokens.inputs.requests import PromptRequest
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.sinks import Sink, TeeSink
from shadowviz_engine.runtime.assembly import load_engine_model
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

NAP_S = 0.05
"""Longest sleep between two looks at the clock and at `stop`."""

INTERRUPTED = "interrupted"
"""Reason of requests that were aborted by `stop`."""


class EmbeddedRun:
    """Prompts on an engine of this process; the engine starts with the object.

    With a tokenizer whose ids the model knows, the record names it, and can be read as text.

    Raises:
        InputError: options or model that cannot be used.
        CapacityError: pools too small for a single page.
    """

    def __init__(
        self,
        options: EngineOptions,
        sinks: Sequence[Sink] = (),
        tokenizer: Tokenizer | None = None,
        record_text: bool = False,
    ) -> None:
        model = load_engine_model(options)
        # The ids of a smaller vocabulary are not this tokenizer's, and its texts would mislead.
        if tokenizer is not None and model.config.vocab_size >= tokenizer.vocab_size:
            options = msgspec.structs.replace(options, tokenizer_fingerprint=tokenizer.fingerprint)
        self._fresh = _Fresh()
        self._record_text = record_text
        self._stopped = False
        self.engine = Engine(options, TeeSink([self._fresh, *sinks]), model=model)
        self.started = False
        """Whether a pass of the model has begun: until then nothing is worth keeping."""

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""
        return self.engine.model.config.vocab_size

    @property
    def prompt_logprobs(self) -> dict[str, tuple[float, ...]]:
        """By request, of those that asked and have ended: log probabilities of the prompt behind `logprob_start`."""
        return {name: output.prompt_logprobs for name, output in self.engine.outputs.items() if output.prompt_logprobs}

    def stop(self) -> None:
        """End after the pass that runs now; what has not finished is aborted and the record closed."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether the run was ended by `stop`."""
        return self._stopped

    def events(
        self,
        requests: Sequence[PromptRequest],
        stop_ids: tuple[int, ...] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> Iterator[Event]:
        """Run the requests, each from its `at_s` on, and give the events of every pass; closes the engine.

        All requests are checked before the first is submitted; when one is refused, the engine is left open.

        Raises:
            InputError: a request that the model cannot run.
            CapacityError: a request that can never fit the pools.
        """
        for request in requests:
            self.engine.check(self._request(request, stop_ids))
        waiting = deque(sorted(requests, key=lambda request: request.at_s))
        submitted: list[str] = []
        start = time.monotonic()
        try:
            while not self._stopped:
                now_s = time.monotonic() - start
                while waiting and waiting[0].at_s <= now_s:
                    self.engine.submit(self._request(waiting[0], stop_ids))
                    submitted.append(waiting.popleft().id)
                self.started = True
                busy = self.engine.step()
                yield from self._fresh.take()
                if not busy and not waiting:
                    break
                if not busy:
                    sleep(min(NAP_S, max(0.0, waiting[0].at_s - (time.monotonic() - start))))
            for name in submitted if self._stopped else ():
                self.engine.abort(name, INTERRUPTED)
        finally:
            self.engine.close()
        yield from self._fresh.take()

    def submit(self, prompt: PromptRequest, stop_ids: tuple[int, ...] = ()) -> None:
        """Put one prompt into the engine's queue, for a caller that runs the passes itself.

        Raises:
            InputError: a request that the model cannot run.
            CapacityError: a request that can never fit the pools.
        """
        self.engine.submit(self._request(prompt, stop_ids))

    def step(self) -> bool:
        """Run one pass; whether any request is left. Its events go to the sinks alone."""
        self.started = True
        try:
            return self.engine.step()
        finally:
            self._fresh.take()

    def _request(self, prompt: PromptRequest, stop_ids: tuple[int, ...]) -> Request:
        return Request(
            id=prompt.id,
            token_ids=prompt.token_ids,
            max_tokens=prompt.max_tokens,
            namespace=prompt.namespace,
            temperature=prompt.temperature,
            top_p=prompt.top_p,
            seed=prompt.seed,
            stop_ids=stop_ids,
            text=prompt.text if self._record_text else None,
            logprob_start=prompt.logprob_start,
        )


class _Fresh:
    """Events since they were taken last."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self.emit: Callable[[Event], None] = self._events.append

    def take(self) -> list[Event]:
        """The events so far, which are then forgotten."""
        taken = self._events[:]
        self._events.clear()
        return taken

    def flush(self) -> None:
        """Do nothing: every event is already here."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def engine_options(values: Mapping[str, Any]) -> EngineOptions:
    """Options from plain values, as a command line or a file gives them.

    Raises:
        InputError: an unknown name, or a value of the wrong type or out of its range.
    """
    known = EngineOptions.__struct_fields__
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InputError(f"engine option {unknown[0]!r} is not known: expected one of {', '.join(known)}")
    try:
        return msgspec.convert(dict(values), EngineOptions, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"engine options: {error}") from None
