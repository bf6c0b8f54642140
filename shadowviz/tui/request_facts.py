"""One request at the moment shown, as the list of requests and the inspector need it."""

from typing import Protocol

import msgspec

from shadowviz.replay.timeline import Timeline
from shadowviz_engine.core.columns import REQUEST_STATES
from shadowviz_engine.core.events import Event, LookupDone, RequestAborted, RequestFinished


class RequestFacts(msgspec.Struct, frozen=True):
    """A request after an event of the run; lengths in tokens, the texts as they are on record."""

    row: int
    name: str
    namespace: str
    state: str
    """queued, waiting, prefill, decode, done or aborted."""
    num_prompt: int
    num_output: int
    """Generated; known when it has finished."""
    computed: int
    """Tokens whose state exists, reused ones included."""
    submitted: int
    """Seq at which it entered the queue."""
    lookup: LookupDone | None
    """Its last lookup so far."""
    end: RequestFinished | RequestAborted | None

    @property
    def ttft_ms(self) -> float | None:
        """Milliseconds from submission to the first token; None = it has not finished."""
        return self.end.ttft_ns / 1e6 if isinstance(self.end, RequestFinished) else None


class _Log(Protocol):
    def event_at(self, seq: int) -> Event: ...


def request_facts(timeline: Timeline, log: _Log, row: int) -> RequestFacts:
    """The request in `row` of the columns of the state shown."""
    state = timeline.state
    requests = state.requests
    lookup_seq, end_seq = requests.lookup[row], timeline.chronicle.ended(row, timeline.at)
    lookup = log.event_at(lookup_seq) if lookup_seq >= 0 else None
    end = log.event_at(end_seq) if end_seq >= 0 else None
    return RequestFacts(
        row=row,
        name=requests.names[row],
        namespace=state.namespaces.names[requests.namespace[row]],
        state=REQUEST_STATES[requests.state[row]],
        num_prompt=requests.num_prompt[row],
        num_output=requests.num_output[row],
        computed=requests.computed[row],
        submitted=timeline.chronicle.submitted(row),
        lookup=lookup if isinstance(lookup, LookupDone) else None,
        end=end if isinstance(end, (RequestFinished, RequestAborted)) else None,
    )
