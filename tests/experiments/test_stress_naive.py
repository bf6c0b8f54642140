"""The naive way beside the exact proof."""

import pytest

from shadowviz.experiments.stress.naive import _total, compare_with_naive
from shadowviz.experiments.stress.work import Plan
from shadowviz_engine.core.errors import InputError


def test_times_between_measured_lengths_are_linear() -> None:
    assert _total([(1, 1.0), (5, 3.0)], range(1, 6)) == pytest.approx(1 + 1.5 + 2 + 2.5 + 3)
    assert _total([(3, 2.0)], [3]) == 2.0


def test_both_ways_run_and_both_times_are_told() -> None:
    lines: list[str] = []
    plan = Plan(level="numeric", subject="random:2", lengths=((60, 64),))
    found = compare_with_naive(plan, every=2, say=lines.append)
    assert (found.num_lengths, found.num_same, found.num_measured) == (4, 4, 3)
    assert found.ours_s > 0
    assert found.naive_s > 0
    assert found.share == found.ours_s / found.naive_s
    assert f"{found.share:.3f}" in str(found)
    assert "from 3 of them" in str(found)
    assert lines == ["group 1 of 1"]


@pytest.mark.parametrize("subject", ["recall", "random:1"])
def test_a_subject_that_transformers_cannot_run_is_refused(subject: str) -> None:
    with pytest.raises(InputError):
        compare_with_naive(Plan(level="numeric", subject=subject, lengths=((1, 3),)))
