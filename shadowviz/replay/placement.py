"""Where the state of a recorded request lies: pages and slots of every kind at one moment of a run."""

import msgspec

from shadowviz.replay.derivation import Place
from shadowviz_engine.core.derive import Origin, StateDescriptor
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.spans import Extent


def place_request(state: Replayer, request: str, span: Extent) -> Place:
    """Adds pages and slots to the descriptors of a request's tokens, in `state`.

    Every pool is addressed from the full slot of a token, compressed rows from that of the token that closes the
    entry. Rows without a slot are left out: they were freed, evicted or never computed.

    Raises:
        InputError: there is no such request, or it has fewer tokens than the span.
    """
    row = state.requests.index.get(request)
    if row is None or state.opened is None:
        raise InputError(f"the run has no request {request!r}: expected one that was submitted")
    tokens = state.request_tokens(row)
    if span.stop > len(tokens):
        raise InputError(f"request {request!r} has {len(tokens)} tokens: expected a span within them, not {span}")
    full, swa = _slots(state, row, "full"), _slots(state, row, "swa")
    geometry = state.opened.geometry
    return lambda descriptor: _placed(geometry, descriptor, full, swa)


def _placed(
    geometry: Geometry, descriptor: StateDescriptor, full: dict[int, int], swa: dict[int, int]
) -> StateDescriptor:
    kind = geometry.kind(descriptor.kind)
    page = geometry.page_size
    rows = range(*descriptor.rows)
    if kind.shape is Shape.RANGE:
        closing = [full.get((row + 1) * kind.unit - 1) for row in rows]
        places = [slot for slot in closing if slot is not None]
        slots = tuple(slot // kind.unit for slot in places)
    else:
        places = [swa[row] for row in rows if row in swa]
        slots = tuple(places)
    pages = tuple(dict.fromkeys(slot // page for slot in places))
    return msgspec.structs.replace(descriptor, slots=slots, pages=pages, origin=Origin.OBSERVED)


def _slots(state: Replayer, row: int, pool: str) -> dict[int, int]:
    """Slot of every token of a request that has one: of the tree's path that equals it, and of its own holdings."""
    slots = _by_token(state.held[pool].get(row, ()))
    for node in _path_of(state, row):
        slots.update(_by_token(state.full_runs(node) if pool == "full" else state.swa_runs(node)))
    return slots


def _by_token(runs: Runs) -> dict[int, int]:
    return {token: slot + token - start for start, stop, slot in runs for token in range(start, stop)}


def _path_of(state: Replayer, row: int) -> list[int]:
    """Nodes of the tree whose tokens are those of the request, from the root down."""
    nodes, tokens, namespace = state.nodes, state.request_tokens(row), state.requests.namespace[row]
    path: list[int] = []
    node = 0
    while True:
        fitting = (
            child
            for child in nodes.children(node)
            if nodes.namespace[child] == namespace
            and state.node_tokens(child) == tokens[nodes.start[child] : nodes.stop[child]]
        )
        node = next(fitting, 0)
        if not node:
            return path
        path.append(node)
