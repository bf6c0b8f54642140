"""Causes of a differing stretch, from the two texts alone."""

import pytest
from lookup_runs import ExplainedRun

from shadowviz.replay.explain import Explainer
from shadowviz.replay.summary import summarise
from shadowviz.tokens.causes import Cause, cause_of
from shadowviz.tokens.deepseek_v4 import BOS
from shadowviz.tokens.tokenizer import default_tokenizer
from shadowviz.tokens.words import TokenWords


@pytest.mark.parametrize(
    ("prompt", "stored", "cause"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n", Cause.CRLF),
        ("one\rtwo", "one\ntwo", Cause.LINE_SEPARATOR),
        ("one\u2028two", "one\ntwo", Cause.LINE_SEPARATOR),
        ("one \ntwo", "one\ntwo", Cause.TRAILING_SPACE),
        ("one\t\r\ntwo", "one\r\ntwo", Cause.TRAILING_SPACE),
        ("one  two", "one two", Cause.SPACE_COUNT),
        ("caf\u00e9", "cafe\u0301", Cause.UNICODE_FORM),
        ("Hello", "hello", Cause.CASE),
        (f"{BOS}{BOS}one", f"{BOS}one", Cause.BOS_DOUBLED),
        (f"{BOS}{BOS}one", f"{BOS}two", Cause.TEXT),
        (f"{BOS}one", "one", Cause.TEXT),
        (f"one{BOS}{BOS}two", f"one{BOS}two", Cause.TEXT),
        ("same", "same", Cause.RETOKENIZED),
        ("12:04:20", "12:04:21", Cause.TEXT),
        ("onetwo", "one two", Cause.TEXT),
    ],
)
def test_a_difference_has_the_cause_that_alone_explains_it(prompt: str, stored: str, cause: Cause) -> None:
    assert cause_of(prompt, stored) is cause
    assert cause_of(stored, prompt) is cause


def test_the_ids_of_a_doubled_beginning_are_read_as_that() -> None:
    tokenizer = default_tokenizer()
    text = [tokenizer.bos_id, *tokenizer.encode("one two three")]
    assert TokenWords(tokenizer).cause([tokenizer.bos_id, *text], text) is Cause.BOS_DOUBLED


def test_a_prompt_that_begins_twice_is_explained_as_that() -> None:
    tokenizer = default_tokenizer()
    run = ExplainedRun(retention="all")
    opened = run.explainer.state.opened
    run.explainer = Explainer(TokenWords(tokenizer))
    run.explainer.state.opened = opened
    text = [tokenizer.bos_id, *tokenizer.encode(" ".join(f"line {number}" for number in range(300)))]
    run.run(text)
    explanation = run.run([tokenizer.bos_id, *text])
    assert explanation.verdict.label == "TOKENS_DIFFER(BOS_DOUBLED)"
    assert summarise([explanation]).best_change.startswith("send one beginning mark")
