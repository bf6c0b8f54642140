"""Rows that many events add to the columns of a state at once: requests, and nodes with what a leaf is made with."""

from array import array
from typing import TypeAlias

import numpy as np

from shadowviz.replay.bulk.columns import Columns, Ints, Leaves, ends_of
from shadowviz.replay.bulk.slots import SlotSums
from shadowviz.replay.bulk.unsound import Unsound
from shadowviz_engine.core import replay_tree as tree
from shadowviz_engine.core.columns import QUEUED, NodeColumns
from shadowviz_engine.core.replay_state import ReplayState

Numbers: TypeAlias = "array[int]"


def submit(state: ReplayState, events: Columns) -> None:
    """Requests join the queue.

    Raises:
        Unsound: a name is taken, or tokens are no whole number of ids.
    """
    columns, first, num = state.requests, len(state.requests), len(events.requests)
    sizes = ints(events.prompt_bytes)
    columns.index.update(zip(events.requests, range(first, first + num), strict=True))
    if len(columns.index) != first + num or (sizes % 4).any():
        raise Unsound("a request was submitted twice, or part of a token id")
    sizes = sizes // 4
    columns.names.extend(events.requests)
    columns.state.extend(bytes((QUEUED,)) * num)
    _extend(columns.num_prompt, sizes)
    _extend(columns.prompt_at, len(state.tokens) + np.cumsum(sizes) - sizes)
    state.add_tokens(events.prompts)
    if events.prompt_namespaces:
        columns.namespace.extend(map(state.namespaces.intern, events.prompt_namespaces))
    else:
        _extend_with_zeros(columns.namespace, num)
    for column in (columns.num_output, columns.computed, columns.lock_node, columns.output_at):
        _extend_with_zeros(column, num)
    columns.lookup.frombytes(b"\xff" * (8 * num))


def add_nodes(nodes: NodeColumns, num: int) -> None:
    """Rows of living nodes that were used, evicted and locked never, and have nothing else yet."""
    nodes.alive.extend(b"\x01" * num)
    nodes.terminal.extend(bytes(num))
    for name in NodeColumns.__slots__:
        column = getattr(nodes, name)
        if name == "evicted":
            column.frombytes(b"\xff" * (8 * num))
        elif isinstance(column, array):
            _extend_with_zeros(column, num)


def fill(state: ReplayState, leaves: Leaves, ids: Ints, sums: tuple[SlotSums, SlotSums]) -> None:
    """Put all into the rows of leaves but their places among other nodes and their namespaces.

    Args:
        ids: nodes that they must be.
        sums: of slots that requests hold, of both pools; those of the leaves are taken off.

    Raises:
        Unsound: events do not fit together.
    """
    nodes, index = state.nodes, state.requests.index
    node, parent, start, stop, seq = ints(leaves.numbers).reshape(5, -1)
    try:
        row = np.fromiter(map(index.__getitem__, leaves.requests), np.int64, len(node))
    except KeyError:
        raise Unsound("tokens of a request that was never submitted") from None
    if not np.array_equal(node, ids) or parent.min() < 0 or (parent >= node).any():
        raise Unsound("a node is not the next one, or its parent is later")
    if start.min() < 0 or (start >= stop).any() or stop.max() >= 2**31:
        raise Unsound("a span is empty or out of range")
    for packed, pools in zip(leaves.runs, ((0, 1),) if len(leaves.runs) == 1 else ((0,), (1,)), strict=True):
        num, runs = ints(packed[0]), ints(packed[1]).reshape(-1, 3)
        places = _store(state, num, runs, start, stop)
        given = ends_of(runs, -1)
        for pool in pools:
            sums[pool].add(given)
            _put(nodes.swa_at if pool else nodes.full_at, node, places)
            _put(nodes.swa_num if pool else nodes.full_num, node, num)
    for column, values in (
        (nodes.parent, parent), (nodes.start, start), (nodes.stop, stop), (nodes.last_used, seq),
        (nodes.created, seq), (nodes.tokens_at, _tokens_at(state, row, start, stop)),
    ):  # fmt: skip
        _put(column, node, values)
    np.frombuffer(nodes.terminal, np.uint8)[node] = np.frombuffer(leaves.terminal, np.uint8)


def check_starts(nodes: NodeColumns, first: int) -> None:
    """Nodes from `first` on begin where their parents end.

    Raises:
        Unsound: one does not.
    """
    start, stop, parent = (np.frombuffer(column, np.int32) for column in (nodes.start, nodes.stop, nodes.parent))
    if (start[first:] != stop[parent[first:]]).any():
        raise Unsound("a node does not begin where its parent ends")


def ints(packed: bytes) -> Ints:
    """Numbers of `Columns`."""
    return np.frombuffer(packed, np.int64)


def _tokens_at(state: ReplayState, row: Ints, start: Ints, stop: Ints) -> Ints:
    """Where position 0 of the path of each span would be in the token store."""
    requests = state.requests
    num_prompt, places = (
        np.frombuffer(column, column.typecode)[row] for column in (requests.num_prompt, requests.prompt_at)
    )
    for place in np.flatnonzero(stop > num_prompt).tolist():
        one, end = int(row[place]), int(stop[place])
        if end > requests.num_prompt[one] + requests.num_output[one]:
            raise Unsound("a span of tokens that nobody knows")
        places[place] = tree.tokens_at(state, one, int(start[place]), end)
    return places.astype(np.int64, copy=False)


def _store(state: ReplayState, num: Ints, runs: Ints, start: Ints, stop: Ints) -> Ints:
    """Put the runs of spans into the store; where those of each begin.

    Raises:
        Unsound: they are not sound, or not within the span.
    """
    begins, ends, slots = runs.T
    of = np.repeat(np.arange(len(num)), num)
    if (
        (begins >= ends).any()
        or (begins < start[of]).any()
        or (ends > stop[of]).any()
        or ((ends[:-1] > begins[1:]) & (of[:-1] == of[1:])).any()
        or (slots < 0).any()
        or (slots + ends - begins >= 2**31).any()
    ):
        raise Unsound("runs of a span are out of order or out of range")
    places: Ints = len(state.runs.flat) + 3 * (np.cumsum(num) - num)
    _extend(state.runs.flat, runs.reshape(-1))
    return places


def _put(column: Numbers, places: Ints, values: Ints) -> None:
    np.frombuffer(column, column.typecode)[places] = values


def _extend(column: Numbers, values: Ints) -> None:
    column.frombytes(values.astype(column.typecode).tobytes())


def _extend_with_zeros(column: Numbers, num: int) -> None:
    column.frombytes(bytes(num * column.itemsize))
