"""What a lookup took: entries by the slots where they lie, the window that the next token reads, open tails."""

from collections.abc import Iterator, Sequence

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Compressor, Geometry
from shadowviz_engine.core.holdings import Run
from shadowviz_engine.core.kinds import Shape, needed_rows
from shadowviz_engine.core.replay_state import ReplayState
from shadowviz_engine.core.spans import EMPTY, Extent


class Pair(msgspec.Struct, frozen=True):
    """The two compressors of a hybrid geometry, the finer one first; None = it has none."""

    csa: Compressor | None
    hca: Compressor | None


class Reused(msgspec.Struct, frozen=True):
    """State that a lookup took, of one of the two compressors each."""

    length: int
    csa: Sequence[int] | None
    """Slot of every entry in its pool, in order of the path; None = the record does not tell."""
    hca: Sequence[int] | None
    window: Extent
    """Tokens whose raw rows the next token reads."""


def compressors_of(geometry: Geometry) -> Pair:
    """The compressors that a text about CSA, HCA and SWA can speak of.

    Raises:
        InputError: the geometry has other state, or more than two compressors.
    """
    compressors = sorted(geometry.compressors, key=lambda item: item.ratio)
    shapes = {kind.shape for kind in geometry.kinds}
    units = {item.ratio for item in compressors}
    foreign = any(kind.shape is Shape.RANGE and kind.unit not in units for kind in geometry.kinds)
    if not geometry.n_win or foreign or len(compressors) > 2 or not shapes <= {Shape.RANGE, Shape.WINDOW, Shape.OPEN}:
        kinds = ", ".join(kind.label for kind in geometry.kinds)
        raise InputError(
            f"this form speaks of a window and up to two compressors: geometry {geometry.name} has {kinds}; "
            "expected a run of a hybrid model such as v4-flash"
        )
    if len(compressors) == 2:
        return Pair(*compressors)
    only = compressors[0] if compressors else None
    return Pair(None, only) if only is not None and only.name == "hca" else Pair(only, None)


def reused_state(state: ReplayState, geometry: Geometry, pair: Pair, lookup: LookupDone) -> Reused:
    """What `lookup` took, in the state that it met."""
    length = lookup.reused
    runs = list(_path_runs(state, lookup.node, length)) if length else []
    window = next((needed_rows(kind, length) for kind in geometry.kinds if kind.shape is Shape.WINDOW), EMPTY)
    return Reused(length, _entries(runs, pair.csa, length), _entries(runs, pair.hca, length), window)


def _path_runs(state: ReplayState, node: int, length: int) -> Iterator[Run]:
    """Slots of the tokens [0, length) on the path of `node`, as runs by position."""
    path = []
    while node:
        path.append(node)
        node = state.nodes.parent[node]
    for above in reversed(path):
        if state.nodes.start[above] >= length:
            return
        for start, stop, slot in state.full_runs(above):
            if start < length:
                yield start, min(stop, length), slot


def _entries(runs: Sequence[Run], compressor: Compressor | None, length: int) -> Sequence[int] | None:
    """Slot of each entry: that of the token which closes it, in entries."""
    if compressor is None:
        return ()
    ratio = compressor.ratio
    ids: list[int] = []
    for start, stop, slot in runs:
        first, last = start // ratio, stop // ratio
        place = (slot + (first + 1) * ratio - 1 - start) // ratio
        ids.extend(range(place, place + last - first))
    return ids if len(ids) == length // ratio else None
