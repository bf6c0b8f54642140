"""Rows of every kind that spans own and hold: counted from the slots of their tokens, or unknown."""

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Ints, RunColumns, TreeColumns
from shadowviz.diagrams.tree import KindRows
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.replayer import Replayer


class Pools(msgspec.Struct, frozen=True):
    """Which pools the events speak of; the rows of the others are unknown."""

    full: bool
    swa: bool


def pools_of(state: Replayer, columns: TreeColumns) -> Pools:
    """The pools that the run has pages of, or slots in."""
    opened = state.opened
    return Pools(
        full=bool((opened and opened.num_full_pages) or columns.full.num.any() or any(state.held_runs("full"))),
        swa=bool((opened and opened.num_swa_pages) or columns.swa.num.any() or any(state.held_runs("swa"))),
    )


def knows(kind: StateKind, pools: Pools) -> bool:
    """Whether the events say which rows of `kind` the tree holds.

    RANGE rows follow the full slots, WINDOW and OPEN rows the window slots. No event speaks of the snapshots of a
    POINT kind. A kind that lives with a request, or is made again from token ids, is never in the tree.
    """
    if kind.scope is Scope.REQUEST:
        return True
    match kind.shape:
        case Shape.RANGE:
            return pools.full
        case Shape.WINDOW | Shape.OPEN:
            return pools.swa
        case Shape.POINT:
            return False
        case Shape.KEY:
            return True


class RowCounts(msgspec.Struct, frozen=True, eq=False):
    """Rows of one kind by node, in the order of the nodes that were asked about."""

    kind: str
    owned: Ints
    resident: Ints | None
    origin: Origin


def row_counts(columns: TreeColumns, kind: StateKind, nodes: Ints, pools: Pools) -> RowCounts:
    """Rows of `kind` that each of `nodes` owns and holds."""
    return rows_within(columns, kind, nodes, (columns.start[nodes], columns.stop[nodes]), pools)


def rows_within(columns: TreeColumns, kind: StateKind, nodes: Ints, span: tuple[Ints, Ints], pools: Pools) -> RowCounts:
    """Rows of `kind` that each of `nodes` owns and holds in a part of it; a node may be named again.

    Args:
        span: where the parts start and stop.
    """
    owned = _owned(kind, *span)
    if not knows(kind, pools):
        return RowCounts(kind.label, owned, None, Origin.ASSUMED)
    if kind.scope is Scope.REQUEST or kind.shape is Shape.KEY:
        return RowCounts(kind.label, owned, np.zeros_like(owned), Origin.DERIVED)
    runs = columns.full if kind.shape is Shape.RANGE else columns.swa
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    return RowCounts(kind.label, owned, _closed(runs, nodes, span, unit), Origin.OBSERVED)


def _owned(kind: StateKind, start: Ints, stop: Ints) -> Ints:
    """Size of `owned_rows` for many spans."""
    match kind.shape:
        case Shape.RANGE:
            return stop // kind.unit - start // kind.unit
        case Shape.WINDOW | Shape.OPEN:
            return stop - start
        case Shape.POINT:
            return stop // kind.grid - start // kind.grid
        case Shape.KEY:
            return np.zeros_like(start)


def _closed(runs: RunColumns, nodes: Ints, span: tuple[Ints, Ints], unit: int) -> Ints:
    """Rows of `unit` tokens whose closing token lies in a run of each node, within its part."""
    owner, start, stop, _ = runs.of(nodes)
    start, stop = np.maximum(start, span[0][owner]), np.minimum(stop, span[1][owner])
    rows = np.where(stop > start, stop // unit - start // unit, 0)
    return np.bincount(owner, weights=rows, minlength=len(nodes)).astype(np.int64)


def as_rows(counts: list[RowCounts], num_nodes: int) -> list[tuple[KindRows, ...]]:
    """The same counts by node; equal values are one object."""
    known: dict[tuple[str, int, int], KindRows] = {}
    by_kind = []
    for count in counts:
        resident = [-1] * num_nodes if count.resident is None else count.resident.tolist()
        column = []
        for owned, there in zip(count.owned.tolist(), resident, strict=True):
            key = (count.kind, owned, there)
            rows = known.get(key)
            if rows is None:
                rows = known[key] = KindRows(count.kind, owned, None if there < 0 else there, count.origin)
            column.append(rows)
        by_kind.append(column)
    return list(zip(*by_kind, strict=True)) if by_kind else [()] * num_nodes
