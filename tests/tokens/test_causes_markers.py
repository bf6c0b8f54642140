"""Markers of chat formats, and texts that begin with all of the other."""

import pytest
from cause_checks import AROUND, leading_both_ways

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("<s>Hello there", "Hello there", Cause.BOS_MISSING),
        ("<s><s>Hello there", "<s>Hello there", Cause.BOS_DOUBLED),
        ("<|begin_of_text|>Hello", "Hello", Cause.BOS_MISSING),
        ("The capital is Par", "The capital is Paris", Cause.MERGE_ACROSS_BOUNDARY),
        ("The capital", "The capital is", Cause.EXTENDS),
    ],
)
def test_a_whole_text_has_the_same_cause_from_both_sides(a: str, b: str, cause: Cause) -> None:
    assert leading_both_ways(a, b) == {cause}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("Hi<|im_end|>\nmore", "Hi<|endoftext|>\nmore", Cause.EOS_SWAPPED),
        ("Hi</s> more", "Hi<|eot_id|> more", Cause.EOS_SWAPPED),
        ("x <\uff5cAssistant\uff5c> y", "x <|Assistant|> y", Cause.LOOKALIKE_SPECIAL),
        ("x <|im_start|> y", "x <|im\uff3fstart|> y", Cause.LOOKALIKE_SPECIAL),
        ("x </think> y", "x </th\u0456nk> y", Cause.LOOKALIKE_SPECIAL),
        ("x <\uff5cAssistant\uff5c><think>", "x <\uff5cAssistant\uff5c></think>", Cause.TEMPLATE),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides_and_inside_a_text(
    a: str, b: str, cause: Cause, around: tuple[str, str]
) -> None:
    assert leading_both_ways(a, b, around) == {cause}
