"""Level faults: every fault is found, named and foretold, and a checker that does not see is told so."""

import msgspec
import pytest

from shadowviz.experiments.stress import blind, faults, recall
from shadowviz.experiments.stress.blind_child import draw
from shadowviz.experiments.stress.compare import NO_LOGITS, Difference, LogitsDifference
from shadowviz.experiments.stress.fault_runs import options_with, scene_of, stop_of
from shadowviz.experiments.stress.fault_traps import TRAP_FAULTS
from shadowviz.experiments.stress.fault_verdicts import Sighting, Truth, verdict
from shadowviz.experiments.stress.levels import work_of
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz_engine.core.errors import InputError, InvariantError
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.fault_forms import PlanFault, RowFault
from shadowviz_engine.model.faults import MODEL_FAULTS

SUBJECT = "random:7"
"""Ratios 2 with overlap and 16, a window of 11, four entries chosen."""


def plan(*lengths: tuple[int, int], modes: tuple[str, ...] = (), **options: str) -> Plan:
    return Plan(level="faults", subject=SUBJECT, lengths=lengths or ((1, 3), (22, 25)), modes=modes, options=options)


def results(asked: Plan) -> list[CellResult]:
    work = work_of(asked)
    return [cell for group in work.groups() for cell in work.check(group)]


@pytest.fixture(scope="module")
def cells(long_form: bool) -> list[CellResult]:
    """All faults of rows, and none: with nothing before the window, with no window open and one of either ratio."""
    lengths = ((1, 3), (22, 25)) if long_form else ((1, 2), (23, 25))
    return results(plan(*lengths, modes=("none", *MODEL_FAULTS)))


def test_every_fault_and_no_fault_is_tried_at_every_length(cells):
    work = work_of(plan())
    assert {cell.mode for cell in cells} == {"none", *MODEL_FAULTS}
    lengths = {cell.length for cell in cells}
    assert {1, 23, 24} <= lengths
    assert len(cells) == len(lengths) * (1 + len(MODEL_FAULTS))
    assert work.subject == SUBJECT
    assert work.modes[-1] == "blind/3"
    assert set(work_of(plan(fault="all")).modes) == {"none", *faults.SOUND_SCENES, *MODEL_FAULTS, *TRAP_FAULTS}


def test_without_a_fault_nothing_is_seen(cells):
    none = [cell for cell in cells if cell.mode == "none"]
    assert len(none) == len({cell.length for cell in cells})
    assert all((cell.outcome, cell.fault) == ("same", "") for cell in none)


def test_every_fault_is_found_or_said_to_be_hidden(cells):
    put_in = [cell for cell in cells if cell.mode != "none"]
    assert all(cell.fault == cell.mode for cell in put_in)
    assert {cell.outcome for cell in put_in} == {"differs", "same"}
    assert all(cell.detail for cell in put_in if cell.outcome == "same")
    geometry = work_of(plan()).geometry
    for cell in put_in:
        absent = MODEL_FAULTS[cell.mode].reason_absent(geometry, cell.length)
        assert (cell.outcome == "same") == bool(absent or only_shares(cell)), cell
        if cell.outcome == "same":
            assert cell.detail == (absent or "the rows of the other request have the same bits")


def only_shares(cell: CellResult) -> bool:
    """Whether all rows that are the other request's are of the first token, which the two share."""
    fault = MODEL_FAULTS[cell.mode]
    rows = fault.rows(work_of(plan()).geometry, cell.length) if isinstance(fault, RowFault) else None
    return fault.needs_other and rows == Extent(0, 1) and "last" not in cell.mode


def test_kind_layer_and_row_are_named_and_the_offset_is_the_predicted_one(cells):
    found = [cell for cell in cells if cell.outcome == "differs"]
    assert len(found) > len(MODEL_FAULTS)
    for cell in found:
        assert (cell.kind, cell.layer) == (cell.fault_kind, cell.fault_layer), cell
        assert cell.row == cell.fault_row or cell.mode == "csa_unclosed", cell
        assert cell.difference > 1e-3 or cell.offset < 0, cell
        assert "were to" not in cell.detail, cell
        assert cell.offset == cell.predicted or cell.predicted < 0, cell
    assert sum(cell.predicted >= 0 for cell in found) > len(found) // 2


def test_a_cell_comes_out_the_same_alone(cells):
    for mode in ("hca_tail_other", "swa_window_wide"):
        expected = next(cell for cell in cells if (cell.mode, cell.length) == (mode, 24))
        assert results(plan((24, 25), modes=(mode,), fault="all")) == [expected]


