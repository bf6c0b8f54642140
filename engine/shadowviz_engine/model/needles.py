"""Recall tasks of the trained checkpoints: key-value pairs in filler, asked for at the end, made from a seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shadowviz_engine.core.errors import InputError

Ids = NDArray[np.int64]

BOS, EOS = 0, 1
FIRST_KEY, NUM_KEYS = 2, 16
FIRST_VALUE, NUM_VALUES = 18, 16
FIRST_FILLER, NUM_FILLERS = 34, 46
VOCAB_SIZE = 80


@dataclass(frozen=True)
class RecallTask:
    """What sequences look like. A pair is a key and, right after it, its value; lengths and distances are in tokens."""

    shortest: int
    longest: int
    fewest_pairs: int
    most_pairs: int
    spacing: int
    """Least distance between the keys of two pairs, so that no compressed entry has to hold both."""
    gap: int
    """Least filler between the last pair and the first question: no less than the window, so entries must answer."""


RECALL = RecallTask(shortest=48, longest=72, fewest_pairs=1, most_pairs=4, spacing=5, gap=9)
RECALL_HCA = RecallTask(shortest=40, longest=64, fewest_pairs=1, most_pairs=3, spacing=9, gap=9)


@dataclass(frozen=True)
class Questions:
    """Sequences of equal length with their questions."""

    tokens: Ids
    """`[sequences, tokens]`."""
    asked_at: Ids
    """`[sequences, questions]`: position of the asked key; the logits there should name its value."""
    answers: Ids
    """`[sequences, questions]`: ids of the values."""


def random_questions(task: RecallTask, rng: np.random.Generator, count: int) -> Questions:
    """`count` sequences with pairs at random places, all of them asked for, each question followed by its answer.

    All sequences of a call have one random length and one random number of pairs.
    """
    num_tokens = int(rng.integers(task.shortest, task.longest + 1))
    num_pairs = int(rng.integers(task.fewest_pairs, task.most_pairs + 1))
    questions_start = num_tokens - 2 * num_pairs
    slack = questions_start - task.gap - 1 - (num_pairs - 1) * task.spacing - 2
    if slack < 0:
        raise InputError(f"{num_tokens} tokens cannot hold {num_pairs} pairs: {-slack} more are needed by {task}")
    # Sorted draws plus a fixed step each give every placement that respects the spacing.
    places = 1 + np.sort(rng.integers(0, slack + 1, (count, num_pairs)), axis=1) + np.arange(num_pairs) * task.spacing
    keys = FIRST_KEY + np.argsort(rng.random((count, NUM_KEYS)), axis=1)[:, :num_pairs]
    values = rng.integers(FIRST_VALUE, FIRST_VALUE + NUM_VALUES, (count, num_pairs))

    tokens = _filler(rng, count, num_tokens)
    rows = np.arange(count)[:, None]
    tokens[rows, places], tokens[rows, places + 1] = keys, values
    order = np.argsort(rng.random((count, num_pairs)), axis=1)
    asked, answers = keys[rows, order], values[rows, order]
    tokens[:, questions_start::2], tokens[:, questions_start + 1 :: 2] = asked, answers
    asked_at = np.tile(np.arange(questions_start, num_tokens, 2), (count, 1))
    return Questions(tokens, asked_at, answers)


def needle_at(place: int, num_tokens: int, seed: int, count: int) -> Questions:
    """`count` sequences with one pair, its value at position `place` and its key right before; the last token asks.

    The state of the value's token is what holds the pair, for it has seen the key: a needle at place L - 1 is the last
    that a boundary at L can lose.

    Raises:
        InputError: when the pair does not fit between the first token and the question.
    """
    if not 2 <= place <= num_tokens - 2:
        raise InputError(f"needle at {place} of {num_tokens} tokens: it must lie in 2..{num_tokens - 2}")
    rng = np.random.default_rng(seed)
    tokens = _filler(rng, count, num_tokens)
    tokens[:, place - 1] = tokens[:, -1] = rng.integers(FIRST_KEY, FIRST_KEY + NUM_KEYS, count)
    tokens[:, place] = rng.integers(FIRST_VALUE, FIRST_VALUE + NUM_VALUES, count)
    return Questions(tokens, np.full((count, 1), num_tokens - 1), tokens[:, place : place + 1].copy())


def _filler(rng: np.random.Generator, count: int, num_tokens: int) -> Ids:
    tokens = rng.integers(FIRST_FILLER, FIRST_FILLER + NUM_FILLERS, (count, num_tokens))
    tokens[:, 0] = BOS
    return tokens
