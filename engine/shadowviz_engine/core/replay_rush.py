"""The events that long logs are full of, for a state that goes forward alone: nothing is kept to undo them.

A function here has at hand what it needs of the state, and does to it what the one of its name in `replay_tree` or
`replay_requests` does, for an event of the usual form; any other it leaves to that one, which says what is wrong.
"""

from collections.abc import Callable
from typing import Any

from shadowviz_engine.core import replay_requests as requests
from shadowviz_engine.core import replay_tree as tree
from shadowviz_engine.core.columns import DONE, PREFILL
from shadowviz_engine.core.events import Event, LookupDone, SpanInserted
from shadowviz_engine.core.replay_state import ReplayState


def rushing(state: ReplayState) -> dict[type[Event], Callable[[Any], object]]:
    """What these events do to `state`, until its columns are exchanged for others."""
    return {LookupDone: _look_up(state), SpanInserted: _insert(state)}


def _look_up(state: ReplayState) -> Callable[[LookupDone], object]:
    columns, nodes = state.requests, state.nodes
    row_of, states, computed, lookup = columns.index.get, columns.state, columns.computed, columns.lookup
    num_prompt, alive, last_used, parent = columns.num_prompt, nodes.alive, nodes.last_used, nodes.parent

    def look_up(event: LookupDone) -> None:
        """A request starts with what it reuses; the path found becomes the most recent."""
        row, node, reused = row_of(event.request, -1), event.node, event.reused
        if (
            row < 0
            or states[row] >= DONE
            or not 0 <= node < len(alive)
            or not alive[node]
            or not 0 <= reused <= num_prompt[row]
        ):
            requests.look_up(state, event)
            return
        seq = event.seq
        while node:
            last_used[node] = seq
            node = parent[node]
        states[row], computed[row], lookup[row] = PREFILL, reused, seq

    return look_up


def _insert(state: ReplayState) -> Callable[[SpanInserted], object]:
    columns, nodes, flat = state.requests, state.nodes, state.runs.flat
    held, held_swa = state.held["full"], state.held["swa"]
    row_of, num_prompt, prompt_at = columns.index.get, columns.num_prompt, columns.prompt_at
    parents, alive, stops, namespaces = nodes.parent, nodes.alive, nodes.stop, nodes.namespace
    first_child, previous = nodes.first_child, nodes.previous_sibling
    add_parent, add_start, add_stop, add_namespace = (
        column.append for column in (parents, nodes.start, stops, namespaces)
    )
    add_child, add_next, add_previous = (column.append for column in (first_child, nodes.next_sibling, previous))
    add_tokens, add_locks, add_terminal = (column.append for column in (nodes.tokens_at, nodes.locks, nodes.terminal))
    add_alive, add_used, add_created, add_evicted = (
        column.append for column in (alive, nodes.last_used, nodes.created, nodes.evicted)
    )
    add_full, add_num_full, add_swa, add_num_swa, add_number = (
        column.append for column in (nodes.full_at, nodes.full_num, nodes.swa_at, nodes.swa_num, flat)
    )

    def insert(event: SpanInserted) -> None:
        """A new leaf has tokens and slots of a request, which holds them at the beginning of a run."""
        # One function, however long: calls would cost as much as what they do. `NodeColumns` is filled as its own
        # `append_leaf` does it, which the tests compare.
        node, parent, start, stop, full = event.node, event.parent, event.start, event.stop, event.full
        row = row_of(event.request, -1)
        if (
            len(full) != 1
            or row < 0
            or node != len(parents)
            or not 0 <= parent < node
            or not alive[parent]
            or not start < stop <= num_prompt[row]
            or start != stops[parent]
            or event.namespace
            or (event.swa and event.swa != full)
        ):
            tree.insert(state, event)
            return
        ((first, last, slot),) = full
        swa, holding = event.swa, held.get(row, ())
        if len(holding) != 1 or (swa and held_swa.get(row) != holding):
            tree.insert(state, event)
            return
        ((low, high, base),) = holding
        if slot != base or not start <= first < last <= stop or first != low or last > high:
            tree.insert(state, event)
            return
        if last < high:
            held[row] = left = ((last, high, base + last - low),)
            if swa:
                held_swa[row] = left
        else:
            del held[row]
            if swa:
                del held_swa[row]
        seq, at, sibling = event.seq, len(flat), first_child[parent]
        add_number(first)
        add_number(last)
        add_number(slot)
        add_parent(parent)
        add_child(0)
        add_next(sibling)
        add_previous(0)
        add_start(start)
        add_stop(stop)
        add_namespace(namespaces[parent] if parent else 0)
        add_tokens(prompt_at[row])
        add_locks(0)
        add_terminal(event.terminal)
        add_alive(1)
        add_used(seq)
        add_created(seq)
        add_evicted(-1)
        add_full(at)
        add_num_full(1)
        if swa:
            add_swa(at)
            add_num_swa(1)
        else:
            add_swa(len(flat))
            add_num_swa(0)
        first_child[parent] = node
        if sibling:
            previous[sibling] = node

    return insert