def test_a_fault_in_one_layer_is_named_there():
    (cell,) = results(plan((24, 25), modes=("swa_newest_other@2",)))
    assert (cell.outcome, cell.kind, cell.layer, cell.row) == ("differs", "swa_kv", 2, 23)


def test_blind_runs_are_judged_rightly_and_not_always_hold_a_fault():
    cells = results(plan((5, 29), blind="12"))
    assert [cell.mode for cell in cells] == ["blind"] * 12
    assert all(cell.outcome == ("differs" if cell.fault else "same") for cell in cells)
    with_fault = [cell for cell in cells if cell.fault]
    assert 4 <= len(with_fault) <= 11
    assert all((cell.kind, cell.layer) == (cell.fault_kind, cell.fault_layer) for cell in with_fault)
    assert all(cell.offset == cell.predicted for cell in with_fault if cell.predicted >= 0)


def test_a_third_of_the_draws_is_no_fault_and_the_others_exist():
    geometry = cached_subject(SUBJECT).geometry
    drawn = [draw(geometry, 0, "blind", length) for length in range(1, 1201)]
    assert 350 <= sum(placed is None for placed in drawn) <= 450
    assert len({placed.fault.name for placed in drawn if placed}) > 30
    assert any("@" in placed.name for placed in drawn if placed)
    for length, placed in enumerate(drawn, 1):
        assert placed is None or not placed.fault.reason_absent(geometry, length)


def test_the_other_process_tells_nothing_before_the_verdict():
    with blind._other_process() as (asks, answers):
        blind.send(asks, blind.Go(subject=SUBJECT, seed=0, mode="blind", length=9))
        asks.close()
        told = answers.read()
    assert b"predicted" not in told
    assert b'"Done"' in told
    placed = draw(cached_subject(SUBJECT).geometry, 0, "blind", 9)
    assert placed is None or placed.fault.name.encode() not in told


@pytest.mark.parametrize("program", ["pass", "print('{}', flush=True)", "print('[')"])
def test_another_process_that_says_something_else_is_a_failure(monkeypatch, program):
    monkeypatch.setattr(blind, "_PROGRAM", program)
    with pytest.raises(InvariantError, match="a blind run at 9"):
        results(plan((9, 10), blind="1"))


SEEN = Sighting(Difference(2, 0, "state", "csa_tail", 8, -1, 1.0), LogitsDifference(11, 0.5))
BLIND_EYE = Sighting(None, NO_LOGITS)
ACTED = Truth(fault="csa_tail_lost", kind="csa_tail", layer=2, row=8, predicted=1, must_show=True)


@pytest.mark.parametrize(
    ("seen", "truth", "outcome", "fault"),
    [
        (SEEN, ACTED, "differs", "csa_tail_lost"),
        (BLIND_EYE, ACTED, "missed", "csa_tail_lost"),
        (SEEN, Truth(), "differs", ""),
        (BLIND_EYE, Truth(), "same", ""),
        (BLIND_EYE, Truth(fault="hca_partial", hidden="no window is open there"), "same", "hca_partial"),
        (SEEN, Truth(fault="hca_partial", hidden="no window is open there"), "differs", ""),
    ],
)
def test_a_verdict_is_held_against_the_truth(seen, truth, outcome, fault):
    cell = verdict("mode", 10, seen, truth)
    assert (cell.outcome, cell.fault, cell.offset) == (outcome, fault, 1 if outcome == "differs" else -1)


def test_logits_that_differ_elsewhere_than_predicted_are_told():
    late = msgspec.structs.replace(ACTED, predicted=0)
    assert "logits were to differ from token 0 on" in verdict("mode", 10, SEEN, late).detail
    early = msgspec.structs.replace(ACTED, predicted=3, must_show=False)
    cell = verdict("mode", 10, SEEN, early)
    assert "too early: logits were not to differ before token 3" in cell.detail
    assert cell.predicted == -1


def test_a_checker_that_looks_at_nothing_misses_every_fault(monkeypatch):
    monkeypatch.setattr(faults, "Sighting", lambda *_: BLIND_EYE)
    cells = results(plan((24, 25), fault="hca_tail_lost"))
    assert [(cell.mode, cell.outcome) for cell in cells] == [("none", "same"), ("hca_tail_lost", "missed")]


