"""Faults of the bookkeeping by the trap that each stands for: the scene that provokes it, and what it shows first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from shadowviz.experiments.stress.fault_verdicts import BOOKS, LOOKUP, Truth
from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, needed_rows
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.fault_forms import INDEX, SWA
from shadowviz_engine.model.step import Ints
from shadowviz_engine.runtime.injection import LONE_SHIFTED, PASS_FAULTS

Place = tuple[int, str, int]
"""Layer, kind and row."""
_NO_ROW_KEPT = "no row of the window is kept for it there"


@dataclass(frozen=True)
class TrapFault:
    """One fault of the bookkeeping; L is the length of a cell."""

    name: str
    trap: str
    scenes: tuple[str, ...]
    """Scenes that provoke it; the first is the one that its own mode plays."""
    absent: Callable[[Geometry, int], str]
    """Why there is no such fault at L; empty where there is."""
    shows: Callable[[Geometry, int, int, Ints], Truth]
    """What it shows in a run that stops somewhere, over master tokens; without the fault's name."""

    @property
    def text(self) -> str:
        """What it does."""
        return (FAULTS | PASS_FAULTS)[self.name]

    def truth(self, geometry: Geometry, length: int, stop: int, tokens: Ints) -> Truth:
        """What one of its scenes holds of it.

        Args:
            stop: where the run stops that is looked at.
            tokens: master tokens, two more than L at least.
        """
        reason = self.absent(geometry, length)
        if reason:
            return Truth(fault=self.name, hidden=reason)
        return replace(self.shows(geometry, length, stop, tokens), fault=self.name)


