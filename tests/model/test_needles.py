"""Recall tasks place their pairs where they say, and every one can be answered from the sequence."""

import numpy as np
import pytest

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.model import needles
from shadowviz_engine.model.needles import RECALL, RECALL_HCA, RecallTask, needle_at, random_questions


@pytest.mark.parametrize("task", [RECALL, RECALL_HCA])
def test_questions_ask_for_pairs_that_are_far_enough_apart_and_away(task: RecallTask) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        questions = random_questions(task, rng, 4)
        for tokens, asked_at, answers in zip(questions.tokens, questions.asked_at, questions.answers, strict=True):
            assert task.shortest <= len(tokens) <= task.longest
            assert tokens[0] == needles.BOS
            body = tokens[: asked_at[0]]
            keys_at = np.flatnonzero((body >= needles.FIRST_KEY) & (body < needles.FIRST_VALUE))
            assert (np.diff(keys_at) >= task.spacing).all()
            assert asked_at[0] - (keys_at[-1] + 2) >= task.gap
            pairs = {int(body[at]): int(body[at + 1]) for at in keys_at}
            assert pairs == {int(tokens[at]): int(answer) for at, answer in zip(asked_at, answers, strict=True)}
            assert (tokens[asked_at + 1] == answers).all()


def test_a_needle_has_its_value_at_the_place_and_its_key_before_it_and_at_the_end() -> None:
    questions = needle_at(19, 40, seed=0, count=5)
    assert (questions.tokens[:, 19] == questions.answers[:, 0]).all()
    assert (questions.tokens[:, 18] == questions.tokens[:, -1]).all()
    special = questions.tokens < needles.FIRST_FILLER
    assert np.flatnonzero(special.any(axis=0)).tolist() == [0, 18, 19, 39]
    assert np.array_equal(questions.tokens, needle_at(19, 40, seed=0, count=5).tokens)


@pytest.mark.parametrize("place", [1, 39])
def test_a_needle_that_does_not_fit_is_refused(place: int) -> None:
    with pytest.raises(InputError, match=f"needle at {place} of 40 tokens: it must lie in 2..38"):
        needle_at(place, 40, seed=0, count=1)
