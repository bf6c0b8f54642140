"""What the lengths of findings have in common: said only where it tells them from every other length."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.replay.stress_patterns import StressPatterns, common_of, units_of
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted
from shadowviz_engine.core.presets import preset

UNITS = (("csa", 4), ("hca", 128), ("n_win", 128), ("page", 256))
CHECKED = range(1, 601)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda length: length % 4, "every checked length L with L mod 4 (csa) = 1, 2 or 3"),
        (lambda length: length % 4 == 0, "every checked length L from 4 on with L mod 4 (csa) = 0"),
        (lambda length: length % 128, "every checked length L with L mod 128 (hca) other than 0"),
        (lambda length: 5 <= length % 128 < 100, "every checked length L from 5 on with L mod 128 (hca) in 5 to 99"),
        (lambda length: length >= 127, "every checked length from 127 on"),
        (lambda length: True, "every checked length"),
        (lambda length: length >= 130 and length % 4 == 3, "every checked length L from 131 on with L mod 4 (csa) = 3"),
        (lambda length: length % 256 == 255, "every checked length L from 255 on with L mod 256 (page) = 255"),
        (lambda length: length in (3, 90, 95, 312), ""),
        (lambda length: length in (128, 256), ""),
    ],
)
def test_lengths_are_told_from_all_others_in_words(wrong: "object", words: str) -> None:
    checked = list(CHECKED) if "255" not in words else list(range(1, 1300))
    assert common_of([length for length in checked if wrong(length)], checked, UNITS) == words


@given(st.sets(st.integers(1, 400), min_size=1), st.sets(st.integers(1, 400)))
def test_what_is_said_holds_for_the_lengths_and_for_no_other(wrong: set[int], right: set[int]) -> None:
    checked = sorted(wrong | right)
    words = common_of(sorted(wrong), checked, UNITS)
    if not words:
        return
    first = int(found[1]) if (found := re.search(r"from (\d+) on", words)) else 0
    size = int(found[1]) if (found := re.search(r"mod (\d+)", words)) else 1
    residues = {length % size for length in wrong}
    assert {length for length in checked if length >= first and length % size in residues} == wrong


def test_findings_of_one_mode_kind_and_layer_are_one_group_that_begins_with_the_shortest() -> None:
    patterns = StressPatterns()
    geometry = preset("tiny")
    patterns.feed(
        BoundaryStressStarted(
            seq=0, t_ns=0, level="numeric", subject="tiny", geometry=geometry, seed=0, modes=(), lengths=(), cells=0
        )
    )
    for length in reversed(range(1, 41)):
        check = BoundaryChecked(seq=0, t_ns=0, level="numeric", subject="tiny", mode="cold", length=length)
        if length % 4:
            check = msgspec.structs.replace(check, outcome="differs", kind="csa_kv", layer=2, row=length // 4)
        elif length == 20:
            check = msgspec.structs.replace(check, outcome="refused")
        patterns.feed(check)
    first, second = patterns.groups()
    assert (first.first.length, first.count) == (1, 30)
    assert first.where == "every checked length L with L mod 4 (csa) = 1, 2 or 3"
    assert (second.first.length, second.count, second.where) == (20, 1, "")


def test_units_are_those_of_the_geometry() -> None:
    assert units_of(preset("v4-flash")) == UNITS
