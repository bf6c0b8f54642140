"""What of a prompt's state is there: resident rows by kind, along the stored path and in the request's own slots."""

from array import array
from collections.abc import Iterable, Mapping

import msgspec

from shadowviz.replay.probe import probe
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.spans import Extent, merge

ResidentRows = Mapping[str, tuple[Extent, ...] | None]
"""By kind, rows that are there, ascending and disjoint; None = no event speaks of the kind."""


class PromptState(msgspec.Struct, frozen=True):
    """A prompt beside a state: where it leads in the tree, and which of its rows are there."""

    found: LookupDone
    """What a lookup would give at this moment."""
    path: tuple[int, ...]
    """Nodes that hold its beginning, from the root down; the last may reach beyond it."""
    rows: ResidentRows


def request_row(state: Replayer, request: str) -> int:
    """Row of a request in the columns of `state`.

    Raises:
        InputError: there is no such request at this event.
    """
    row = state.requests.index.get(request)
    if row is None:
        raise InputError(
            f"request {request!r} is not there after event {state.seq}: expected one that was submitted by then"
        )
    return row


def request_prompt(state: Replayer, row: int) -> "array[int]":
    """Prompt of the request in `row`, without its output."""
    at = state.requests.prompt_at[row]
    return state.tokens[at : at + state.requests.num_prompt[row]]


def path_tokens(state: Replayer, node: int) -> "array[int]":
    """Tokens from the root to the end of a node; what lies before its own in the store may be another request's."""
    tokens = array("i")
    for above in reversed(tuple(state.nodes.path(node))):
        tokens.extend(state.node_tokens(above))
    return tokens


def prompt_state(state: Replayer, prompt: "array[int]", namespace: str, row: int = -1) -> PromptState:
    """What is there of `prompt`; with the request's `row`, also in the slots that it holds beside the tree.

    Raises:
        LogError: no log was opened.
    """
    found = probe(state, prompt, namespace)
    assert state.opened is not None, "checked by probe"
    path = tuple(state.nodes.path(found.node))[::-1]
    # The last node may go on where the prompt does not.
    common = Extent(0, found.common)
    full = [Extent(start, stop).intersect(common) for node in path for start, stop, _ in state.full_runs(node)]
    swa = [Extent(start, stop).intersect(common) for node in path for start, stop, _ in state.swa_runs(node)]
    if row >= 0:
        full += _held(state, "full", row)
        swa += _held(state, "swa", row)
    return PromptState(found, path, resident_rows(state.opened.geometry, merge(full), merge(swa)))


def resident_rows(geometry: Geometry, full: Iterable[Extent], swa: Iterable[Extent]) -> ResidentRows:
    """Rows of every kind that are there when these tokens have slots in the full and in the window pool.

    A compressed row lives at the full slot of the token that closes it, window and open rows at the window's slots.
    """
    full, swa = tuple(full), tuple(swa)
    return {kind.label: _rows(geometry, kind, full, swa) for kind in geometry.kinds}


def _rows(
    geometry: Geometry, kind: StateKind, full: tuple[Extent, ...], swa: tuple[Extent, ...]
) -> tuple[Extent, ...] | None:
    if kind.shape is Shape.RANGE:
        # Token (r + 1) * unit - 1 closes row r.
        return tuple(merge(Extent(start // kind.unit, stop // kind.unit) for start, stop in full))
    if kind.shape is Shape.WINDOW:
        return swa
    if kind.shape is Shape.OPEN and kind.scope is Scope.FOLLOWS and kind.follows:
        return _rows(geometry, geometry.kind(kind.follows), full, swa)
    return None


def _held(state: Replayer, pool: str, row: int) -> list[Extent]:
    """Tokens of the request's own slots that have been computed: slots are taken before that."""
    computed = Extent(0, state.requests.computed[row])
    return [Extent(start, stop).intersect(computed) for start, stop, _ in state.held[pool].get(row, ())]
