"""Causes named for thousands of random edits whose class is known by construction."""

import pytest
from cause_runs import tally_of_chats, tally_of_texts
from cause_tally import Tally
from prompt_edits import labelled_pairs

OVERALL = 0.98
EACH = 0.90


def check(tally: Tally) -> None:
    """Print the counts, and fail with them where too many answers are wrong."""
    print(f"\n{tally.table()}")
    assert tally.loud == []
    assert tally.precision >= OVERALL, f"\n{tally.table()}"
    assert tally.below(EACH) == [], f"\n{tally.table()}"


def test_the_cause_of_an_edit_of_text_or_ids_is_named() -> None:
    tally = tally_of_texts(0, 85, 400)
    assert tally.total >= 4000
    check(tally)


def test_the_cause_of_a_change_in_a_conversation_is_named() -> None:
    check(tally_of_chats(0, 20))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_the_causes_of_other_edits_are_named_too(seed: int) -> None:
    check(tally_of_texts(seed, 85, 400))
    check(tally_of_chats(seed, 20))


def test_few_labels_leave_a_choice() -> None:
    pairs = [pair for _, pair in labelled_pairs(0, 85, 400)]
    assert sum(len(pair.labels) > 1 for pair in pairs) < len(pairs) / 10


def test_the_same_seed_makes_the_same_pairs() -> None:
    assert list(labelled_pairs(3, 2, 2)) == list(labelled_pairs(3, 2, 2))
    assert list(labelled_pairs(3, 2, 2)) != list(labelled_pairs(4, 2, 2))
