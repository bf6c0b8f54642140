"""What a check compares, beside what the running engine really hands to the comparison."""

import pytest

from shadowviz.experiments.stress import witness
from shadowviz.experiments.stress.levels import work_of
from shadowviz.experiments.stress.work import Plan
from shadowviz.replay.stress_parts import NO_PARTS, compared_parts
from shadowviz_engine.core.events import BoundaryStressStarted
from shadowviz_engine.core.presets import preset


def started_as(level: str, subject: str = "tiny") -> BoundaryStressStarted:
    return BoundaryStressStarted(
        seq=1, t_ns=0, level=level, subject=subject, geometry=preset(subject), seed=0, modes=(), lengths=(), cells=1
    )


@pytest.mark.parametrize(
    ("level", "mode", "length"),
    [
        ("numeric", "resumed/any/all", 1),
        ("numeric", "cold/any/all", 1),
        ("numeric", "cold/any/all", 4),
        ("faults", "none/again", 4),
        ("faults", "none/forked", 1),
    ],
)
def test_the_parts_are_those_that_the_engine_hands_to_the_comparison(
    monkeypatch: pytest.MonkeyPatch, level: str, mode: str, length: int
) -> None:
    seen = set()
    compare = witness.first_differences

    def watched(trace, *more):
        seen.update((traced.kind, traced.layer) for traced in trace if traced.stage == "state" and len(traced.rows))
        return compare(trace, *more)

    monkeypatch.setattr(witness, "first_differences", watched)
    modes = (mode,) if level == "numeric" else ()
    work = work_of(Plan(level=level, subject="tiny", lengths=((length, length + 1),), modes=modes))
    (group,) = (group for group in work.groups() if group.mode == mode)
    assert [result.outcome for result in work.check(group)] == ["same"]
    assert seen == compared_parts(started_as(level), mode, length)


@pytest.mark.parametrize(
    ("level", "mode"),
    [("arithmetic", "slots"), ("arithmetic", "claims"), ("faults", "answers/csa_tail_lost"), ("faults", "blind/1")],
)
def test_where_the_record_does_not_tell_no_part_is_claimed(level: str, mode: str) -> None:
    assert compared_parts(started_as(level), mode, 500) == NO_PARTS


def test_formulas_compare_every_kind_for_all_of_its_layers() -> None:
    kinds = {(kind.label, -1) for kind in preset("tiny").kinds}
    assert compared_parts(started_as("arithmetic"), "derive", 1) == kinds