def test_a_run_goes_on_until_a_fault_can_show_or_says_that_it_does_not(monkeypatch):
    subject = cached_subject(SUBJECT)
    wide = MODEL_FAULTS["swa_window_wide"]
    assert isinstance(wide, PlanFault)
    assert stop_of(subject, wide, 1) >= 1 + wide.first_offset(subject.geometry, 1) + 1
    assert stop_of(subject, None, 1) == subject.stop_of(1)
    monkeypatch.setattr("shadowviz.experiments.stress.fault_runs.MOST_BEYOND", 0)
    monkeypatch.setattr(type(subject), "stop_of", lambda _self, length: length + 2)
    (cell,) = results(plan((1, 2), modes=("swa_window_wide",)))
    assert (cell.outcome, cell.detail) == ("same", "it shows only beyond the end of the run")


def test_the_other_tokens_differ_everywhere_but_at_the_first():
    scene = scene_of(cached_subject(SUBJECT), 500, 3)
    assert scene.tokens[0] == scene.other[0]
    assert (scene.tokens[1:] != scene.other[1:]).all()
    assert options_with(scene.model, 500, ("hca_partial",)).faults == ("hca_partial",)


def test_the_needle_at_the_boundary_turns_from_right_to_wrong_and_others_stay():
    asked = Plan(level="faults", subject="recall-hca", lengths=((20, 21),), modes=("answers/hca_tail_first_lost",))
    (cell,) = results(asked)
    assert (cell.outcome, cell.stage, cell.fault, cell.row) == ("differs", "answer", "hca_tail_first_lost", 16)
    assert cell.difference == 0.0, "a share is no difference of logits"
    assert [back for back, *_ in cell.answers] == [7, 6, 5, 4, 3, 2, 1]
    for back, before, after in cell.answers:
        assert before >= 0.9
        assert after <= 0.3 if back == 4 else after >= 0.9
    assert f"L-4: 100% to {cell.answers[3][2]:.0%}, L-3: 100% to 100%" in cell.detail


def test_a_fault_that_answers_do_not_see_is_hidden_from_them_and_says_so():
    asked = Plan(level="faults", subject="recall-hca", lengths=((20, 21),), modes=("answers/hca_partial",))
    (cell,) = results(asked)
    assert (cell.outcome, cell.fault, cell.detail) == ("same", "hca_partial", recall.SILENT)
    assert [back for back, *_ in cell.answers] == [7, 6, 5, 4, 3, 2, 1]
    assert all(before >= 0.9 and after >= 0.9 for _, before, after in cell.answers)


def test_where_a_fault_does_not_exist_nobody_is_asked():
    (cell,) = results(Plan(level="faults", subject="recall", lengths=((24, 25),), modes=("answers/csa_tail_lost",)))
    assert (cell.outcome, cell.detail, cell.answers) == ("same", "csa_tail has no such row there", ())


def test_all_answers_can_be_asked_for_at_once():
    modes = work_of(Plan(level="faults", subject="recall", lengths=((1, 60),), modes=("answers",))).modes
    assert modes == tuple(f"answers/{name}" for name in recall.FAULTS["recall"])


def test_the_checkpoints_are_asked_at_lengths_of_every_kind():
    work = work_of(Plan(level="faults", subject="recall", lengths=((1, 60),), options={"fault": "csa_tail_lost"}))
    assert work.modes == ("none", "csa_tail_lost", "answers/csa_tail_lost")
    lengths = [length for group in work.groups() if group.mode.startswith("answers") for length in group.lengths]
    assert lengths == list(range(12, 49))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (plan(fault="gremlin"), "no fault is called 'gremlin': expected one of swa_oldest_zeroed.*unlock_skipped"),
        (plan(modes=("gremlin",)), "no fault is called 'gremlin'"),
        (plan(modes=("none/gremlin",)), "no fault is called 'none/gremlin'"),
        (plan(fault="lock_skipped@1"), "no fault is called 'lock_skipped'"),
        (plan(modes=("answers",)), "of random:7: expected answers with one of: none"),
        (plan(modes=("answers/hca_tail_lost",)), "of random:7: expected answers with one of: none"),
        (plan(blind="many"), "blind 'many': expected a number of runs"),
        (plan(retention="all"), "level faults has no option 'retention'"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        work_of(asked)


def test_groups_choose_lengths_where_many_are_asked_for():
    groups = work_of(plan((1, 1001), fault="hca_partial")).groups()
    chosen = [length for group in groups if group.mode == "hca_partial" for length in group.lengths]
    assert len(chosen) == 24
    assert {1, 1000} <= set(chosen)
    assert all(isinstance(group, Group) and len(group.lengths) <= 12 for group in groups)
