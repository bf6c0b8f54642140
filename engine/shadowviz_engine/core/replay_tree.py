"""What events mean for the nodes of the tree and their slots, each beside its inverse."""

from typing import Any, TypeAlias

from shadowviz_engine.core.events import (
    PathEnded,
    PathLocked,
    PathUnlocked,
    SpanEvicted,
    SpanInserted,
    SpanSplit,
    SwaFreed,
    SwaPublished,
)
from shadowviz_engine.core.holdings import Runs, add_runs, cut_runs
from shadowviz_engine.core.replay_checks import (
    check_inside,
    check_living,
    check_new,
    contradiction,
    left_after_taking,
    request_row,
)
from shadowviz_engine.core.replay_state import ReplayState

Saved: TypeAlias = tuple[Any, ...]
"""What the inverse needs, beside the state."""


def lock(state: ReplayState, event: PathLocked) -> Saved:
    """One lock more on every node from `node` up."""
    row = request_row(state, event, event.request)
    node = event.node
    if node:
        check_living(state, event, node)
    before = state.requests.lock_node[row]
    _count_locks(state, node, 1)
    state.requests.lock_node[row] = node
    return row, before, node


def undo_lock(state: ReplayState, row: int, before: int, node: int) -> None:
    """The lock was never there."""
    _count_locks(state, node, -1)
    state.requests.lock_node[row] = before


def unlock(state: ReplayState, event: PathUnlocked) -> Saved:
    """One lock less on every node from `node` up."""
    row = request_row(state, event, event.request)
    node = event.node
    if node:
        check_living(state, event, node)
        # Every lock reaches up to the root, so no ancestor has fewer locks than the node itself.
        if state.nodes.locks[node] <= 0:
            raise contradiction(event, f"node {node} is not locked")
    before = state.requests.lock_node[row]
    _count_locks(state, node, -1)
    if before == node:
        state.requests.lock_node[row] = 0
    return row, before, node


def undo_unlock(state: ReplayState, row: int, before: int, node: int) -> None:
    """The lock is still there."""
    _count_locks(state, node, 1)
    state.requests.lock_node[row] = before


def _count_locks(state: ReplayState, node: int, change: int) -> None:
    locks, parent = state.nodes.locks, state.nodes.parent
    while node:
        locks[node] += change
        node = parent[node]


def split(state: ReplayState, event: SpanSplit) -> Saved:
    """The new node `upper` takes the place, the locks, the first tokens and their slots of `node`."""
    nodes, runs, node, upper = state.nodes, state.runs, event.node, event.upper
    check_living(state, event, node)
    check_new(state, event, upper)
    start, stop = nodes.start[node], nodes.stop[node]
    middle = start + event.at
    if not start < middle < stop:
        raise contradiction(event, f"{event.at} tokens do not cut node {node} of {stop - start}")
    saved = (
        (node, upper, start),
        (nodes.full_at[node], nodes.full_num[node]),
        (nodes.swa_at[node], nodes.swa_num[node]),
        len(runs.flat),
    )
    nodes.append(
        start=start,
        stop=middle,
        namespace=nodes.namespace[node],
        tokens_at=nodes.tokens_at[node],
        locks=nodes.locks[node],
        terminal=False,
        used=nodes.last_used[node],
        seq=event.seq,
    )
    nodes.put_between(upper, node)
    nodes.start[node] = middle
    upper_full, full = cut_runs(state.full_runs(node), start, middle)
    upper_swa, swa = cut_runs(state.swa_runs(node), start, middle)
    nodes.full_at[upper], nodes.full_num[upper] = runs.append(upper_full), len(upper_full)
    nodes.swa_at[upper], nodes.swa_num[upper] = runs.append(upper_swa), len(upper_swa)
    nodes.full_at[node], nodes.full_num[node] = runs.append(full), len(full)
    nodes.swa_at[node], nodes.swa_num[node] = runs.append(swa), len(swa)
    return saved


def undo_split(
    state: ReplayState, ids: tuple[int, int, int], full: tuple[int, int], swa: tuple[int, int], stored: int
) -> None:
    """`node` has all its tokens, and `upper` was never there."""
    nodes = state.nodes
    node, upper, start = ids
    nodes.start[node] = start
    nodes.take_out_between(upper, node)
    nodes.full_at[node], nodes.full_num[node] = full
    nodes.swa_at[node], nodes.swa_num[node] = swa
    state.runs.truncate(stored)
    nodes.pop()


def insert(state: ReplayState, event: SpanInserted) -> Saved:
    """A new leaf has tokens and slots of a request."""
    nodes, runs, node, parent = state.nodes, state.runs, event.node, event.parent
    row = request_row(state, event, event.request)
    check_new(state, event, node)
    if parent:
        check_living(state, event, parent)
    _check_span(state, event, row)
    full, swa = state.held["full"].get(row, ()), state.held["swa"].get(row, ())
    full_left = left_after_taking(event, "full", full, event.full)
    swa_left = left_after_taking(event, "swa", swa, event.swa)
    check_inside(event, event.full, event.start, event.stop)
    check_inside(event, event.swa, event.start, event.stop)
    saved = (row, full, swa, len(runs.flat), len(state.tokens), len(state.namespaces.names))
    nodes.append(
        start=event.start,
        stop=event.stop,
        namespace=nodes.namespace[parent] if parent else state.namespaces.intern(event.namespace),
        tokens_at=_tokens_at(state, row, event.start, event.stop),
        locks=0,
        terminal=event.terminal,
        used=event.seq,
        seq=event.seq,
    )
    nodes.link(node, parent)
    nodes.full_at[node], nodes.full_num[node] = runs.append(event.full), len(event.full)
    nodes.swa_at[node], nodes.swa_num[node] = runs.append(event.swa), len(event.swa)
    state.set_held("full", row, full_left)
    state.set_held("swa", row, swa_left)
    return saved


