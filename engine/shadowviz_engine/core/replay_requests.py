"""What events mean for requests and the slots they hold, each beside its inverse."""

from typing import Any, TypeAlias

from shadowviz_engine.core.columns import ABORTED, DECODE, DONE, PREFILL, WAITING
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    LookupDone,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    SlotsFreed,
    SlotsTaken,
    StepDone,
)
from shadowviz_engine.core.holdings import LIMIT, Runs, add_runs, flaw_of
from shadowviz_engine.core.replay_checks import (
    check_living,
    contradiction,
    left_after_taking,
    num_ids,
    request_row,
    running_row,
)
from shadowviz_engine.core.replay_state import ReplayState

Saved: TypeAlias = tuple[Any, ...]
"""What the inverse needs, beside the state."""


def submit(state: ReplayState, event: RequestSubmitted) -> Saved:
    """A request joins the queue."""
    requests, name, num_tokens = state.requests, event.request, len(state.tokens)
    if name in requests.index:
        raise contradiction(event, f"request {name!r} was submitted before")
    num_prompt = num_ids(event, event.tokens)
    num_namespaces = len(state.namespaces.names)
    requests.append(name, state.namespaces.intern(event.namespace), num_prompt, num_tokens)
    state.add_tokens(event.tokens)
    return num_tokens, num_namespaces


def undo_submit(state: ReplayState, num_tokens: int, num_namespaces: int) -> None:
    """The request was never there."""
    state.requests.pop()
    del state.tokens[num_tokens:]
    state.namespaces.truncate(num_namespaces)


def wait(state: ReplayState, event: RequestWaited) -> Saved:
    """A request waits for room."""
    row = running_row(state, event, event.request)
    before = state.requests.state[row]
    state.requests.state[row] = WAITING
    return row, before


def undo_wait(state: ReplayState, row: int, before: int) -> None:
    """The request is what it was."""
    state.requests.state[row] = before


def look_up(state: ReplayState, event: LookupDone) -> Saved:
    """A request starts with what it reuses; the path found becomes the most recent."""
    requests, nodes, node, reused = state.requests, state.nodes, event.node, event.reused
    row = requests.index.get(event.request, -1)
    if row < 0 or requests.state[row] >= DONE:
        row = running_row(state, event, event.request)
    if node and (not 0 < node < len(nodes.parent) or not nodes.alive[node]):
        check_living(state, event, node)
    if not 0 <= reused <= requests.num_prompt[row]:
        raise contradiction(event, f"reused {reused} of a prompt of {requests.num_prompt[row]} tokens")
    last_used, parent, seq = nodes.last_used, nodes.parent, event.seq
    used = []
    above = node
    while above:
        used.append(last_used[above])
        last_used[above] = seq
        above = parent[above]
    saved = (row, requests.state[row], requests.computed[row], requests.lookup[row], node, used)
    requests.state[row] = PREFILL
    requests.computed[row] = reused
    requests.lookup[row] = seq
    return saved


def undo_look_up(
    state: ReplayState, row: int, before: int, computed: int, lookup: int, node: int, used: list[int]
) -> None:
    """The request has not started, and the path is as recent as it was."""
    requests = state.requests
    requests.state[row], requests.computed[row], requests.lookup[row] = before, computed, lookup
    for above, seq in zip(state.nodes.path(node), used, strict=True):
        state.nodes.last_used[above] = seq


def step(state: ReplayState, event: StepDone) -> Saved:
    """Requests have more tokens computed; a request whose prompt is whole decodes."""
    requests = state.requests
    states, computed, num_prompt, index = requests.state, requests.computed, requests.num_prompt, requests.index
    chunks = []
    for name, start, stop in event.prefill:
        row = running_row(state, event, name)
        if not 0 <= start < stop <= num_prompt[row]:
            raise contradiction(event, f"chunk [{start},{stop}) of a prompt of {num_prompt[row]} tokens")
        chunks.append((row, stop, states[row], computed[row]))
    decoded = []
    for name in event.decode:
        row = index.get(name, -1)
        if row < 0 or states[row] >= DONE:
            row = running_row(state, event, name)
        decoded.append(row)
    for row, stop, _, _ in chunks:
        computed[row] = stop
        states[row] = DECODE if stop == num_prompt[row] else PREFILL
    begun = []
    for row in decoded:
        computed[row] += 1
        if states[row] != DECODE:
            begun.append((row, states[row]))
            states[row] = DECODE
    return chunks, decoded, begun


