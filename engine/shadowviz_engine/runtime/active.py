"""A request between submission and its end: its tokens so far, how much is computed, and its times."""

from array import array

import numpy as np
import numpy.typing as npt

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.runtime.request import Request, RequestOutput
from shadowviz_engine.runtime.runner import Scored
from shadowviz_engine.runtime.sampler import Choice
from shadowviz_engine.runtime.scheduler import Progress


class ActiveRequest:
    """A request that is queued or runs. A start that is taken back leaves only its times and its lookup."""

    def __init__(self, request: Request, prompt: "array[int]", submitted_ns: int) -> None:
        self.request = request
        self.prompt = prompt
        self.waited = False
        """A shortage has been told since it last joined the queue."""
        self.cleared = False
        """The cache was emptied for it."""
        self.computed = 0
        self.resumed = 0
        """Tokens that were reused at the last start."""
        self.num_generated = 0
        self.lookup: LookupDone | None = None
        self.prompt_logprobs: tuple[float, ...] = ()
        self._submitted_ns = submitted_ns
        self._first_ns: int | None = None
        self._last_ns = 0
        self._tokens: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def num_tokens(self) -> int:
        """Prompt and output so far."""
        return len(self.prompt) + self.num_generated

    @property
    def progress(self) -> Progress:
        """What the scheduler decides on."""
        return Progress(self.request.id, len(self.prompt), self.num_tokens, self.computed)

    @property
    def choice(self) -> Choice:
        """How the token after the last one is chosen."""
        request = self.request
        return Choice(request.id, self.num_tokens, request.temperature, request.top_p, request.seed)

    @property
    def cap(self) -> int | None:
        """Most tokens that may be reused, where that is less than the prompt but for its last token."""
        return None if self.request.logprob_start < 0 else self.request.logprob_start

    def scored(self, start: int, stop: int) -> Scored | None:
        """What is wanted of the probabilities of prompt tokens when [start, stop) is computed."""
        first, last = max(start, self.request.logprob_start), min(stop, len(self.prompt) - 1)
        if self.request.logprob_start < 0 or first >= last:
            return None
        return Scored(first, self._tokens[first + 1 : last + 1])

    @property
    def output(self) -> tuple[int, ...]:
        """Generated tokens."""
        return tuple(self._tokens[len(self.prompt) : self.num_tokens].tolist())

    @property
    def end(self) -> str:
        """Why the output is complete; empty while it is not."""
        if self.num_generated and int(self._tokens[self.num_tokens - 1]) in self.request.stop_ids:
            return "stop"
        return "length" if self.num_generated >= self.request.max_tokens else ""

    @property
    def ttft_ns(self) -> int:
        """Submission to first token; 0 before it."""
        return 0 if self._first_ns is None else self._first_ns - self._submitted_ns

    @property
    def decode_ns(self) -> int:
        """First token to last token."""
        return 0 if self._first_ns is None else self._last_ns - self._first_ns

    def tokens(self, stop: int) -> npt.NDArray[np.int64]:
        """Ids of positions [0, stop); a view."""
        return self._tokens[:stop]

    def start(self, lookup: LookupDone) -> None:
        """Begin at the reused length of `lookup`."""
        if self._first_ns is None:
            self.lookup = lookup
        self.waited = False
        self.prompt_logprobs = ()
        self.computed = self.resumed = lookup.reused
        self.num_generated = 0
        self._tokens = np.zeros(len(self.prompt) + self.request.max_tokens, np.int64)
        self._tokens[: len(self.prompt)] = self.prompt

    def repeat_last(self) -> None:
        """Compute the last prompt token once more behind the others: the fault of an engine that reused them all."""
        self.prompt = self.prompt + self.prompt[-1:]
        self._tokens = np.append(self._tokens, 0)
        self._tokens[: len(self.prompt)] = self.prompt

    def take_back(self) -> None:
        """Forget what was computed and generated."""
        self.computed = 0
        self.num_generated = 0
        self._tokens = np.zeros(0, np.int64)

    def accept(self, token: int, now_ns: int) -> None:
        """A generated token joins the output."""
        self._tokens[self.num_tokens] = token
        self.num_generated += 1
        if self._first_ns is None:
            self._first_ns = now_ns
        self._last_ns = now_ns

    def result(self, reason: str, aborted: bool) -> RequestOutput:
        """What the request gave."""
        return RequestOutput(
            token_ids=self.output,
            reason=reason,
            ttft_ns=self.ttft_ns,
            decode_ns=self.decode_ns,
            lookup=self.lookup,
            aborted=aborted,
            prompt_logprobs=self.prompt_logprobs,
        )