def undo_insert(
    state: ReplayState, row: int, full: Runs, swa: Runs, stored: int, num_tokens: int, num_namespaces: int
) -> None:
    """The request holds the slots, and the leaf was never there."""
    state.set_held("full", row, full)
    state.set_held("swa", row, swa)
    state.nodes.unlink(len(state.nodes) - 1)
    state.nodes.pop()
    state.runs.truncate(stored)
    del state.tokens[num_tokens:]
    state.namespaces.truncate(num_namespaces)


def _check_span(state: ReplayState, event: SpanInserted, row: int) -> None:
    nodes, requests, parent = state.nodes, state.requests, event.parent
    known = requests.num_prompt[row] + requests.num_output[row]
    if not event.start < event.stop <= known:
        raise contradiction(event, f"span [{event.start},{event.stop}) of {known} tokens known of {event.request!r}")
    if event.start != nodes.stop[parent]:
        raise contradiction(event, f"it starts at {event.start}, its parent {parent} stops at {nodes.stop[parent]}")
    if parent and event.namespace:
        namespace = state.namespaces.names[nodes.namespace[parent]]
        if event.namespace != namespace:
            raise contradiction(event, f"namespace {event.namespace!r} under a parent in {namespace!r}")


def _tokens_at(state: ReplayState, row: int, start: int, stop: int) -> int:
    """Where position 0 of the request would be in the token store, for its span [start, stop)."""
    requests, tokens = state.requests, state.tokens
    num_prompt, prompt_at = requests.num_prompt[row], requests.prompt_at[row]
    if stop <= num_prompt:
        return prompt_at
    output_at = requests.output_at[row] - num_prompt
    if start >= num_prompt:
        return output_at
    at = len(tokens) - start
    tokens.extend(tokens[prompt_at + start : prompt_at + num_prompt])
    tokens.extend(tokens[output_at + num_prompt : output_at + stop])
    return at


def end_path(state: ReplayState, event: PathEnded) -> Saved:
    """A path ends at `node`."""
    check_living(state, event, event.node)
    before = state.nodes.terminal[event.node]
    state.nodes.terminal[event.node] = 1
    return event.node, before


def undo_end_path(state: ReplayState, node: int, before: int) -> None:
    """The terminal mark is what it was."""
    state.nodes.terminal[node] = before


def free_swa(state: ReplayState, event: SwaFreed) -> Saved:
    """Window rows of `node` at tokens [start, stop) are gone."""
    nodes, node = state.nodes, event.node
    check_living(state, event, node)
    if not nodes.start[node] <= event.start < event.stop <= nodes.stop[node]:
        span = f"[{nodes.start[node]},{nodes.stop[node]})"
        raise contradiction(event, f"tokens [{event.start},{event.stop}) of node {node}, which is {span}")
    freed, left = cut_runs(state.swa_runs(node), event.start, event.stop)
    if not freed:
        raise contradiction(event, f"node {node} has no window rows in [{event.start},{event.stop})")
    return _set_swa(state, node, left)


def undo_free_swa(state: ReplayState, node: int, at: int, num_runs: int, stored: int) -> None:
    """Window rows of `node` are what they were."""
    state.nodes.swa_at[node], state.nodes.swa_num[node] = at, num_runs
    state.runs.truncate(stored)


def _set_swa(state: ReplayState, node: int, runs: Runs) -> tuple[int, int, int, int]:
    nodes = state.nodes
    saved = (node, nodes.swa_at[node], nodes.swa_num[node], len(state.runs.flat))
    nodes.swa_at[node], nodes.swa_num[node] = state.runs.append(runs), len(runs)
    return saved


def publish_swa(state: ReplayState, event: SwaPublished) -> Saved:
    """Window rows pass from a request to `node`."""
    nodes, node = state.nodes, event.node
    row = request_row(state, event, event.request)
    check_living(state, event, node)
    held = state.held["swa"].get(row, ())
    left = left_after_taking(event, "swa", held, event.runs)
    check_inside(event, event.runs, nodes.start[node], nodes.stop[node])
    both = add_runs(state.swa_runs(node), event.runs)
    if both is None:
        raise contradiction(event, f"node {node} has window rows of these tokens already")
    state.set_held("swa", row, left)
    return row, held, _set_swa(state, node, both)


def undo_publish_swa(state: ReplayState, row: int, held: Runs, swa: tuple[int, int, int, int]) -> None:
    """The window rows are the request's."""
    undo_free_swa(state, *swa)
    state.set_held("swa", row, held)


def evict(state: ReplayState, event: SpanEvicted) -> Saved:
    """A leaf is out of the tree; its columns keep what it had."""
    nodes, node = state.nodes, event.node
    check_living(state, event, node)
    if nodes.first_child[node]:
        raise contradiction(event, f"node {node} is no leaf: node {nodes.first_child[node]} is its child")
    if nodes.locks[node]:
        raise contradiction(event, f"node {node} has {nodes.locks[node]} locks")
    nodes.unlink(node)
    nodes.alive[node], nodes.evicted[node] = 0, event.seq
    return (node,)


def undo_evict(state: ReplayState, node: int) -> None:
    """The leaf is in its place."""
    nodes = state.nodes
    nodes.relink(node)
    nodes.alive[node], nodes.evicted[node] = 1, -1