def undo_step(
    state: ReplayState, chunks: list[tuple[int, int, int, int]], decoded: list[int], begun: list[tuple[int, int]]
) -> None:
    """The requests have what they had."""
    states, computed = state.requests.state, state.requests.computed
    for row, was in reversed(begun):
        states[row] = was
    for row in decoded:
        computed[row] -= 1
    for row, _, was, num_computed in reversed(chunks):
        states[row], computed[row] = was, num_computed


def finish(state: ReplayState, event: RequestFinished) -> Saved:
    """A request has ended, and its output is known."""
    requests, num_tokens = state.requests, len(state.tokens)
    row = requests.index.get(event.request, -1)
    if row < 0 or requests.state[row] >= DONE:
        row = running_row(state, event, event.request)
    num_output = num_ids(event, event.tokens)
    before = requests.state[row]
    requests.state[row] = DONE
    requests.output_at[row] = num_tokens
    if num_output:
        requests.num_output[row] = num_output
        state.add_tokens(event.tokens)
    return row, before, num_tokens


def undo_finish(state: ReplayState, row: int, before: int, num_tokens: int) -> None:
    """The request runs, and its output is not known."""
    requests = state.requests
    requests.state[row], requests.output_at[row], requests.num_output[row] = before, 0, 0
    del state.tokens[num_tokens:]


def abort(state: ReplayState, event: RequestAborted) -> Saved:
    """A request has ended early."""
    requests = state.requests
    row = running_row(state, event, event.request)
    if not 0 <= event.computed < LIMIT:
        raise contradiction(event, f"{event.computed} tokens computed")
    saved = (row, requests.state[row], requests.computed[row])
    requests.state[row], requests.computed[row] = ABORTED, event.computed
    return saved


def undo_abort(state: ReplayState, row: int, before: int, computed: int) -> None:
    """The request runs."""
    state.requests.state[row], state.requests.computed[row] = before, computed


def take_slots(state: ReplayState, event: SlotsTaken) -> Saved:
    """A request holds more slots."""
    pool, requests = event.pool, state.requests
    holders = state.held.get(pool)
    if holders is None:
        raise no_pool(event, pool)
    row = requests.index.get(event.request, -1)
    if row < 0 or requests.state[row] >= DONE:
        row = running_row(state, event, event.request)
    held = holders.get(row, ())
    both = held_with(event, held)
    if both:
        holders[row] = both
    return pool, row, held


def held_with(event: SlotsTaken, held: Runs) -> Runs:
    """What a request holds that held `held` before.

    Raises:
        LogError: the slots that it took are not sound, or of tokens whose slots it has.
    """
    runs = event.runs
    flaw = flaw_of(runs)
    if flaw is not None:
        raise contradiction(event, flaw)
    both = add_runs(held, runs) if held else runs
    if both is None:
        raise contradiction(event, f"request {event.request!r} holds {event.pool} slots of these tokens already")
    return both


def free_slots(state: ReplayState, event: SlotsFreed) -> Saved:
    """A request holds fewer slots."""
    pool, runs = event.pool, event.runs
    holders = state.held.get(pool)
    if holders is None:
        raise no_pool(event, pool)
    row = state.requests.index.get(event.request, -1)
    if row < 0:
        row = request_row(state, event, event.request)
    held = holders.get(row, ())
    left = left_after_taking(event, pool, held, runs)
    if left:
        holders[row] = left
    elif held:
        del holders[row]
    return pool, row, held


def undo_slots(state: ReplayState, pool: str, row: int, held: Runs) -> None:
    """The request holds what it held."""
    state.set_held(pool, row, held)


def no_pool(event: SlotsTaken | SlotsFreed, pool: str) -> LogError:
    """The error for slots of a pool that no log has."""
    return contradiction(event, f"there is no pool {pool!r}: expected full or swa")
