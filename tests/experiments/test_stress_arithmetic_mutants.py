"""Faults of the arithmetic itself, planted one by one: each is found at the length where it begins, and named."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from stress_cells import arithmetic_plan, results

from shadowviz.experiments.stress import arithmetic
from shadowviz.experiments.stress.arithmetic import ArithmeticWork, work_of
from shadowviz.experiments.stress.arithmetic_spans import Formulas
from shadowviz.experiments.stress.work import CellResult
from shadowviz_engine.core.derive import StateDescriptor, derive, resume_state, retained_tokens, row_figures
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import SlotRun
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

Change = Callable[[Geometry, StateDescriptor, int], StateDescriptor]


def changed(label: str, change: Callable[[Extent, int], Extent], part: str = "rows") -> Change:
    """Changes one field of one kind's descriptor."""

    def apply(geometry: Geometry, item: StateDescriptor, length: int) -> StateDescriptor:
        if item.kind != label:
            return item
        return msgspec.structs.replace(item, **{part: change(getattr(item, part), length)})

    return apply


def resuming(change: Change) -> Formulas:
    """Formulas whose `resume_state` is changed."""
    return replace(
        Formulas(), resume_state=lambda geometry, n: tuple(change(geometry, d, n) for d in resume_state(geometry, n))
    )


def owning(change: Change) -> Formulas:
    """Formulas whose `derive` is changed."""
    return replace(
        Formulas(),
        derive=lambda geometry, start, stop: tuple(change(geometry, d, stop) for d in derive(geometry, start, stop)),
    )


