"""Plans of a stress run: which levels and subjects an argument names, and what a result's command comes to."""

import shlex
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.experiments.stress.plans import Asked, lengths_of, plans_of
from shadowviz.experiments.stress.results import command_for
from shadowviz.experiments.stress.work import CellResult, Plan
from shadowviz_engine.core.errors import InputError

RANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=8)


def levels_of(**asked: object) -> list[tuple[str, str]]:
    return [(plan.level, plan.subject) for plan in plans_of(Asked(**asked))]


@given(RANGES)
def test_ranges_are_joined_to_the_lengths_that_were_named(parts: list[tuple[int, int]]) -> None:
    text = ",".join(f"{start}:{start + size}" if size > 1 else str(start) for start, size in parts)
    named = {length for start, size in parts for length in range(start, start + size)}
    ranges = lengths_of(text)
    assert [length for start, stop in ranges for length in range(start, stop)] == sorted(named)
    assert all(stop < start for (_, stop), (start, _) in pairwise(ranges))


@pytest.mark.parametrize("text", ["", "5:5", "9:3", "-1", "1:2:3", "a", "1;2", "1,", f"0:{2**40 + 1}", "१"])
def test_other_lengths_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--lengths .* is no range: expected START:STOP"):
        lengths_of(text)


def test_without_a_level_arithmetic_runs_and_what_has_a_model_is_run_too() -> None:
    assert levels_of() == [("arithmetic", "tiny-512"), ("numeric", "tiny-512")]
    assert levels_of(subjects=("recall",)) == [("arithmetic", "recall"), ("numeric", "recall")]
    assert levels_of(subjects=("v4-flash",)) == [("arithmetic", "v4-flash")]
    assert levels_of(subjects=("v4-flash",), levels=("numeric",)) == [("numeric", "v4-flash")]


def test_an_option_chooses_the_levels_that_take_it() -> None:
    assert levels_of(options={"fault": "all"}) == [("faults", "tiny-512")]
    assert levels_of(options={"retention": "window"}) == [("numeric", "tiny-512")]
    with pytest.raises(InputError, match="--fault means nothing to level numeric: expected --level faults"):
        levels_of(levels=("numeric",), options={"fault": "all"})


def test_an_option_goes_only_to_the_levels_that_take_it() -> None:
    plans = plans_of(Asked(levels=("arithmetic", "numeric"), options={"multiples": "9", "matrix": "full"}))
    assert [plan.options for plan in plans] == [{"multiples": "9"}, {"matrix": "full"}]


def test_seeds_are_spelt_out_and_no_subject_comes_twice() -> None:
    subjects = ("random:2", "random:1:4", "tiny", "tiny")
    found = [subject for _, subject in levels_of(subjects=subjects, levels=("arithmetic",))]
    assert found == ["random:2", "random:1", "random:3", "tiny"]
    with pytest.raises(InputError, match="random:4:4 names no subjects"):
        levels_of(subjects=("random:4:4",))


def test_a_mode_needs_the_level_that_it_is_one_of() -> None:
    with pytest.raises(InputError, match="--mode 'cold' is a mode of one level: expected --level with it"):
        plans_of(Asked(modes=("cold",)))


def test_the_command_of_a_cell_asks_for_this_cell_and_nothing_else() -> None:
    plan = Plan(
        level="numeric",
        subject="my models/a; b",
        lengths=((1, 1001),),
        seed=7,
        options={"retention": "window", "matrix": "full"},
    )
    words = shlex.split(command_for(plan, CellResult(mode="cold/any/window", length=131)))
    assert words == [
        *("shadowviz", "stress", "my models/a; b", "--level", "numeric", "--mode", "cold/any/window"),
        *("--lengths", "131", "--seed", "7", "--matrix", "full", "--retention", "window"),
    ]
