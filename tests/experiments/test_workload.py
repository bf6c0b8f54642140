"""The workload shares what it says it shares."""

from itertools import pairwise

import pytest

from shadowviz.experiments.workload import CONTEXT_TOKENS, NUM_SYSTEMS, SYSTEM_TOKENS, VOCAB_SIZE, workload

NUM_SEQUENCES = 200
LENGTH = 1100
SHARED = SYSTEM_TOKENS + CONTEXT_TOKENS


@pytest.fixture(scope="module")
def prompts():
    return workload(NUM_SEQUENCES, LENGTH, seed=3)


def test_every_set_has_the_asked_number_of_prompts_of_the_asked_length(prompts) -> None:
    for part in prompts:
        assert len(part) == NUM_SEQUENCES
        assert {len(tokens) for tokens in part} == {LENGTH}
        assert {tokens.typecode for tokens in part} == {"q"}


def test_stored_prompts_share_systems_and_contexts_and_no_tail(prompts) -> None:
    stored = prompts.stored
    assert len({tokens[:SYSTEM_TOKENS].tobytes() for tokens in stored}) == NUM_SYSTEMS
    assert len({tokens[:SHARED].tobytes() for tokens in stored}) == NUM_SEQUENCES // 10
    assert len({tokens[SHARED : SHARED + 4].tobytes() for tokens in stored}) == NUM_SEQUENCES


def test_partial_prompts_go_on_from_a_stored_context_with_a_new_tail(prompts) -> None:
    contexts = {tokens[:SHARED].tobytes() for tokens in prompts.stored}
    assert all(tokens[:SHARED].tobytes() in contexts for tokens in prompts.partial)
    assert {tokens.tobytes() for tokens in prompts.partial}.isdisjoint(tokens.tobytes() for tokens in prompts.stored)


def test_missing_prompts_share_not_even_a_first_page(prompts) -> None:
    pages = {tokens[:16].tobytes() for part in (prompts.stored, prompts.partial) for tokens in part}
    assert pages.isdisjoint(tokens[:16].tobytes() for tokens in prompts.missing)


def test_no_cut_falls_on_a_multiple_of_any_page(prompts) -> None:
    assert all(SYSTEM_TOKENS % page or SHARED % page for page in range(2, SHARED + 1))


def test_ids_lie_in_the_vocabulary_and_spread_over_it(prompts) -> None:
    ids = sorted(set(prompts.missing[0]))
    assert 0 <= ids[0] < ids[-1] < VOCAB_SIZE
    assert max(after - before for before, after in pairwise(ids)) < VOCAB_SIZE // 20


def test_one_seed_gives_one_workload(prompts) -> None:
    assert workload(NUM_SEQUENCES, LENGTH, seed=3) == prompts
    assert workload(NUM_SEQUENCES, LENGTH, seed=4) != prompts