def first_found(geometry: Geometry, wrong: Extent, length: int) -> Place | None:
    """The first wrong row that a run from `length` finds, where the slots of some tokens hold other rows.

    None where it finds none of them.
    """
    for layer in range(_num_layers(geometry)):
        for kind in geometry.kinds:
            if layer not in kind.owners:
                continue
            rows = needed_rows(kind, length)
            if kind.shape is Shape.RANGE:
                # An entry lies at the slot of the token that closes it.
                rows = rows.intersect(Extent(-(-(wrong.start + 1) // kind.unit) - 1, wrong.stop // kind.unit))
            else:
                rows = rows.intersect(wrong)
            if rows:
                return layer, kind.label, rows.start
    return None


def first_read(geometry: Geometry, length: int, stop: int) -> Place | None:
    """The first read that differs where all rows before `length` are overwritten in the pass that goes on from there.

    None where none of them is read.
    """
    for layer in range(_num_layers(geometry)):
        own = next((one for one in geometry.compressors if layer in geometry.kind(f"{one.name}_kv").owners), None)
        if own is not None:
            first = max(0, length // own.ratio * own.ratio - (own.ratio if own.overlap else 0))
            if first < length and (length // own.ratio + 1) * own.ratio <= stop:
                return layer, f"{own.name}_tail", first
        if geometry.n_win > 1:
            return layer, SWA, max(0, length - geometry.n_win + 1)
        if own is not None and length >= own.ratio:
            ranked = own.indexed and stop // own.ratio > geometry.index_topk
            return layer, INDEX if ranked else f"{own.name}_kv", 0
    return None


def _num_layers(geometry: Geometry) -> int:
    return 1 + max(layer for kind in geometry.kinds for layer in kind.owners)


def _start(geometry: Geometry, length: int) -> int:
    """First token whose window-table row is kept for a resume at `length`; `length` where none is."""
    kept = retained_tokens(geometry, length, page_rule=False)
    return kept.start if kept else length


def _rows(place: Place | None, offset: int, geometry: Geometry) -> Truth:
    """Rows that are wrong; they show at an offset, at once where a query's window always reads one of them."""
    if place is None:
        return Truth(hidden="nobody reads the rows that are wrong")
    layer, kind, row = place
    return Truth(kind=kind, layer=layer, row=row, predicted=offset, must_show=geometry.n_win > 1)


def _uncapped(_: Geometry, length: int, __: int, tokens: Ints) -> Truth:
    row = length + 1
    if tokens[row] == tokens[row - 1]:
        return Truth(kind=LOOKUP)
    return Truth(kind=SWA, layer=0, row=row, predicted=1, must_show=True)


def _shifted(geometry: Geometry, length: int, _: int, __: Ints) -> Truth:
    return _rows((0, SWA, length), 0, geometry)


def _evicted(geometry: Geometry, length: int, stop: int, _: Ints) -> Truth:
    return _rows(first_read(geometry, length, stop), 0, geometry)


def _twin(geometry: Geometry, length: int, _: int, __: Ints) -> Truth:
    return _rows(first_found(geometry, Extent(0, length), length), 0, geometry)


def _one_row(geometry: Geometry, length: int, _: int, __: Ints) -> Truth:
    """The rows of the token at L are wrong, and a run goes on behind it."""
    return _rows(first_found(geometry, Extent(length, length + 1), length + 1), 1, geometry)


def _cut_short(geometry: Geometry, length: int, stop: int, tokens: Ints) -> Truth:
    """Where a page ends with what was computed, no slot is left for more: what is stored is right, and too much."""
    return _one_row(geometry, length, stop, tokens) if length % geometry.page_size else Truth(kind=LOOKUP)


def _another_length(_: Geometry, __: int, ___: int, ____: Ints) -> Truth:
    return Truth(kind=LOOKUP)


def _broken_books(_: Geometry, __: int, ___: int, ____: Ints) -> Truth:
    return Truth(kind=BOOKS)


def _never(_: Geometry, __: int) -> str:
    return ""


def _at_page(geometry: Geometry, length: int) -> str:
    return "" if length % geometry.page_size else "a page begins there, so none is shared or left in part"


def _no_leftover(geometry: Geometry, length: int) -> str:
    return "" if (length + 1) % geometry.page_size else "the last page is full, so no slot is left over"


def _row_kept(geometry: Geometry, length: int) -> str:
    if _start(geometry, length) == length:
        return _NO_ROW_KEPT
    kept = _start(geometry, length) >= _start(geometry, length + 1)
    return "the end of the prompt keeps the same row" if kept else ""


def _nothing_to_heal(geometry: Geometry, length: int) -> str:
    return _NO_ROW_KEPT if _start(geometry, length) == length else ""


_LOCKING = ("again", "forked", "twins", "aborted", "answered", "healed", "evicted")
_ALL = (
    TrapFault("full_hit_uncapped", "page-aligned full hit", ("again",), _never, _uncapped),
    TrapFault(LONE_SHIFTED, "exactly one token left to compute", ("again",), _never, _shifted),
    TrapFault("fork_overwrites", "fork inside a window", ("forked",), _at_page, _one_row),
    TrapFault("twin_freed", "two requests that end inside the same window", ("twins",), _never, _twin),
    TrapFault("lock_skipped", "eviction between match and load", ("pressed",), _never, _evicted),
    TrapFault("abort_published", "abort in mid-prefill", ("aborted",), _never, _cut_short),
    TrapFault("last_token_published", "last-page partial", ("answered",), _at_page, _one_row),
    TrapFault("window_off_by_one", "SWA window off by one", ("again",), _row_kept, _another_length),
    TrapFault("heal_skipped", "window rows that come back", ("healed",), _nothing_to_heal, _another_length),
    TrapFault("tombstone_mapped", "window rows that leave", ("evicted",), _never, _broken_books),
    TrapFault("slot_leaked", "slots of a request that ends", ("again",), _no_leftover, _broken_books),
    TrapFault("unlock_skipped", "locks of a request that ends", _LOCKING, _never, _broken_books),
)
TRAP_FAULTS = {fault.name: fault for fault in _ALL}
"""Fault by name."""
