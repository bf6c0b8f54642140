"""The choice of the next token."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.runtime.sampler import Choice, draw_token, nucleus, sample, uniform

# Few distinct values, so that ties are common.
LOGITS = arrays(np.float64, st.integers(1, 40), elements=st.integers(-3, 3).map(float))
TEMPERATURES = st.floats(0.05, 5.0)
TOP_PS = st.floats(0.01, 1.0)


@given(LOGITS)
def test_greedy_takes_the_lowest_of_the_best_ids(logits):
    (token,) = sample(torch.from_numpy(logits).float()[None], [Choice("r", 0)])
    assert token == min(index for index, value in enumerate(logits) if value == logits.max())


@given(LOGITS, TEMPERATURES, TOP_PS)
def test_a_nucleus_is_the_smallest_likeliest_set_that_reaches_top_p(logits, temperature, top_p):
    ids, probabilities = nucleus(logits, temperature, top_p)
    weights = np.exp((logits - logits.max()) / temperature)
    assert np.allclose(probabilities, (weights / weights.sum())[ids])
    assert len(set(ids.tolist())) == len(ids)
    left = set(range(len(logits))) - set(ids.tolist())
    assert all(logits[out] <= logits[ids].min() for out in left)
    assert all((-logits[a], a) < (-logits[b], b) for a, b in pairwise(ids.tolist()))
    assert probabilities[:-1].sum() < top_p
    assert not left or probabilities.sum() >= top_p


@given(LOGITS, TEMPERATURES, TOP_PS, st.integers(0, 2**40), st.integers(0, 2**20))
def test_a_draw_lies_in_the_nucleus_and_comes_out_the_same_again(logits, temperature, top_p, seed, position):
    choice = Choice("r", position, temperature, top_p, seed)
    token = draw_token(logits, choice)
    assert token in nucleus(logits, temperature, top_p)[0]
    assert token == draw_token(logits.copy(), choice)


@given(st.lists(LOGITS.filter(lambda row: len(row) >= 4), min_size=2, max_size=5), st.integers(0, 1000), st.data())
def test_a_draw_does_not_depend_on_the_rest_of_the_batch(rows, seed, data):
    logits = torch.stack([torch.from_numpy(row[:4]).float() for row in rows])
    choices = [Choice(str(i), 7 * i, data.draw(st.sampled_from((0.0, 0.7))), 0.9, seed) for i in range(len(rows))]
    alone = [sample(logits[i : i + 1], [choice])[0] for i, choice in enumerate(choices)]
    assert sample(logits, choices) == alone


def test_draws_follow_the_probabilities():
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
    draws = [draw_token(logits, Choice("r", position, 1.0, 1.0, 3)) for position in range(4000)]
    shares = np.bincount(draws, minlength=4) / len(draws)
    assert np.abs(shares - [0.5, 0.3, 0.15, 0.05]).max() < 0.03
    trimmed = {draw_token(logits, Choice("r", position, 1.0, 0.79, 3)) for position in range(400)}
    assert trimmed == {0, 1}


def test_a_token_of_probability_zero_is_never_drawn():
    logits = np.array([0.0, -np.inf, 0.0, -np.inf])
    assert {draw_token(logits, Choice("r", position, 1.0, 1.0, 5)) for position in range(200)} == {0, 2}


def test_a_low_temperature_is_greedy_without_overflow():
    logits = np.array([1000.0, 1001.0, -1000.0])
    assert {draw_token(logits, Choice("r", position, 1e-6, 1.0, 5)) for position in range(50)} == {1}


def test_uniform_numbers_are_pinned_and_spread_over_the_unit_interval():
    numbers = [uniform(seed, position) for seed in range(20) for position in range(100)]
    assert len(set(numbers)) == len(numbers)
    assert all(0.0 <= number < 1.0 for number in numbers)
    assert abs(sum(numbers) / len(numbers) - 0.5) < 0.03
    assert uniform(0, 0) == 0.3859926107094097


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_logits_without_a_finite_best_are_an_error_that_names_the_request(value):
    logits = torch.zeros(2, 5)
    logits[1] = value
    with pytest.raises(InvariantError, match=r"request 'b' has logit .* at position 9"):
        sample(logits, [Choice("a", 3), Choice("b", 9)])


def test_a_single_nan_among_good_logits_is_found():
    logits = torch.tensor([[1.0, float("nan"), 2.0]])
    with pytest.raises(InvariantError, match="logit nan"):
        sample(logits, [Choice("a", 3, temperature=1.0)])


def test_of_equally_likely_tokens_the_lowest_id_is_taken_in_every_row():
    logits = torch.zeros(3, 1000)
    logits[0, [700, 31, 999]] = 2.0
    logits[1, 5:] = 1.0
    assert sample(logits, [Choice(str(row), 0) for row in range(3)]) == [31, 5, 0]
