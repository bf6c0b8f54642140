"""Differences in characters that look alike or like nothing, named by the class of the character."""

import pytest
from cause_checks import AROUND, leading_both_ways

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("\ufeffhello", "hello", Cause.BOM),
    ],
)
def test_a_whole_text_has_the_same_cause_from_both_sides(a: str, b: str, cause: Cause) -> None:
    assert leading_both_ways(a, b) == {cause}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("a cop came", "a \u0441\u043e\u0440 came", Cause.HOMOGLYPH),
        ("don't stop", "don\u2019t stop", Cause.QUOTE),
        ("say \u201eja\u201c now", 'say "ja" now', Cause.QUOTE),
        ("\u4ed6\u8bf4\u300c\u597d\u300d\u5427", "\u4ed6\u8bf4\u201c\u597d\u201d\u5427", Cause.QUOTE),
        ("say `x` now", "say 'x' now", Cause.QUOTE),
        ("a - b", "a \u2014 b", Cause.DASH),
        ("a--b", "a\u2014b", Cause.DASH),
        ("x \u22125 y", "x -5 y", Cause.DASH),
        ("Microsoft Word", "Micr\u043esoft Word", Cause.HOMOGLYPH),
        ("the team met", "the te\u0430m met", Cause.HOMOGLYPH),
        ("\u0391\u0392\u0393", "AB\u0393", Cause.HOMOGLYPH),
        ("\u4ef7\u683c\uff1a\uff11\uff12\uff13\u5143", "\u4ef7\u683c:123\u5143", Cause.FULL_WIDTH),
        ("\uff76\uff80\uff76\uff85 \u3067\u3059", "\u30ab\u30bf\u30ab\u30ca \u3067\u3059", Cause.FULL_WIDTH),
        ("Hello, world", "\uff28\uff45\uff4c\uff4c\uff4f, world", Cause.FULL_WIDTH),
        ("hello World x", "Hello World x", Cause.CASE),
        ("STRASSE x", "strasse x", Cause.CASE),
        ("\u03a9mega", "\u03c9mega", Cause.CASE),
        ("soft\xadware", "software", Cause.ZERO_WIDTH),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645",
            Cause.ZERO_WIDTH,
        ),
        ("a\u2060b", "ab", Cause.ZERO_WIDTH),
        ("I \u2764 you", "I \u2764\ufe0f you", Cause.EMOJI),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "\U0001f468\U0001f469\U0001f467 family", Cause.EMOJI),
        ("ok \U0001f44d", "ok \U0001f44e", Cause.EMOJI),
        ("done \u2705 now", "done now", Cause.EMOJI),
        ("abc \u202edef", "abc def", Cause.BIDI_MARK),
        ("\ufb01le x", "file x", Cause.UNICODE_FORM),
        ("\u0395\u03bb\u03bb\u03ac\u03b4\u03b1", "\u0395\u03bb\u03bb\u03b1\u0301\u03b4\u03b1", Cause.UNICODE_FORM),
        ("\u304c gives", "\u304b\u3099 gives", Cause.UNICODE_FORM),
        ("p@ypal \u0440\u0430ypal", "p@ypal paypal", Cause.HOMOGLYPH),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides_and_inside_a_text(
    a: str, b: str, cause: Cause, around: tuple[str, str]
) -> None:
    assert leading_both_ways(a, b, around) == {cause}
