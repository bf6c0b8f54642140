"""What a run lost in sum, and what to change."""

import msgspec
import pytest
from lookup_runs import ExplainedRun

from shadowviz.replay.explain import Explanation
from shadowviz.replay.summary import MORE_ROOM, summarise
from shadowviz.tokens.causes.advice import ADVICE
from shadowviz.tokens.finding import Cause
from shadowviz_engine.core.verdict import Verdict

LONG = list(range(10_000, 18_000))

OF_MESSAGES = {
    Cause.TEMPLATE,
    Cause.REASONING_MISSING,
    Cause.EFFORT_PREFIX,
    Cause.SYSTEM_GREW,
    Cause.HISTORY_EDITED,
    Cause.HISTORY_TRUNCATED,
    Cause.TOKENIZER_VERSION,
}
"""Causes that ids alone cannot show: messages or a second tokenizer must be at hand."""
HARMLESS = {Cause.NORMALISED_EQUAL, Cause.EXTENDS}


def test_losses_are_summed_by_verdict_with_the_worst_example_first() -> None:
    run = ExplainedRun(retention="all")
    explanations = [
        run.run(LONG),
        run.run([*LONG[:5], 99_005, *LONG[6:]]),
        run.run([*LONG[:5], 88_006, *LONG[6:1000]]),
        run.run(LONG[:300]),
        run.run(LONG),
    ]
    summary = summarise(explanations)
    assert [(loss.verdict, loss.requests, loss.lost, loss.example) for loss in summary.losses] == [
        ("TOKENS_DIFFER(SHIFTED)", 1, 7936, "r2"),
        ("TOKENS_DIFFER(TEXT)", 1, 768, "r3"),
        ("PAGE_ALIGNED", 1, 43, "r4"),
        ("COLD", 1, 0, "r1"),
        ("FULL_HIT", 1, 0, "r5"),
    ]
    assert (summary.lookups, summary.prompt_tokens) == (5, 8000 + 8000 + 1000 + 300 + 8000)
    assert summary.reused_tokens == sum(explanation.lookup.reused for explanation in explanations)
    assert summary.best_change.startswith("make the prompts begin alike")
    assert summary.best_change_wins == 7936 + 768


def test_the_best_change_is_the_one_that_wins_most_over_all_verdicts() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:1000])
    explanations = [run.run([*LONG[:5], 99_005, *LONG[6:400]]), run.run(LONG[:240]), run.run(LONG[:250])]
    summary = summarise(explanations)
    assert [(loss.verdict, loss.lost) for loss in summary.losses] == [
        ("TOO_SHORT(256)", 239 + 249),
        ("TOKENS_DIFFER(SHIFTED)", 256),
    ]
    assert summary.best_change_wins == 239 + 249
    run.run(LONG[1000:2000])
    other_text = run.run([*LONG[1000:1005], 98_006, *LONG[1006:1700]])
    # Two verdicts, TOKENS_DIFFER(SHIFTED) and (TEXT), that one change would mend.
    assert summarise([*explanations, other_text]).best_change_wins == 256 + 512


def test_a_request_that_starts_again_counts_once_and_not_what_it_finds_of_its_own() -> None:
    run = ExplainedRun(retention="all")
    request, _ = run.driver.start(LONG[:1000])
    run.driver.prefill(request, 1000)
    run.driver.manager.retract(request)
    run.driver.manager.admit(request, LONG[:1000])
    explanations = run.catch_up()
    assert [explanation.lookup.reused for explanation in explanations] == [0, 768]
    summary = summarise(explanations)
    assert (summary.lookups, summary.prompt_tokens, summary.reused_tokens) == (1, 1000, 0)


def test_window_rows_that_gave_way_to_others_ask_for_room_and_not_for_another_retention() -> None:
    run = ExplainedRun(retention="all", num_full_pages=60, num_swa_pages=12)
    run.run(LONG[:2048])
    run.run(range(50_000, 52_560))
    explanation = run.run([*LONG[:1600], *range(100)])
    assert (explanation.verdict.verdict, explanation.swa_reason) == (Verdict.CUT_BY_SWA, "pressure")
    assert summarise([explanation]).best_change == MORE_ROOM


def test_window_rows_that_retention_let_go_ask_for_another_retention() -> None:
    run = ExplainedRun(retention="window")
    run.run(LONG[:2048])
    explanation = run.run([*LONG[:1600], *range(100)])
    assert (explanation.verdict.verdict, explanation.swa_reason) == (Verdict.CUT_BY_SWA, "retention")
    best = summarise([explanation]).best_change
    assert best == "keep more window rows (--retention all, forks or every:TOKENS)"


def test_what_another_length_would_win_is_called_the_most_that_it_can_win() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:240])
    best = summarise([run.run(LONG[:240])]).best_change
    assert best == (
        "resume at any length (--resume any), or use a page smaller than 256; "
        "it wins that much at most, if the pools have room"
    )


def test_prompts_that_ran_beside_one_like_them_are_counted_in_a_hint() -> None:
    run = ExplainedRun(retention="all")
    run.driver.start(LONG[:1000])
    run.driver.start(LONG[:1000])
    # Too short for a unit, so that it is cold, and yet like the first.
    run.driver.start([*LONG[:100], *range(200)])
    # Shares the first token alone, as all prompts do that begin with the same mark.
    run.driver.start([LONG[0], *range(50_000, 51_000)])
    explanations = run.catch_up()
    assert [explanation.verdict.verdict for explanation in explanations] == [
        Verdict.COLD,
        Verdict.IN_FLIGHT,
        Verdict.COLD,
        Verdict.COLD,
    ]
    assert summarise(explanations).hint == (
        "2 prompts ran at the same time as one like them; --max-running 1 runs them one after another"
    )
    assert summarise(explanations[:2]).hint.startswith("1 prompt ran at the same time as one like it;")


def test_prompts_that_ran_one_after_another_leave_no_hint() -> None:
    run = ExplainedRun(retention="all")
    assert summarise([run.run(LONG[:1000]), run.run(LONG[:1000]), run.run(range(300))]).hint == ""


def parted_by(cause: str) -> Explanation:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    explanation = run.run([*LONG[:5], 99_005, *LONG[6:]])
    assert explanation.verdict.verdict is Verdict.TOKENS_DIFFER
    leading = msgspec.structs.replace(explanation.verdict, detail=cause)
    parted: Explanation = msgspec.structs.replace(explanation, findings=(leading, *explanation.findings[1:]))
    return parted


@pytest.mark.parametrize("cause", sorted(set(Cause) - OF_MESSAGES - HARMLESS - {Cause.TEXT}))
def test_a_cause_is_answered_with_what_a_comparison_of_two_prompts_says(cause: Cause) -> None:
    assert summarise([parted_by(cause)]).best_change == ADVICE[cause]


def test_another_text_asks_for_one_beginning() -> None:
    assert summarise([parted_by(Cause.TEXT)]).best_change == "make the prompts begin alike, and put what varies last"


def test_a_clock_and_other_text_are_two_changes_and_their_losses_are_not_added() -> None:
    summary = summarise([parted_by(Cause.TIME)])
    both = msgspec.structs.replace(parted_by(Cause.TEXT), request="other")
    assert summarise([parted_by(Cause.TIME), both]).best_change_wins == summary.best_change_wins == 7936
