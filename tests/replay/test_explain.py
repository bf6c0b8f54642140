"""The facts behind a verdict in sentences."""

from lookup_runs import ExplainedRun, ids

from shadowviz.replay.explain import Explanation
from shadowviz.replay.probe import probe
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.verdict import Verdict

LONG = list(range(10_000, 18_000))


def told(explanation: Explanation) -> str:
    return "\n".join(f"{fact.origin}: {fact.text}" for fact in explanation.facts)


def test_the_chain_of_facts_names_path_token_and_price() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG)
    prompt = [*LONG[:5], 99_005, *LONG[6:]]
    assert told(run.run(prompt)).splitlines() == [
        "observed: 8,000 tokens asked; the first 5 are equal to a stored path (node n1, stored by r1).",
        "derived: A reused length is a multiple of 256 (page rule): 0 of 5 tokens.",
        "observed: At token 5 it parts from a stored path (node n1, stored by r1): stored '10005', prompt '99005'.",
        "derived: Behind that, 7,994 tokens agree again.",
        "observed: 0 tokens were reused, 8,000 had to be computed.",
        "derived: Verdict: TOKENS_DIFFER(SHIFTED). 7,936 tokens more would be reused if the differing text were as "
        "stored.",
        "derived: Behind it: TOO_SHORT(256). What could be reused is shorter than one unit; 5 tokens more would be "
        "reused without the rule.",
    ]


def test_a_node_is_that_of_the_request_which_stored_it_however_it_was_used_and_cut_since() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:2048])
    # Cuts the node of r1 in two, and uses its upper part last.
    run.run([*LONG[:512], *range(50_000, 50_300)])
    assert "the first 300 are equal to a stored path (node n2, stored by r1)." in told(run.run([*LONG[:300], 1]))
    assert "the first 600 are equal to a stored path (node n1, stored by r1)." in told(run.run([*LONG[:600], 1]))
    of_r2 = run.run([*LONG[:512], *range(50_000, 50_200), 1])
    assert ", stored by r2)." in told(of_r2).splitlines()[0]


def test_a_cut_by_the_window_names_the_event_that_freed_the_rows() -> None:
    run = ExplainedRun(retention="window")
    run.run(LONG[:2048])
    explanation = run.run([*LONG[:1600], *range(100)])
    assert explanation.verdict.verdict is Verdict.CUT_BY_SWA
    assert f"r1 had let go of them when it stored the path in event {explanation.lookup.swa_lost}" in told(explanation)


def test_a_cut_under_pressure_names_the_request_that_needed_the_room() -> None:
    run = ExplainedRun(retention="all", num_full_pages=60, num_swa_pages=12)
    run.run(LONG[:2048])
    run.run(range(50_000, 52_560))
    explanation = run.run([*LONG[:1600], *range(100)])
    assert explanation.verdict.verdict is Verdict.CUT_BY_SWA
    assert f"was freed by pressure for r2 in event {explanation.lookup.swa_lost}." in told(explanation)


def test_an_eviction_names_reason_and_event_and_is_marked_as_assumed() -> None:
    run = ExplainedRun(retention="all", num_full_pages=10, num_swa_pages=10)
    run.run(range(2000))
    run.run(range(50_000, 52_000))
    explanation = run.run(range(2000))
    assert explanation.verdict.label == "EVICTED(lru)"
    assert explanation.facts[-1].origin is Origin.ASSUMED or explanation.facts[-2].origin is Origin.ASSUMED
    assert "stored by r1, are remembered as gone: evicted (lru) to make room for r2 in event" in told(explanation)
    assert explanation.rival == "r1"


def test_equal_tokens_in_another_namespace_are_named() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:1000], namespace="lora")
    explanation = run.run(LONG[:1000])
    assert explanation.verdict.label == "OTHER_NAMESPACE(lora)"
    assert "1,000 tokens are stored by r1 under namespace lora" in told(explanation)
    assert explanation.rival == "r1"


def test_a_request_that_computes_the_same_tokens_now_is_named() -> None:
    run = ExplainedRun(retention="all")
    request, _ = run.driver.start(LONG[:1000])
    run.driver.start(LONG[:1000])
    explanation = run.catch_up()[-1]
    assert explanation.verdict.label == f"IN_FLIGHT({request})"
    assert f"1,000 tokens were being computed by {request} at that moment." in told(explanation)


def test_with_the_cache_off_it_says_so() -> None:
    run = ExplainedRun(cache_on=False)
    run.run(LONG[:1000])
    assert "the cache is off, so nothing was looked for" in told(run.run(LONG[:1000]))


def test_a_prompt_that_parts_from_what_was_generated_is_told_so() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:300], output=LONG[300:400])
    # The shorter prompt first: each cuts what it parts from in two.
    for token in (300, 320):
        parts = f"At token {token} it parts from a stored path (node n2, stored by r1 as its output): "
        assert parts in told(run.run([*LONG[:token], 1]))
    assert "At token 299 it parts from a stored path (node n1, stored by r1): " in told(run.run([*LONG[:299], 1]))


def test_what_was_not_sent_is_told_as_what_would_be() -> None:
    run = ExplainedRun(retention="all")
    run.run(LONG[:1000])
    state, prompt = run.explainer.state, ids([*LONG[:600], 1])
    explanation = run.explainer.explain(probe(state, prompt, ""), prompt)
    assert "derived: 512 tokens would be reused, 89 would have to be computed." in told(explanation)
    assert "had to be" not in told(explanation)


def test_one_token_is_told_in_the_singular() -> None:
    run = ExplainedRun(preset("recall"), retention="all", resume=ResumeRule.ANY)
    run.run([7, 8], namespace="lora")
    run.run([7, 8])
    assert "observed: 2 tokens asked; all of them are equal to" in told(run.run([7, 8]))
    text = told(run.run([7, 9]))
    assert "observed: 1 token was reused, 1 had to be computed." in text
    assert "observed: 1 token asked; it is equal to a stored path" in told(run.run([7]))
