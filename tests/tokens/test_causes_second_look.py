"""Short differences that a second look at the causes brought up, with what an engineer calls them."""

import pytest
from cause_checks import leading_of

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("Knowledge cutoff: 2023-10\nhi", "Knowledge cutoff: 2024-06\nhi", Cause.TIME),
        ("UTC+2", "UTC+1", Cause.TIME),
        ("1/2", "\u00bd", Cause.UNICODE_FORM),
        ("a|b", "a\u00a6b", Cause.PUNCTUATION),
        ("req_7f3k2 go", "req_9p1x8 go", Cause.UUID),
        ("[99] a", "[100] a", Cause.COUNTER),
        ("<｜User｜>q", "<｜user｜>q", Cause.LOOKALIKE_SPECIAL),
        ("ok<｜end▁of▁sentence｜><｜User｜>x", "ok<｜EOT｜><｜User｜>x", Cause.EOS_SWAPPED),
    ],
)
def test_a_short_difference_has_its_name_from_both_sides(a: str, b: str, cause: Cause) -> None:
    assert leading_of(a, b) is cause
    assert leading_of(b, a) is cause
