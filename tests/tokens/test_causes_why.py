"""Causes that `why` shows: of a differing stretch of ids with a few equal tokens around it."""

import pytest
from lookup_runs import ExplainedRun

from shadowviz.replay.explain import Explainer
from shadowviz.replay.summary import summarise
from shadowviz.tokens.causes.windows import cause_of_windows
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.rendering.deepseek_v4 import BOS
from shadowviz.tokens.words import TokenWords

TOKENIZER = default_tokenizer()


@pytest.mark.parametrize(
    ("prompt", "stored", "cause"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n", Cause.CRLF),
        ("one\rtwo", "one\ntwo", Cause.CRLF),
        ("one\u2028two", "one\ntwo", Cause.LINE_SEPARATOR),
        ("one \ntwo", "one\ntwo", Cause.TRAILING_SPACE),
        ("one\t\r\ntwo", "one\r\ntwo", Cause.TRAILING_SPACE),
        ("one  two", "one two", Cause.SPACE_COUNT),
        ("caf\u00e9", "cafe\u0301", Cause.UNICODE_FORM),
        ("Hello", "hello", Cause.CASE),
        (f"{BOS}{BOS}one", f"{BOS}one", Cause.BOS_DOUBLED),
        (f"{BOS}one", "one", Cause.BOS_MISSING),
        ("at 12:04:20 sharp", "at 12:04:21 sharp", Cause.TIME),
        ("onetwo", "one two", Cause.SPACE_COUNT),
        ("the red fox", "the old dog", Cause.TEXT),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides(prompt: str, stored: str, cause: Cause) -> None:
    a, b = TOKENIZER.encode(prompt), TOKENIZER.encode(stored)
    assert cause_of_windows(TOKENIZER, a, b) is cause
    assert cause_of_windows(TOKENIZER, b, a) is cause


def test_the_ids_of_a_doubled_beginning_are_read_as_that() -> None:
    text = [TOKENIZER.bos_id, *TOKENIZER.encode("one two three")]
    assert TokenWords(TOKENIZER).cause([TOKENIZER.bos_id, *text], text) is Cause.BOS_DOUBLED


def test_a_prompt_that_begins_twice_is_explained_as_that() -> None:
    run = ExplainedRun(retention="all")
    opened = run.explainer.state.opened
    run.explainer = Explainer(TokenWords(TOKENIZER))
    run.explainer.state.opened = opened
    text = [TOKENIZER.bos_id, *TOKENIZER.encode(" ".join(f"line {number}" for number in range(300)))]
    run.run(text)
    explanation = run.run([TOKENIZER.bos_id, *text])
    assert explanation.verdict.label == "TOKENS_DIFFER(BOS_DOUBLED)"
    assert summarise([explanation]).best_change.startswith("send one beginning mark")