def ceiling(ratio: int) -> Callable[[Extent, int], Extent]:
    """Entries with room instead of closed ones."""
    return lambda rows, length: Extent(rows.start, -(-length // ratio))


def without_overlap(rows: Extent, length: int) -> Extent:
    return Extent(length // 4 * 4, length) if length else rows


RESUMES = {
    "ceil for floor, CSA": (resuming(changed("csa_kv", ceiling(4))), "csa_kv", 1, 0),
    "ceil for floor, HCA": (resuming(changed("hca_kv", ceiling(16))), "hca_kv", 1, 0),
    "an entry too few": (
        resuming(changed("index_k", lambda rows, n: Extent(0, max(0, rows.stop - 1)))),
        "index_k",
        4,
        0,
    ),
    "overlap dropped": (resuming(changed("csa_tail", without_overlap)), "csa_tail", 4, 0),
    "window of n_win": (
        resuming(changed("swa_kv", lambda rows, n: Extent(max(0, n - 8), n) if n else rows)),
        "swa_kv",
        8,
        0,
    ),
    "window off by one": (
        resuming(changed("swa_kv", lambda rows, n: Extent(max(0, n - 6), n) if n else rows)),
        "swa_kv",
        7,
        0,
    ),
    "tail shifted by one": (
        resuming(changed("hca_tail", lambda rows, n: Extent(rows.start - 1, rows.stop - 1) if rows.start else rows)),
        "hca_tail",
        17,
        15,
    ),
    "tail forgotten": (resuming(changed("hca_tail", lambda rows, n: Extent(n, n))), "hca_tail", 1, 0),
    "wrong only at one length": (
        resuming(changed("csa_kv", lambda rows, n: Extent(0, rows.stop + (n == 97)))),
        "csa_kv",
        97,
        24,
    ),
}

OWNS = {
    "owned by the first token": (
        owning(changed("csa_kv", lambda rows, n: Extent((rows.start * 4 + 3) // 4, -(-n // 4)))),
        "csa_kv",
        1,
        0,
    ),
    "overlap not read": (
        owning(changed("csa_kv", lambda reads, n: Extent(reads.stop - 4, reads.stop) if reads else reads, "reads")),
        "csa_kv",
        8,
        0,
    ),
    "a row counted twice at a split": (
        owning(changed("hca_kv", lambda rows, n: Extent(max(0, rows.start - 1), rows.stop))),
        "hca_kv",
        16,
        0,
    ),
    "another kind's ratio": (
        owning(changed("index_k", lambda rows, n: Extent(rows.start // 4, n // 16))),
        "index_k",
        4,
        0,
    ),
}

OTHERS = {
    "allocated is complete": (
        replace(
            Formulas(),
            row_figures=lambda g, n: tuple(
                msgspec.structs.replace(item, allocated=item.complete) for item in row_figures(g, n)
            ),
        ),
        "csa_kv",
        1,
        0,
    ),
    "a token too few retained": (
        replace(
            Formulas(),
            retained_tokens=lambda g, n, rule: (
                Extent(retained_tokens(g, n, rule).start + 1, n) if n > 20 else retained_tokens(g, n, rule)
            ),
        ),
        "swa_kv",
        21,
        14,
    ),
    "the page rule as the other": (
        replace(Formulas(), retained_tokens=lambda g, n, _: retained_tokens(g, n, False)),
        "swa_kv",
        16,
        8,
    ),
    "a kind left out": (replace(Formulas(), resume_state=lambda g, n: resume_state(g, n)[:-1]), "", 1, -1),
    "in other layers": (
        resuming(lambda g, d, n: msgspec.structs.replace(d, layers=(0,)) if d.kind == "hca_kv" else d),
        "hca_kv",
        1,
        -1,
    ),
}


def cells_of(formulas: Formulas, mode: str) -> list[CellResult]:
    """Cells of one mode on a small geometry, with wrong formulas."""
    plan = arithmetic_plan("recall", (1, 130), modes=(mode,))
    return results(ArithmeticWork(plan, preset("recall"), formulas))


@pytest.mark.parametrize(
    ("formulas", "mode", "kind", "length", "row"),
    [
        pytest.param(formulas, mode, kind, length, row, id=name)
        for mode, table in (("resume", RESUMES), ("derive", OWNS), ("resume", OTHERS))
        for name, (formulas, kind, length, row) in table.items()
    ],
)
def test_a_wrong_formula_is_found_where_it_begins_and_named(
    formulas: Formulas, mode: str, kind: str, length: int, row: int
) -> None:
    wrong = [cell for cell in cells_of(formulas, mode) if cell.outcome == "differs"]
    assert wrong, "a planted fault must be found"
    assert (wrong[0].kind, wrong[0].length, wrong[0].row) == (kind, length, row), wrong[0].detail
    assert "found" in wrong[0].detail
    assert "expected" in wrong[0].detail


def test_a_fault_far_beyond_what_is_run_is_found() -> None:
    formulas = resuming(changed("hca_kv", lambda rows, n: Extent(0, rows.stop + (n == 3_000_064))))
    plan = arithmetic_plan("v4-flash", (3_000_000, 3_000_100), modes=("resume",))
    wrong = [cell for cell in results(ArithmeticWork(plan, preset("v4-flash"), formulas)) if cell.outcome != "same"]
    assert [(cell.length, cell.kind, cell.row) for cell in wrong] == [(3_000_064, "hca_kv", 23_438)]


def test_a_formula_that_refuses_a_length_is_no_success() -> None:
    def refusing(geometry: Geometry, length: int) -> tuple[StateDescriptor, ...]:
        if length == 30:
            raise InputError("no")
        return resume_state(geometry, length)

    outcomes = {cell.length: cell.outcome for cell in cells_of(replace(Formulas(), resume_state=refusing), "resume")}
    assert [length for length, outcome in outcomes.items() if outcome == "refused"] == [30]


def slot_findings() -> list[CellResult]:
    """Findings in the cache itself."""
    return [
        cell
        for cell in results(work_of(arithmetic_plan("recall", (1, 120), modes=("slots",))))
        if cell.outcome != "same"
    ]


def test_a_page_that_two_paths_write_is_found(monkeypatch) -> None:
    from shadowviz_engine.cache.pools import PagePool

    take = PagePool.take

    def taking_the_page_before(self: PagePool, start: int, num_pages: int) -> list[SlotRun]:
        runs = take(self, start, num_pages)
        return [SlotRun(run.start, run.stop, run.slot - self.page_size) for run in runs] if start else runs

    monkeypatch.setattr(PagePool, "take", taking_the_page_before)
    assert slot_findings()


def test_a_slot_at_another_offset_of_its_page_is_found(monkeypatch) -> None:
    from shadowviz_engine.cache.pools import PagePool

    take = PagePool.take
    monkeypatch.setattr(
        PagePool,
        "take",
        lambda self, start, n: [
            SlotRun(r.start, r.stop, r.slot - (r.slot % self.page_size)) for r in take(self, start, n)
        ],
    )
    wrong = slot_findings()
    assert any("another offset" in cell.detail for cell in wrong)


def test_a_window_table_that_is_shifted_by_a_token_is_found(monkeypatch) -> None:
    from shadowviz_engine.cache.pools import WindowTable

    plain = WindowTable.map

    def shifted(self: WindowTable, full: list[SlotRun], swa: list[SlotRun]) -> None:
        plain(self, full, [SlotRun(run.start + 1, run.stop, run.slot) for run in swa])

    monkeypatch.setattr(WindowTable, "map", shifted)
    wrong = slot_findings()
    assert wrong
    assert {cell.kind for cell in wrong} <= {"swa_kv", ""}


def test_window_rows_freed_too_early_are_found(monkeypatch) -> None:
    from shadowviz_engine.cache import growth

    monkeypatch.setattr(growth, "_minimum", lambda state, sequence: [Extent(sequence.computed, sequence.reserved)])
    monkeypatch.setattr(growth, "promised", lambda state, sequence, end, forks=(): [])
    assert any("no window slot" in cell.detail for cell in slot_findings())


def test_reuse_of_a_token_too_many_is_found(monkeypatch) -> None:
    from shadowviz_engine.core import reuse

    monkeypatch.setattr(reuse.StateKind, "window_start", lambda self, length, need: max(0, length - need + 1))
    assert any("reused, expected" in cell.detail for cell in slot_findings())


def test_entries_that_a_run_shows_in_the_wrong_rows_are_found(monkeypatch) -> None:
    from shadowviz.experiments.stress import arithmetic_slots

    place = arithmetic_slots.place_request

    def one_row_on(*arguments: object) -> Callable[[StateDescriptor], StateDescriptor]:
        placed = place(*arguments)
        return lambda item: msgspec.structs.replace(placed(item), slots=tuple(slot + 1 for slot in placed(item).slots))

    monkeypatch.setattr(arithmetic_slots, "place_request", one_row_on)
    wrong = slot_findings()
    assert wrong[0].kind in ("csa_kv", "index_k")
    assert "expected row" in wrong[0].detail


def test_groups_are_of_about_equal_work() -> None:
    groups = work_of(arithmetic_plan("v4-flash", (1, 1001), modes=("derive",))).groups()
    spans = [sum(length + 1 for length in group.lengths) for group in groups]
    assert max(spans) < arithmetic.SPLITS_A_GROUP + 1100
    assert all(a.lengths[-1] + 1 == b.lengths[0] for a, b in pairwise(groups))
