"""Differing stretches of two token sequences, and where they agree again."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from shadowviz.replay.agree import Stretch, differing_stretches
from shadowviz_engine.core.spans import Extent


def ids(values: object) -> "array[int]":
    return array("i", values)  # type: ignore[call-overload, no-any-return]


def test_a_replaced_token_is_one_stretch_and_the_rest_agrees() -> None:
    stored = ids(range(8000))
    prompt = ids(stored)
    prompt[5] = 90_000
    assert list(differing_stretches(prompt, stored, 5)) == [Stretch(Extent(5, 6), Extent(5, 6), 7994)]


def test_an_inserted_token_shifts_what_agrees() -> None:
    stored = ids(range(100))
    prompt = ids([*range(40), 777, *range(40, 100)])
    assert list(differing_stretches(prompt, stored, 40)) == [Stretch(Extent(40, 41), Extent(40, 40), 60)]


def test_a_convincing_agreement_near_by_wins_over_a_longer_one_far_away() -> None:
    stored = ids([*range(50), 900, *range(50, 80), 901, *range(200, 400)])
    prompt = ids([*range(50), 910, *range(50, 80), 911, *range(200, 400)])
    first, second = differing_stretches(prompt, stored, 50)
    assert (first.prompt, first.agreed) == (Extent(50, 51), 30)
    assert (second.prompt, second.agreed) == (Extent(81, 82), 200)


def test_without_a_convincing_agreement_the_longest_is_taken() -> None:
    tail = list(range(5000, 5400))
    prompt = ids([1, *range(100, 500), *tail])
    stored = ids([1, *range(1000, 1600), *tail])
    assert list(differing_stretches(prompt, stored, 1)) == [Stretch(Extent(1, 401), Extent(1, 601), 400)]


def test_later_agreements_may_be_short() -> None:
    prompt, stored = [1, 2, 3], [1, 2, 3]
    for line in range(20):
        prompt += [900, 901, 902, *range(1000 + 10 * line, 1006 + 10 * line)]
        stored += [800, *range(1000 + 10 * line, 1006 + 10 * line)]
    prompt[9:9], stored[7:7] = list(range(300, 320)), list(range(300, 320))
    stretches = list(differing_stretches(ids(prompt), ids(stored), 3))
    assert len(stretches) == 20
    assert stretches[-1].agreed == 6


def test_an_agreement_shorter_than_what_differs_before_it_is_chance() -> None:
    shared = [7001, 7002, 7003, 7004, 7005]
    prompt = ids([1, *range(100, 280), *shared, *range(300, 400)])
    stored = ids([1, *range(1000, 1500), *shared, *range(2000, 2400)])
    assert list(differing_stretches(prompt, stored, 1)) == []


def test_sequences_that_never_agree_again_have_no_stretch() -> None:
    assert list(differing_stretches(ids(range(500)), ids(range(1000, 1500)), 0)) == []
    assert list(differing_stretches(ids([1, 2]), ids([1, 3]), 1)) == []


@given(st.lists(st.integers(0, 3), max_size=60), st.lists(st.integers(0, 3), max_size=60))
def test_every_stretch_is_followed_by_what_both_hold(left: list[int], right: list[int]) -> None:
    prompt, stored = ids(left), ids(right)
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    a, b = start, start
    for stretch in differing_stretches(prompt, stored, start):
        assert (stretch.prompt.start, stretch.stored.start) == (a, b)
        a, b = stretch.prompt.stop + stretch.agreed, stretch.stored.stop + stretch.agreed
        assert prompt[stretch.prompt.stop : a] == stored[stretch.stored.stop : b]
        assert a <= len(left)
        assert b <= len(right)
        assert a == len(left) or b == len(right) or prompt[a] != stored[b]
