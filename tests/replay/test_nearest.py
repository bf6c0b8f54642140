"""The gain of TOKENS_DIFFER, against a cache that really stored the other text."""

import pytest
from lookup_runs import ExplainedRun

from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.verdict import Verdict

LONG = list(range(10_000, 18_000))


def changed(values: list[int], *places: int, by: int = 1000) -> list[int]:
    """The same tokens, but for those at `places`."""
    return [value + by if place in places else value for place, value in enumerate(values)]


def test_one_differing_token_costs_what_the_repaired_prompt_would_reuse() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    explanation = run.run(changed(LONG, 5))
    assert explanation.verdict.label == "TOKENS_DIFFER(SHIFTED)"
    assert (explanation.lookup.reused, explanation.verdict.gain) == (0, 7936)
    assert explanation.parting is not None
    assert (explanation.parting.rule.token, explanation.parting.agreed) == (5, 7994)
    # What was claimed, tried: the prompt as stored reuses exactly that much.
    assert run.run(LONG).lookup.reused == 7936


def test_differences_of_one_cause_are_lifted_together() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    explanation = run.run(changed(LONG, *range(5, 8000, 40)))
    assert explanation.parting is not None
    assert (explanation.verdict.gain, explanation.parting.num_stretches) == (7936, 200)


def test_a_difference_of_another_cause_ends_the_gain() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    explanation = run.run(changed(changed(LONG, 5), 4000, by=7))
    assert explanation.verdict.label == "TOKENS_DIFFER(SHIFTED)"
    assert explanation.verdict.gain == 3840


def test_a_prompt_that_shares_one_token_with_anything_is_cold() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    explanation = run.run([LONG[0], *range(50_000, 57_999)])
    assert (explanation.lookup.common, explanation.verdict.verdict) == (1, Verdict.COLD)


def test_the_gain_is_that_of_the_stored_path_which_agrees_longest() -> None:
    run = ExplainedRun(retention="all")
    run.run([1, 2, 3, *LONG[:2000]])
    run.run([1, 2, 4, *range(60_000, 62_000)])
    explanation = run.run([1, 2, 9, *LONG[:2000]])
    # The child used last is the other one; both part from the prompt at token 2.
    assert explanation.parting is not None
    assert (explanation.parting.rule.token, explanation.verdict.gain) == (2, 1792)


def test_many_paths_beside_the_prompt_do_not_hide_the_one_that_is_like_it() -> None:
    run = ExplainedRun(retention="all", num_full_pages=2000, num_swa_pages=2000)
    run.run([1, *LONG[:1000]])
    for other in range(60):
        run.run([1, 2, *range(100_000 + 100 * other, 100_060 + 100 * other)])
        run.run([1, 3 + other, *range(200_000 + 100 * other, 200_060 + 100 * other)])
    explanation = run.run([1, 1, *LONG[:1000]])
    assert explanation.verdict.label == "TOKENS_DIFFER(TEXT)"
    assert explanation.verdict.gain == 768


def test_tokens_that_only_the_stored_path_has_are_no_gain() -> None:
    run = ExplainedRun(retention="all")
    run.run([*LONG[:10], *range(70_000, 75_000), *LONG[10:1000]])
    explanation = run.run(LONG[:1000])
    assert explanation.verdict.verdict is Verdict.TOKENS_DIFFER
    assert explanation.verdict.gain <= 1000


def test_what_agrees_again_but_fills_no_unit_is_cold_and_said_to_agree() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:3] + LONG[100:300])
    explanation = run.run([*LONG[:3], 1, *LONG[101:300], *range(50_000, 53_000)])
    assert explanation.verdict.verdict is Verdict.COLD
    assert explanation.facts[-2].text == (
        "Verdict: COLD. 199 tokens agree behind the difference at token 3; repaired, the 203 tokens in common are "
        "still less than one unit of 256 tokens."
    )


def test_a_prompt_that_lacks_stored_tokens_is_told_how_much_longer_it_would_be() -> None:
    run = ExplainedRun(retention="all")
    run.run([*range(60), *LONG[:100]])
    explanation = run.run(LONG[:100])
    told = [fact.text for fact in explanation.facts]
    assert ": stored is '0 1 2 3 4 5 6 7 8 9" in told[1]
    assert told[1].endswith("…', which the prompt lacks.")
    assert told[-1] == (
        "Verdict: COLD. 100 tokens agree behind the difference at token 0; repaired and so 60 tokens longer, the "
        "prompt would have 160 tokens in common, still less than one unit of 256 tokens."
    )


def test_a_prompt_with_tokens_that_are_not_stored_is_told_so() -> None:
    run = ExplainedRun(retention="all")
    run.run([1, *LONG[:100]])
    explanation = run.run([1, 7, 8, *LONG[:100]])
    told = "\n".join(fact.text for fact in explanation.facts)
    assert "At token 1 it parts from a stored path (node n1, stored by r1): the prompt has '7 8', which is not " in told
    assert "repaired, the 101 tokens in common are still less than one unit of 256 tokens." in told


def test_what_agrees_again_where_no_state_is_left_is_cold_and_said_to_agree() -> None:
    run = ExplainedRun(retention="window")
    run.run(LONG[:2048])
    explanation = run.run([*changed(LONG[:1600], 0), *range(80_000, 80_100)])
    assert explanation.facts[-1].text == (
        "Verdict: COLD. 1,599 tokens agree behind the difference at token 0; repaired, nothing more could be reused."
    )


def test_window_rows_that_are_gone_bound_the_gain() -> None:
    run = ExplainedRun(retention="window")
    run.run(LONG[:2048])
    far = run.run([*changed(LONG[:1600], 5), *range(80_000, 80_100)])
    assert far.parting is not None
    # Only the last window of the stored path is kept, and the repaired prompt would leave the path before it.
    assert far.parting.rule.gain == 0


@pytest.mark.parametrize("prompt", [LONG[:300], LONG[:256], LONG[:1]])
def test_a_prompt_that_is_stored_whole_parts_from_nothing(prompt: list[int]) -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    assert run.run(prompt).parting is None


def test_in_classic_mode_the_gain_counts_whole_registered_paths() -> None:
    run = ExplainedRun(match_mode="classic", resume=ResumeRule.ANY)
    run.run(LONG[:400])
    explanation = run.run([*changed(LONG[:400], 5), 1, 2, 3])
    assert explanation.parting is not None
    assert explanation.parting.rule.gain == 400
