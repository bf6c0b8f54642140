"""Level faults: every trap of the bookkeeping has a scene that provokes it, and is found, named and foretold there."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.experiments.stress import fault_plays
from shadowviz.experiments.stress.blind_child import draw_trap
from shadowviz.experiments.stress.blind_wire import Go
from shadowviz.experiments.stress.compare import NO_LOGITS, Difference, LogitsDifference
from shadowviz.experiments.stress.fault_names import fault_list
from shadowviz.experiments.stress.fault_scenes import SCENES, drawn_scene, script_of
from shadowviz.experiments.stress.fault_traps import TRAP_FAULTS, first_found
from shadowviz.experiments.stress.fault_verdicts import BOOKS, LOOKUP, Sighting, Truth, verdict
from shadowviz.experiments.stress.levels import work_of
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.work import CellResult, Plan
from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.sinks import NullSink
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.faults import MODEL_FAULTS
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.injection import PASS_FAULTS

SUBJECT = "random:7"
"""Pages of 16, ratios 2 with overlap and 16, a window of 11."""
UNSEEN = Sighting(None, NO_LOGITS)


def results(
    *modes: str, lengths: tuple[tuple[int, int], ...] = ((15, 18),), subject: str = SUBJECT
) -> list[CellResult]:
    work = work_of(Plan(level="faults", subject=subject, lengths=lengths, modes=modes))
    return [cell for group in work.groups() for cell in work.check(group)]


@pytest.fixture(scope="module")
def cells() -> list[CellResult]:
    """All faults of the bookkeeping with a page about to be full, full and begun."""
    return results(*TRAP_FAULTS)


def test_every_fault_of_the_cache_and_of_passes_is_a_mode(cells):
    assert TRAP_FAULTS.keys() == FAULTS.keys() | PASS_FAULTS.keys()
    assert {cell.mode for cell in cells} == TRAP_FAULTS.keys()
    told = {one["fault"]: one for one in fault_list(["recall-hca"])}
    assert told["fork_overwrites"]["trap"] == "fork inside a window"
    assert told["twin_freed"]["what"] == FAULTS["twin_freed"]


def test_the_page_names_a_fault_and_a_scene_for_every_trap():
    page = (Path(__file__).parents[2] / "docs/explanation/boundary-stress.md").read_text("utf-8")
    told: dict[str, tuple[str, str]] = {}
    for trap, names, scene, _ in re.findall(r"^\| ([^|]+) \| (`[^|]+`) \| ([^|]*)\| ([^|]+) \|$", page, re.MULTILINE):
        told |= {name: (trap, scene.strip(" `")) for name in re.findall(r"`(\w+)`", names)}
    told = {name: place for name, place in told.items() if name in MODEL_FAULTS or place[1] in SCENES}
    played = {name: place for name, place in told.items() if place[1]}
    assert played == {fault.name: (fault.trap, fault.scenes[0]) for fault in TRAP_FAULTS.values()}
    assert len(told) > len(played) + 12
    assert {name for name in told if name not in played} <= MODEL_FAULTS.keys()
    assert all(f"\n- `{scene}`: " in page for scene in SCENES)
    assert f"all {len(MODEL_FAULTS | TRAP_FAULTS)} of them" in page


def test_without_a_fault_nothing_is_seen_in_any_scene():
    cells = results(*(f"none/{scene}" for scene in SCENES))
    assert len(cells) == 3 * len(SCENES)
    assert all((cell.outcome, cell.detail) == ("same", "") for cell in cells)


def test_every_fault_is_found_with_its_place_or_said_to_be_hidden(cells):
    geometry = cached_subject(SUBJECT).geometry
    for cell in cells:
        assert cell.fault == cell.mode
        reason = TRAP_FAULTS[cell.mode].absent(geometry, cell.length)
        if reason:
            assert (cell.outcome, cell.detail) == ("same", reason)
            continue
        found = (cell.outcome, cell.kind, cell.layer, cell.row)
        assert found == ("differs", cell.fault_kind, cell.fault_layer, cell.fault_row), cell
        assert "were" not in cell.detail, cell
        assert cell.offset == cell.predicted or cell.predicted < 0, cell
    assert {cell.mode for cell in cells if cell.outcome == "differs"} == TRAP_FAULTS.keys()


def test_what_bits_do_not_show_is_found_by_the_length_or_by_the_invariants(cells):
    by_kind = {kind: {cell.mode for cell in cells if cell.kind == kind} for kind in (LOOKUP, BOOKS)}
    # A prefill that ends with its page is stored rightly, and should not have been stored.
    assert by_kind[LOOKUP] == {"heal_skipped", "window_off_by_one", "abort_published"}
    assert by_kind[BOOKS] == {"tombstone_mapped", "slot_leaked", "unlock_skipped"}
    for cell in cells:
        if cell.kind in by_kind:
            assert (cell.difference, cell.offset) == (0.0, -1)
            assert cell.detail.startswith("no bit differs; ")
            assert ("found by the invariants: " in cell.detail) == (cell.kind == BOOKS)


def test_a_fork_is_named_by_the_first_row_that_it_wrote_over(cells):
    cell = next(cell for cell in cells if (cell.mode, cell.length) == ("fork_overwrites", 17))
    assert (cell.stage, cell.kind, cell.layer, cell.row, cell.offset) == ("state", "swa_kv", 0, 17, 1)
    assert cell.difference > 0.01


def test_a_cell_comes_out_the_same_alone(cells):
    for name in ("twin_freed", "last_token_published"):
        expected = next(cell for cell in cells if (cell.mode, cell.length) == (name, 17))
        assert results(name, lengths=((17, 18),)) == [expected]


@settings(max_examples=12)
@given(st.sampled_from(sorted(TRAP_FAULTS)), st.sampled_from((0, 2, 3, 14, 15)), st.integers(1, 40))
def test_faults_are_named_in_models_of_any_ratio_window_and_page(name, seed, length):
    (cell,) = results(name, lengths=((length, length + 1),), subject=f"random:{seed}")
    assert cell.fault == name
    if cell.outcome == "differs":
        assert (cell.kind, cell.layer, cell.row) == (cell.fault_kind, cell.fault_layer, cell.fault_row)
        assert "were" not in cell.detail
    else:
        assert cell.outcome == "same"
        assert cell.detail


def test_an_overlap_that_no_entry_of_the_run_reads_is_not_said_to_show():
    """Ratios 9 with overlap and 10: from 18 on the run stops at 21, and the next entry closes at 26."""
    (cell,) = results("lock_skipped", lengths=((18, 19),), subject="random:24")
    assert (cell.kind, cell.layer, cell.row) == (cell.fault_kind, cell.fault_layer, cell.fault_row)
    assert (cell.kind, cell.row) == ("swa_kv", 16)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 20))
def test_the_first_wrong_row_that_is_found_is_needed_and_wrong(length, start, size):
    geometry = cached_subject(SUBJECT).geometry
    wrong = Extent(start, start + size)
    place = first_found(geometry, wrong, length)
    window = retained_tokens(geometry, length, page_rule=False).intersect(wrong)
    closed = [e for kind in geometry.kinds if kind.unit > 1 for e in range(length // kind.unit)
              if wrong.start <= (e + 1) * kind.unit - 1 < wrong.stop]  # fmt: skip
    assert (place is None) == (not window and not closed)


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_is_the_same_whatever_is_put_in(scene):
    subject = cached_subject(SUBJECT)
    one, two = (script_of(scene, subject, 3, 21) for _ in range(2))
    assert one.request == two.request
    assert one.options(("slot_leaked",)) == msgspec.structs.replace(two.options(()), faults=("slot_leaked",))


def test_half_of_the_blind_runs_play_scenes_and_a_third_of_those_holds_no_fault():
    geometry = cached_subject(SUBJECT).geometry
    asks = [Go(subject=SUBJECT, seed=0, mode="blind", length=length) for length in range(1, 1201)]
    scenes = [(ask, drawn_scene(0, "blind", ask.length)) for ask in asks]
    played = [(ask, scene) for ask, scene in scenes if scene]
    assert 540 <= len(played) <= 660
    drawn = [draw_trap(ask, scene, geometry) for ask, scene in played]
    assert len(drawn) // 4 <= sum(fault is None for fault in drawn) <= len(drawn) // 2
    assert {fault.name for fault in drawn if fault} == TRAP_FAULTS.keys()
    for (ask, scene), fault in zip(played, drawn, strict=True):
        assert fault is None or (scene in fault.scenes and not fault.absent(geometry, ask.length))


def test_blind_scenes_are_judged_rightly():
    played = [length for length in range(5, 80) if drawn_scene(0, "blind", length)][:8]
    cells = results("blind", lengths=tuple((length, length + 1) for length in played))
    assert len(cells) == 8
    assert {cell.outcome for cell in cells} == {"differs", "same"}
    for cell in cells:
        assert cell.outcome == ("differs" if cell.fault else "same")
        assert not cell.fault or (cell.kind, cell.layer) == (cell.fault_kind, cell.fault_layer)
        assert cell.fault in {"", *TRAP_FAULTS}


def test_a_checker_that_looks_at_nothing_misses_every_fault(monkeypatch):
    monkeypatch.setattr(fault_plays, "Sighting", lambda *_: UNSEEN)
    names = ("full_hit_uncapped", "heal_skipped", "slot_leaked")
    assert [cell.outcome for cell in results(*names, lengths=((17, 18),))] == ["missed"] * 3


def test_an_engine_that_would_not_go_on_is_seen_and_without_a_fault_it_is_refused():
    subject = cached_subject(SUBJECT)
    script = script_of("again", subject, 0, 9)
    engine = Engine(script.options(()), NullSink(), model=subject.model(Numerics.EXACT))
    engine.close()
    assert fault_plays.perform(script, engine, lambda: None) == (
        "the engine would not go on: the engine is closed: make a new one"
    )
    refused = Sighting(None, NO_LOGITS, refused="the engine would not go on: no room")
    put_in = Truth(fault="lock_skipped", kind="swa_kv", layer=0, row=3, predicted=0)
    assert [verdict("mode", 9, refused, truth).outcome for truth in (Truth(), put_in)] == ["refused", "differs"]


ROWS = Difference(0, 0, "state", "swa_kv", 8, -1, 1.0)


@pytest.mark.parametrize(
    ("seen", "stage", "kind"),
    [
        (Sighting(ROWS, NO_LOGITS, "went on at 3, expected 9", "books"), "state", "swa_kv"),
        (Sighting(None, LogitsDifference(9, 1.0), "went on at 3, expected 9"), "logits", ""),
        (Sighting(None, NO_LOGITS, "went on at 3, expected 9", "books"), "lookup", LOOKUP),
        (Sighting(None, NO_LOGITS, books="found by the invariants: two owners"), "cache", BOOKS),
    ],
)
def test_rows_tell_most_then_logits_then_a_length_then_the_books(seen, stage, kind):
    cell = verdict("none/again", 9, seen, Truth())
    assert (cell.outcome, cell.fault, cell.stage, cell.kind) == ("differs", "", stage, kind)
    for told in (seen.reused, seen.books):
        assert told in cell.detail
