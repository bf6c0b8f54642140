"""What a check saw, held against what had been put in."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import msgspec

from shadowviz.experiments.stress.cold_runs import ColdRun
from shadowviz.experiments.stress.compare import Difference, LogitsDifference
from shadowviz.experiments.stress.work import CellResult
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.fault_forms import Fault, RowFault, compressor_of
from shadowviz_engine.model.faults import place_fault

_MOST_SHOWN = 1e300
"""Stands for an infinite difference, which JSON does not know."""
SAME_ROWS = "the rows of the other request have the same bits"
LOOKUP = "length"
"""Stands for a kind where another length was reused than should have been."""
BOOKS = "books"
"""Stands for a kind where the cache's own invariants do not hold."""
BEYOND = "it shows only beyond the end of the run"


@dataclass(frozen=True)
class Sighting:
    """What the checker saw of a run, without knowing what had been put in."""

    difference: Difference | None
    logits: LogitsDifference
    reused: str = ""
    """What was reused, where that is not what should have been."""
    books: str = ""
    """What the cache's invariants say, where they do not hold."""
    refused: str = ""
    """Why the engine would not go on, where it would not."""

    @property
    def bits(self) -> bool:
        """Whether any bit was not as in the cold run."""
        return self.difference is not None or self.logits.position >= 0

    @property
    def anything(self) -> bool:
        """Whether anything was not as it should be."""
        return self.bits or bool(self.reused or self.books or self.refused)


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What had been put in."""

    fault: str = ""
    """Empty = nothing."""
    kind: str = ""
    layer: int = -1
    """First layer in which it acted; -1 = in none."""
    row: int = -1
    predicted: int = -1
    """Tokens behind the length of the first logits that can differ; -1 = none within the run."""
    must_show: bool = False
    """Whether those do differ; else none before them may."""
    hidden: str = ""
    """Why nothing of it can be seen; empty where it must be."""

    @property
    def acted(self) -> bool:
        """Whether anything was wrong through it."""
        return self.layer >= 0 or self.kind in (LOOKUP, BOOKS)


def truth_of(
    name: str, fault: Fault, geometry: Geometry, length: int, stop: int, acted: tuple[int, int] | None
) -> Truth:
    """What a run from `length` to `stop` holds of a fault.

    Args:
        acted: first layer and row that the engine says are wrong, layer -1 where the bits are the right ones; None = it
            says nothing.
    """
    absent = fault.reason_absent(geometry, length)
    if absent or acted is None:
        return Truth(fault=name, kind=fault.kind, hidden=absent or "it did not act")
    layer, row = acted
    if layer < 0:
        return Truth(fault=name, kind=fault.kind, hidden=SAME_ROWS)
    offset = fault.first_offset(geometry, length)
    within = offset < stop - length
    return Truth(
        fault=name,
        kind=fault.first_kind(geometry, stop),
        layer=layer,
        row=row,
        predicted=offset if within else -1,
        must_show=within and fault.must_show(geometry, length),
        hidden="" if within or fault.in_state else BEYOND,
    )


def sharpened(truth: Truth, geometry: Geometry, length: int, stop: int, cold: ColdRun) -> Truth:
    """A prediction that leaves open when the indexer chooses a wrong entry, closed by what it chose in the cold run.

    It stays open where index keys are wrong too: then it may choose otherwise.
    """
    if truth.layer < 0 or truth.predicted < 0 or truth.must_show:
        return truth
    placed = place_fault(truth.fault, geometry)
    compressor = compressor_of(geometry, placed.fault.kind)
    if not isinstance(placed.fault, RowFault) or compressor is None or placed.fault.kind.startswith("index"):
        return truth
    wrong = placed.fault.wrong_entries(geometry, length)
    offsets = [
        first - length
        for layer in placed.layers
        if (first := _first_choice(cold, (f"{compressor.name}_kv", layer), wrong, length, stop)) is not None
    ]
    return msgspec.structs.replace(truth, predicted=min(offsets, default=-1), must_show=bool(offsets))


def _first_choice(cold: ColdRun, key: tuple[str, int], entries: Extent, start: int, stop: int) -> int | None:
    """First query in [start, stop) that read one of the entries in a cold run."""
    reads = cold.reads.get(key)
    if reads is None:
        return None
    hit = ((reads.columns >= entries.start) & (reads.columns < entries.stop)).any(axis=1)
    hit &= (reads.readers >= start) & (reads.readers < stop)
    return int(reads.readers[hit][0]) if hit.any() else None


def verdict(mode: str, length: int, seen: Sighting, truth: Truth) -> CellResult:
    """The cell: found, missed, hidden, or a false alarm, which is one with no fault in its name."""
    acted = truth.acted
    # A fault that did not act is no excuse for a difference.
    named = truth.fault if acted or not seen.anything else ""
    found = CellResult(
        mode=mode,
        length=length,
        fault=named,
        fault_kind=truth.kind if acted else "",
        fault_layer=truth.layer,
        fault_row=truth.row,
        predicted=truth.predicted if truth.must_show else -1,
    )
    if seen.anything:
        return _seen(found, seen, truth, length)
    if acted and not truth.hidden:
        return msgspec.structs.replace(
            found, outcome="missed", detail="all state, all reads and all logits are the same"
        )
    return msgspec.structs.replace(found, outcome="same", detail=truth.hidden)


def _seen(found: CellResult, seen: Sighting, truth: Truth, length: int) -> CellResult:
    offset = seen.logits.position - length if seen.logits.position >= 0 else -1
    where = "; ".join(part for part in (_about_bits(seen), seen.reused, seen.refused, seen.books) if part)
    if truth.layer >= 0:
        where += _about_offset(truth, offset)
    if not truth.acted and truth.fault:
        where += f"; {truth.fault} had been put in and did not act: {truth.hidden}"
    difference = seen.difference
    stage, kind = _place(seen)
    return msgspec.structs.replace(
        found,
        outcome="differs" if seen.bits or seen.reused or seen.books or truth.fault else "refused",
        stage=stage,
        kind=kind,
        layer=-1 if difference is None else difference.layer,
        row=-1 if difference is None else difference.row,
        offset=offset,
        difference=seen.logits.largest if isfinite(seen.logits.largest) else _MOST_SHOWN,
        detail=where,
    )


def _about_bits(seen: Sighting) -> str:
    difference = seen.difference
    if difference is None:
        if seen.bits:
            return "logits alone differ"
        return "no bit differs" if seen.reused or seen.books else ""
    reader = f" as read at {difference.reader}" if difference.reader >= 0 else ""
    return f"first: row {difference.row} of {difference.kind} in layer {difference.layer}{reader}"


def _place(seen: Sighting) -> tuple[str, str]:
    """Stage and kind of what was seen: rows tell most, then logits, then a length, then the books."""
    if seen.difference is not None:
        return seen.difference.stage, seen.difference.kind
    if seen.bits:
        return "logits", ""
    if seen.reused:
        return "lookup", LOOKUP
    return ("cache", BOOKS) if seen.books else ("", "")


def _about_offset(truth: Truth, offset: int) -> str:
    """What is to be said of a first visible offset that is not the predicted one."""
    if truth.must_show and offset != truth.predicted:
        return f"; logits were to differ from token {truth.predicted} on"
    if not truth.must_show and 0 <= offset < truth.predicted:
        return f"; too early: logits were not to differ before token {truth.predicted}"
    return ""
