"""Differences in blanks, line ends and punctuation."""

import pytest
from cause_checks import AROUND, leading_both_ways

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("final.\n", "final.\n\n\n", Cause.TRAILING_NEWLINE),
        ("  final", "final", Cause.LEADING_SPACE),
    ],
)
def test_a_whole_text_has_the_same_cause_from_both_sides(a: str, b: str, cause: Cause) -> None:
    assert leading_both_ways(a, b) == {cause}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("end of line\nnext", "end of line  \nnext", Cause.TRAILING_SPACE),
        ("a\n    b\nc", "a\n  b\nc", Cause.LEADING_SPACE),
        ("a\n\tb\nc", "a\n    b\nc", Cause.TAB),
        ("a\tb", "a b", Cause.TAB),
        ("a  b", "a b", Cause.SPACE_COUNT),
        ("a\n\nb", "a\n\n\nb", Cause.SPACE_COUNT),
        ("end. Next", "end.  Next", Cause.SPACE_COUNT),
        ("a b", "a\u3000b", Cause.SPACE_KIND),
        ("10 km", "10\u202fkm", Cause.SPACE_KIND),
        ("a\r\nb\r\n", "a\nb\n", Cause.CRLF),
        ("a\x0cb", "a\nb", Cause.LINE_SEPARATOR),
        ("Hello world.", "Hello, world.", Cause.PUNCTUATION),
        ("Really? yes", "Really! yes", Cause.PUNCTUATION),
        ("wait... ok", "wait\u2026 ok", Cause.PUNCTUATION),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides_and_inside_a_text(
    a: str, b: str, cause: Cause, around: tuple[str, str]
) -> None:
    assert leading_both_ways(a, b, around) == {cause}
