"""Causes of a differing stretch, from the two texts alone."""

import pytest

from shadowviz.tokens.causes import Cause, cause_of


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
        ("same", "same", Cause.RETOKENIZED),
        ("12:04:20", "12:04:21", Cause.TEXT),
        ("onetwo", "one two", Cause.TEXT),
    ],
)
def test_a_difference_has_the_cause_that_alone_explains_it(prompt: str, stored: str, cause: Cause) -> None:
    assert cause_of(prompt, stored) is cause
    assert cause_of(stored, prompt) is cause
