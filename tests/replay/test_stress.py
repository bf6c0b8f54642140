"""Sums of stress results: what counts as a finding, and what is known of a fault."""

import msgspec
import pytest

from shadowviz.replay.stress import FaultSums, StressSums, finding_text, is_finding, outcome_of, stress_sums
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted
from shadowviz_engine.core.presets import preset

CHECK = BoundaryChecked(seq=0, t_ns=0, level="numeric", subject="tiny", mode="cold", length=5)
FOUND = BoundaryChecked(
    seq=0,
    t_ns=0,
    level="faults",
    subject="tiny",
    mode="hca_tail_lost",
    length=131,
    outcome="differs",
    stage="state",
    kind="hca_tail",
    layer=3,
    row=128,
    offset=124,
    difference=0.5,
    fault="hca_tail_lost",
    fault_kind="hca_tail",
    fault_layer=3,
    fault_row=128,
    predicted=124,
)


def with_fields(check: BoundaryChecked, **fields: object) -> BoundaryChecked:
    return msgspec.structs.replace(check, **fields)


def fault_sums(*checks: BoundaryChecked) -> FaultSums:
    sums = stress_sums(checks)
    assert len(sums.faults) == 1
    return next(iter(sums.faults.values()))


@pytest.mark.parametrize(
    ("fields", "outcome", "finding"),
    [
        ({}, "same", False),
        ({"outcome": "near_tie"}, "near_tie", False),
        ({"outcome": "differs"}, "differs", True),
        ({"outcome": "differs", "fault": "hca_tail_lost"}, "differs", True),
        ({"outcome": "differs", "fault": "hca_tail_lost", "level": "faults"}, "found", False),
        ({"outcome": "differs", "level": "faults"}, "differs", True),
        ({"outcome": "missed", "fault": "hca_tail_lost", "level": "faults"}, "missed", True),
        ({"outcome": "refused"}, "refused", True),
        ({"outcome": "of a later version"}, "differs", True),
    ],
)
def test_a_difference_is_wanted_only_where_a_fault_was_put_in_to_be_found(
    fields: dict[str, object], outcome: str, finding: bool
) -> None:
    check = with_fields(CHECK, **fields)
    assert (outcome_of(check), is_finding(check)) == (outcome, finding)


def test_sums_of_a_mode_count_outcomes_and_keep_the_largest_figures() -> None:
    sums = stress_sums(
        [
            CHECK,
            with_fields(CHECK, length=9, outcome="differs", difference=0.25),
            with_fields(CHECK, length=2, outcome="near_tie", difference=0.5, noise=0.125),
            with_fields(CHECK, mode="again"),
        ]
    )
    mode = sums.modes["numeric", "tiny", "cold"]
    assert (mode.first, mode.last, mode.checks, mode.findings) == (2, 9, 3, 1)
    assert mode.outcomes == {"same": 1, "differs": 1, "near_tie": 1}
    assert (mode.difference, mode.noise) == (0.5, 0.125)
    assert (sums.checks, sums.num_findings, len(sums.modes)) == (4, 1, 2)
    assert not sums.faults, "faults are told of on their own level alone"


def test_a_fault_that_is_found_is_compared_with_what_was_told_afterwards() -> None:
    sums = fault_sums(
        FOUND,
        with_fields(FOUND, row=129, offset=125, difference=0.125),
        with_fields(FOUND, layer=5, difference=2.0),
        with_fields(FOUND, kind="hca_kv"),
    )
    assert (sums.checks, sums.found, sums.missed, sums.false_alarms) == (4, 4, 0, 0)
    assert (sums.offset_as_predicted, sums.offset_other) == (3, 1)
    assert (sums.named, sums.kind_right, sums.layer_right, sums.row_right) == (4, 3, 2, 1)
    assert (sums.least, sums.difference) == (0.125, 2.0)


def test_a_fault_that_cannot_be_seen_is_listed_with_its_reason() -> None:
    hidden = with_fields(FOUND, outcome="same", kind="", layer=-1, row=-1, difference=0.0, detail="no state there")
    sums = fault_sums(hidden, hidden, with_fields(hidden, outcome="missed", detail=""))
    assert (sums.hidden, sums.missed, sums.found) == (2, 1, 0)
    assert sums.reasons == {"no state there": 2}


def test_a_false_alarm_is_told_apart_from_a_fault() -> None:
    quiet = with_fields(FOUND, fault="", fault_kind="", outcome="same")
    sums = fault_sums(quiet, with_fields(quiet, outcome="differs"))
    assert (sums.checks, sums.false_alarms, sums.found, sums.hidden) == (2, 1, 0, 0)


def test_answers_are_shares_and_mix_with_no_logits_and_no_proof_of_being_found() -> None:
    asked = with_fields(
        FOUND, mode="answers/hca_tail_lost", stage="answer", difference=0.0, answers=((5, 1.0, 1.0), (4, 1.0, 0.25))
    )
    sums = stress_sums([FOUND, asked])
    assert fault_sums(FOUND, asked).checks == 1
    assert sums.answers == [asked]
    mode = sums.modes["faults", "tiny", "answers/hca_tail_lost"]
    assert (mode.difference, mode.answers_lost) == (0.0, 0.75)
    assert "; 75% of the answers lost; " in finding_text(asked)
    absent = with_fields(asked, outcome="same", answers=(), detail="no window is open there")
    assert not stress_sums([absent]).faults


def test_a_run_that_was_taken_up_counts_its_cells_once() -> None:
    started = BoundaryStressStarted(
        seq=0, t_ns=0, level="numeric", subject="tiny", geometry=preset("tiny"), seed=0, modes=(), lengths=(), cells=7
    )
    sums = StressSums()
    for _ in range(2):
        sums.feed(started)
    assert sums.cells == 7


def test_a_finding_says_where_and_what_differs_first() -> None:
    check = with_fields(FOUND, level="numeric", mode="resumed", fault="", detail="of 3 rows")
    assert finding_text(check) == (
        "numeric of tiny, resumed at 131: differs; state hca_tail layer 3 row 128, token 124 behind the cut; "
        "largest difference 0.5; of 3 rows"
    )
