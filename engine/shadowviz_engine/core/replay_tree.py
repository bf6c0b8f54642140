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
    count_locks(state, node, 1)
    state.requests.lock_node[row] = node
    return row, before, node


def undo_lock(state: ReplayState, row: int, before: int, node: int) -> None:
    """The lock was never there."""
    count_locks(state, node, -1)
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
    count_locks(state, node, -1)
    if before == node:
        state.requests.lock_node[row] = 0
    return row, before, node


def undo_unlock(state: ReplayState, row: int, before: int, node: int) -> None:
    """The lock is still there."""
    count_locks(state, node, 1)
    state.requests.lock_node[row] = before


def count_locks(state: ReplayState, node: int, change: int) -> None:
    """So many locks more, or less, on every node from `node` up."""
    locks, parent = state.nodes.locks, state.nodes.parent
    while node:
        locks[node] += change
        node = parent[node]


def split(state: ReplayState, event: SpanSplit) -> Saved:
    """The new node `upper` takes the place, the locks, the first tokens and their slots of `node`."""
    nodes, runs, node, upper = state.nodes, state.runs, event.node, event.upper
    if upper != len(nodes.parent) or not 0 < node < upper or not nodes.alive[node]:
        check_living(state, event, node)
        check_new(state, event, upper)
    start, stop = nodes.start[node], nodes.stop[node]
    middle = start + event.at
    if not start < middle < stop:
        raise contradiction(event, f"{event.at} tokens do not cut node {node} of {stop - start}")
    full_at, full_num = nodes.full_at[node], nodes.full_num[node]
    swa_at, swa_num = nodes.swa_at[node], nodes.swa_num[node]
    stored = len(runs.flat)
    full = swa = runs.cut(full_at, full_num, middle)
    if swa_at != full_at or swa_num != full_num:
        swa = runs.cut(swa_at, swa_num, middle)
    span = (start, middle, nodes.namespace[node], nodes.tokens_at[node])
    nodes.append_above(node, span, (full[0], full[1], swa[0], swa[1]), event.seq)
    nodes.start[node] = middle
    nodes.full_at[node], nodes.full_num[node] = full[2], full[3]
    nodes.swa_at[node], nodes.swa_num[node] = swa[2], swa[3]
    return (node, upper, start), (full_at, full_num), (swa_at, swa_num), stored


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
    runs, full, swa = state.runs, event.full, event.swa
    row = leaf_row(state, event)
    pools = state.held
    held_full, held_swa = pools["full"].get(row, ()), pools["swa"].get(row, ())
    full_left = left_after_taking(event, "full", held_full, full)
    check_inside(event, full, event.start, event.stop)
    # A token may have the same slot in both pools: what is equal is checked and stored once.
    same = full == swa
    swa_left = full_left if same and held_full == held_swa else left_after_taking(event, "swa", held_swa, swa)
    if not same:
        check_inside(event, swa, event.start, event.stop)
    saved = (row, held_full, held_swa, len(runs.flat), len(state.tokens), len(state.namespaces.names))
    add_leaf(state, event, row)
    if held_full:
        state.set_held("full", row, full_left)
    if held_swa:
        state.set_held("swa", row, swa_left)
    return saved


def leaf_row(state: ReplayState, event: SpanInserted) -> int:
    """Row of the request whose tokens become a leaf, which has its place in the tree.

    Raises:
        LogError: there is no such request, or no such place.
    """
    nodes, requests, node, parent = state.nodes, state.requests, event.node, event.parent
    row = requests.index.get(event.request, -1)
    if row < 0 or node != len(nodes.parent) or (parent and (not 0 < parent < node or not nodes.alive[parent])):
        row = request_row(state, event, event.request)
        check_new(state, event, node)
        check_living(state, event, parent)
    start = event.start
    if (
        not start < event.stop <= requests.num_prompt[row]
        or start != nodes.stop[parent]
        or (parent and event.namespace)
    ):
        _check_span(state, event, row)
    return row


def add_leaf(state: ReplayState, event: SpanInserted, row: int) -> None:
    """The leaf of an event that was checked is in the tree; what the request holds is as before."""
    nodes, runs, requests, parent = state.nodes, state.runs, state.requests, event.parent
    start, stop, full, swa = event.start, event.stop, event.full, event.swa
    within = stop <= requests.num_prompt[row]
    origin = requests.prompt_at[row] if within else tokens_at(state, row, start, stop)
    full_at = runs.append(full)
    nodes.append_leaf(
        parent,
        (start, stop, nodes.namespace[parent] if parent else state.namespaces.intern(event.namespace), origin),
        (full_at, len(full), full_at if full == swa else runs.append(swa), len(swa)),
        event.terminal,
        event.seq,
    )


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


def tokens_at(state: ReplayState, row: int, start: int, stop: int) -> int:
    """Where position 0 of the request would be in the token store, for a span [start, stop) that its prompt lacks."""
    requests, tokens = state.requests, state.tokens
    num_prompt, prompt_at = requests.num_prompt[row], requests.prompt_at[row]
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
    row = request_row(state, event, event.request)
    held = state.held["swa"].get(row, ())
    check_living(state, event, event.node)
    left = left_after_taking(event, "swa", held, event.runs)
    saved = heal(state, event)
    state.set_held("swa", row, left)
    return row, held, saved


def heal(state: ReplayState, event: SwaPublished) -> tuple[int, int, int, int]:
    """A living node has window rows again; what the request holds is as before.

    Raises:
        LogError: the rows, which are sound, are not of its tokens, or it has them already.
    """
    nodes, node = state.nodes, event.node
    check_inside(event, event.runs, nodes.start[node], nodes.stop[node])
    both = add_runs(state.swa_runs(node), event.runs)
    if both is None:
        raise contradiction(event, f"node {node} has window rows of these tokens already")
    return _set_swa(state, node, both)


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
