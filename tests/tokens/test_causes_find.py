"""What a finding says beside its class: places, order, gain, details; and silence where ids are equal."""

import pytest
from cause_checks import causes_of, causes_of_ids, leading_of

from shadowviz.tokens.causes.advice import ADVICE, advice_for
from shadowviz.tokens.causes.find import LOOKED_AT
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause

LINES = [f"Line {number} of a prompt that goes on for a while" for number in range(400)]


@pytest.mark.parametrize("text", ["", "same", "a\r\nb", "12:00:01", "\ufeff\u200b"])
def test_equal_ids_have_no_cause(text: str) -> None:
    assert causes_of(text, text) == ()


def test_the_first_difference_leads_and_the_others_are_listed() -> None:
    found = causes_of(
        'At 12:00:01 she said "yes" once more, and so on.', "At 12:00:02 she said \u201cyes\u201d once more, and so on."
    )
    assert [finding.cause for finding in found] == [Cause.TIME, Cause.QUOTE]
    assert found[0].a.start < found[1].a.start


def test_a_cause_at_many_places_is_listed_once_and_gains_what_lies_between() -> None:
    a, b = "\n".join(LINES[:50]), "\r\n".join(LINES[:50])
    (found,) = causes_of(a, b)
    num_tokens = len(default_tokenizer().encode(a))
    assert found.cause is Cause.CRLF
    assert found.gain == num_tokens - found.a.start
    assert "48 more like it" in found.detail


def test_more_places_than_are_judged_are_known_by_what_was_exchanged() -> None:
    assert len(LINES) > LOOKED_AT + 100
    a = "\n".join(LINES)
    (found,) = causes_of(a, "\r\n".join(LINES))
    assert found.gain == len(default_tokenizer().encode(a)) - found.a.start


def test_another_cause_ends_what_a_cause_gains() -> None:
    lines = list(LINES[:40])
    lines[20] = lines[20].replace("prompt", "request")
    first, second = causes_of("At 12:00:01\n" + "\n".join(LINES[:40]), "At 12:00:02\n" + "\n".join(lines))
    assert (first.cause, second.cause) == (Cause.TIME, Cause.TEXT)
    assert first.a.start + first.gain == second.a.start


def test_a_detail_names_what_cannot_be_seen_and_is_printable() -> None:
    (found,) = causes_of("a b", "a\u00a0b")
    assert found.detail == "U+00A0 NO-BREAK SPACE in B where A has a blank"
    for other in ("a\u202eb", "a\x1bb", "a\u2028b", "a\ufeffb"):
        assert all(finding.detail.isprintable() for finding in causes_of("a b", other))


def test_every_cause_that_loses_something_has_advice() -> None:
    without = {cause for cause in Cause if not advice_for(cause)}
    assert without == {Cause.NORMALISED_EQUAL, Cause.EXTENDS}
    assert set(ADVICE) == set(Cause)


def test_the_header_for_billing_names_the_variable_that_turns_it_off() -> None:
    header = "x-anthropic-billing-header: cc_version=2.1.3; cch={};\nYou are a coding agent."
    (found,) = causes_of(header.format("abc12"), header.format("9f0e1"))
    assert (found.cause, found.subject) == (Cause.ATTRIBUTION_HEADER, "")
    assert "CLAUDE_CODE_ATTRIBUTION_HEADER=0" in found.advice


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ([201, 201], [271], Cause.RETOKENIZED),
        ([736, 21], [6895], Cause.RETOKENIZED),
        ([16, 201], [603], Cause.RETOKENIZED),
        ([1718, 37947, 32], [128822], Cause.SPECIAL_VS_TEXT),
        ([0, 0, 23166], [0, 23166], Cause.BOS_DOUBLED),
        ([0, 23166], [23166], Cause.BOS_MISSING),
    ],
)
def test_ids_of_the_same_text_are_told_apart(a: list[int], b: list[int], cause: Cause) -> None:
    assert causes_of_ids(a, b)[0].cause is cause
    assert causes_of_ids(b, a)[0].cause is cause


def test_a_text_that_goes_on_in_new_tokens_only_loses_nothing() -> None:
    (found,) = causes_of("The capital", "The capital is")
    assert (found.cause, found.breaks, found.gain, found.advice) == (Cause.EXTENDS, False, 0, "")


@pytest.mark.parametrize(
    ("a", "b", "subject"),
    [
        ('{"b": 1, "a": 2}', '{"a": 2, "b": 1}', "keys"),
        ('{"x": [3, 1]}', '{"x": [1, 3]}', "items"),
        (
            '[{"name": "f", "description": "d"}, {"name": "g", "description": "e"}]',
            '[{"name": "g", "description": "e"}, {"name": "f", "description": "d"}]',
            "tools",
        ),
        ('{"name": "f", "x": 1}\n{"name": "g", "x": 2}\n', '{"name": "g", "x": 2}\n{"name": "f", "x": 1}\n', "tools"),
        ("one fox\ntwo dogs\n", "two dogs\none fox\n", ""),
    ],
)
def test_what_was_put_in_another_order_is_named(a: str, b: str, subject: str) -> None:
    (found,) = causes_of(a, b)
    assert (found.cause, found.subject) == (Cause.REORDERED, subject)


def test_a_rewritten_sentence_is_text_and_not_the_marks_it_changed_by_chance() -> None:
    assert (
        leading_of("Keep it short. Say no more, please.", "Write three pages; explain every single step!") is Cause.TEXT
    )
