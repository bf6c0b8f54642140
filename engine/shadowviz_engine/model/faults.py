"""Named faults of going on from reused state, made by the running engine: what a check of it must find."""

from collections.abc import Mapping
from dataclasses import dataclass

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.model.fault_edits import Edit, Place, PlanEdit
from shadowviz_engine.model.fault_forms import INDEX, SWA, Fault, PlanFault, RowFault

_ROW_FAULTS = (
    ("swa_oldest_zeroed", SWA, Place.OLDEST, Edit.ZEROED, "the oldest row of the window is zero"),
    ("swa_oldest_other", SWA, Place.OLDEST, Edit.OTHER, "the oldest row of the window is another request's"),
    ("swa_newest_other", SWA, Place.NEWEST, Edit.OTHER, "the newest row of the window is another request's"),
    ("swa_other", SWA, Place.WINDOW, Edit.OTHER, "all rows of the window are another request's"),
    ("swa_rolled", SWA, Place.WINDOW, Edit.ROLLED, "the rows of the window stand one position too late"),
)
_TAIL_FAULTS = (
    ("rolled", Place.OPEN, Edit.ROLLED, "the rows of the open window stand one position too late"),
    ("first_lost", Place.OPEN_FIRST, Edit.LOST, "the first row of the open window is lost"),
    ("lost", Place.OPEN, Edit.LOST, "the rows of the open window are lost"),
    ("zeroed", Place.OPEN, Edit.ZEROED, "the rows of the open window are zero"),
    ("other", Place.OPEN, Edit.OTHER, "the rows of the open window are another request's"),
)
_OVERLAP_FAULTS = (
    ("lost", Place.OVERLAP, Edit.LOST, "the next entry does not see the window before its own"),
    ("zeroed", Place.OVERLAP, Edit.ZEROED, "the window before the next entry's is zero, with weight"),
)
_ENTRY_FAULTS = (
    ("last_other", Place.LAST, Edit.OTHER, "the last entry is another request's"),
    ("last_zeroed", Place.LAST, Edit.ZEROED, "the last entry is zero"),
    ("last_rope", Place.LAST, Edit.TURNED, "the last entry is rotated to the end of its window"),
)
_PLAN_FAULTS = (
    ("csa_overlap_dropped", "csa_tail", PlanEdit.OVERLAP_DROPPED, "entry and index key leave the window before out"),
    ("csa_next_rope", "csa_kv", PlanEdit.NEXT_ROPE, "entries that close are rotated one window too far"),
    ("hca_next_rope", "hca_kv", PlanEdit.NEXT_ROPE, "entries that close are rotated one window too far"),
    ("csa_end_rope", "csa_kv", PlanEdit.END_ROPE, "entries that close are rotated to the end of their window"),
    ("hca_end_rope", "hca_kv", PlanEdit.END_ROPE, "entries that close are rotated to the end of their window"),
    ("csa_partial", "csa_tail", PlanEdit.PARTIAL, "the open window counts as closed: ceil for floor"),
    ("hca_partial", "hca_tail", PlanEdit.PARTIAL, "the open window counts as closed: ceil for floor"),
    ("csa_unclosed", "csa_kv", PlanEdit.UNCLOSED, "queries read the entry that is still open: ceil for floor"),
    ("hca_unclosed", "hca_kv", PlanEdit.UNCLOSED, "queries read the entry that is still open: ceil for floor"),
    ("swa_window_narrow", SWA, PlanEdit.NARROW, "queries see one token too few of their window"),
    ("swa_window_wide", SWA, PlanEdit.WIDE, "queries see one token more than their window"),
    ("index_unranked", INDEX, PlanEdit.UNRANKED, "queries take the first entries instead of the best"),
)


def _catalogue() -> Mapping[str, Fault]:
    found: list[Fault] = [RowFault(name, text, kind, place, edit) for name, kind, place, edit, text in _ROW_FAULTS]
    for kind in ("csa_tail", "index_tail", "hca_tail"):
        found += [RowFault(f"{kind}_{name}", text, kind, place, edit) for name, place, edit, text in _TAIL_FAULTS]
    for kind in ("csa_tail", "index_tail"):
        stem = kind.replace("tail", "overlap")
        found += [RowFault(f"{stem}_{name}", text, kind, place, edit) for name, place, edit, text in _OVERLAP_FAULTS]
    for kind in ("csa_kv", INDEX, "hca_kv"):
        stem = kind.rsplit("_", 1)[0]
        found += [RowFault(f"{stem}_{name}", text, kind, place, edit) for name, place, edit, text in _ENTRY_FAULTS]
    found += [PlanFault(name, text, kind, edit) for name, kind, edit, text in _PLAN_FAULTS]
    return {fault.name: fault for fault in found}


MODEL_FAULTS = _catalogue()
"""Fault by name."""


@dataclass(frozen=True)
class PlacedFault:
    """A fault in all layers that own its kind, or in one."""

    name: str
    """As `place_fault` takes it."""
    fault: Fault
    layers: tuple[int, ...]


def place_fault(name: str, geometry: Geometry) -> PlacedFault:
    """The fault `NAME`, in every layer that has its kind, or `NAME@LAYER`, where a layer's rows are wrong alone.

    Raises:
        InputError: there is no such fault, the model has no such rows, or it acts on all layers together.
    """
    stem, _, layer = name.partition("@")
    fault = MODEL_FAULTS.get(stem)
    if fault is None:
        raise InputError(f"no fault of the model is called {stem[:40]!r}: expected one of {', '.join(MODEL_FAULTS)}")
    owners = next((kind.owners for kind in geometry.kinds if kind.label == fault.kind), ())
    if not owners:
        raise InputError(f"fault {stem} needs rows of {fault.kind}, and {geometry.name} has none")
    if not layer:
        return PlacedFault(name, fault, owners)
    if not isinstance(fault, RowFault):
        raise InputError(f"fault {name[:60]} acts on all layers together: expected {stem}")
    if not (layer.isascii() and layer.isdigit() and int(layer[:9]) in owners):
        raise InputError(f"fault {name[:60]} names no layer of {fault.kind}: expected one of {owners}")
    return PlacedFault(name, fault, (int(layer[:9]),))


def faults_of(geometry: Geometry) -> tuple[Fault, ...]:
    """The faults that a model of this geometry can have."""
    labels = {kind.label for kind in geometry.kinds if kind.owners}
    return tuple(fault for fault in MODEL_FAULTS.values() if fault.kind in labels)
