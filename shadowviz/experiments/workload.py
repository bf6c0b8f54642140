"""Prompts for timing a prefix tree: shared prefixes cut where no page ends."""

from __future__ import annotations

import random
from array import array
from typing import NamedTuple

VOCAB_SIZE = 129_280
NUM_SYSTEMS = 8
SYSTEM_TOKENS = 500
CONTEXT_TOKENS = 523
TAILS_PER_CONTEXT = 10


class Workload(NamedTuple):
    """Three sets of prompts of equal size, every prompt an `array('q')` of token ids.

    `stored` goes into the tree in this order, `partial` parts from it inside a page after the context, `missing` has
    nothing in common with it.
    """

    stored: list[array[int]]
    partial: list[array[int]]
    missing: list[array[int]]


def workload(nseq: int, length: int, seed: int) -> Workload:
    """`nseq` prompts of `length` tokens a set: one of 8 system prompts, a context that ten prompts share, a tail.

    2,000 prompts have 200 contexts. The cuts lie at 500 and 1,023 tokens, so no page size above one divides
    both.
    """
    tail_tokens = length - SYSTEM_TOKENS - CONTEXT_TOKENS
    assert nseq > 0, f"nseq {nseq} must be positive"
    assert tail_tokens > 0, f"length {length} leaves no tail behind a system prompt and a context"
    chance = random.Random(seed)
    vocabulary = range(VOCAB_SIZE)

    def fresh(num_tokens: int) -> array[int]:
        return array("q", chance.choices(vocabulary, k=num_tokens))

    systems = [fresh(SYSTEM_TOKENS) for _ in range(NUM_SYSTEMS)]
    num_contexts = max(1, nseq // TAILS_PER_CONTEXT)
    contexts = [systems[index % NUM_SYSTEMS] + fresh(CONTEXT_TOKENS) for index in range(num_contexts)]
    stored = [contexts[index % num_contexts] + fresh(tail_tokens) for index in range(nseq)]
    chance.shuffle(stored)
    partial = [contexts[index % num_contexts] + fresh(tail_tokens) for index in range(nseq)]
    missing = [fresh(length) for _ in range(nseq)]
    return Workload(stored, partial, missing)
