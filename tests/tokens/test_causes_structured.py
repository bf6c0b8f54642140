"""Differences inside JSON, in the order of things and in escapes."""

import pytest
from cause_checks import AROUND, leading_both_ways

from shadowviz.tokens.finding import Cause


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ('x {"p": "a\\/b"} y', 'x {"p": "a/b"} y', Cause.JSON_ESCAPE),
        ('x {"p": "caf\\u00e9 \\u2014"} y', 'x {"p": "caf\xe9 \u2014"} y', Cause.JSON_ESCAPE),
        ('x {"p": "\\ud83d\\ude00!"} y', 'x {"p": "\U0001f600!"} y', Cause.JSON_ESCAPE),
        ('x {"p": 1, "q": [1, 2]} y', 'x {"p":1,"q":[1,2]} y', Cause.JSON_SPACING),
        ('x {"p": 1, "q": [1, 2]} y', 'x {\n  "p": 1,\n  "q": [\n    1,\n    2\n  ]\n} y', Cause.JSON_SPACING),
        ('x {"p": "on", "q": [1, 2]} y', 'x {"p": "off", "q": [1, 2]} y', Cause.JSON_VALUE),
        ('x {"p": true, "q": [1, 2]} y', 'x {"p": false, "q": [1, 2]} y', Cause.JSON_VALUE),
        ('x {"p": 5, "q": [1, 2]} y', 'x {"p": 6, "q": [1, 2]} y', Cause.JSON_VALUE),
        ('x {"p": 5, "q": {"b": 1, "a": 2}} y', 'x {"q": {"a": 2, "b": 1}, "p": 5} y', Cause.REORDERED),
        ("- apples\n- pears\n- plums\n", "- plums\n- apples\n- pears\n", Cause.REORDERED),
        (
            "Para one is here.\nIt goes on.\n\nPara two is short.\n\nEnd.",
            "Para two is short.\n\nPara one is here.\nIt goes on.\n\nEnd.",
            Cause.REORDERED,
        ),
        ("Use red, green and blue.", "Use blue, red and green.", Cause.REORDERED),
        ("x {'p': 5, 'q': None} y", "x {'q': None, 'p': 5} y", Cause.REORDERED),
        ("a < b & c", "a &lt; b &amp; c", Cause.ESCAPED),
        ("path C:\\dir\\x", "path C:\\\\dir\\\\x", Cause.ESCAPED),
        ('say "hi" now', 'say \\"hi\\" now', Cause.ESCAPED),
        ("q=a b/c", "q=a%20b%2Fc", Cause.ESCAPED),
        ("line one\nline two\nline three", "line one\\nline two\\nline three", Cause.ESCAPED),
        (
            '[{"role": "user", "content": "What is red?"}]',
            '[{"role": "user", "content": "Who was Bach, really?"}]',
            Cause.JSON_VALUE,
        ),
        ('{"a": 1}', '{"a": 1, "b": 2}', Cause.JSON_VALUE),
        ('{"a": 1}', '{\\"a\\": 1}', Cause.ESCAPED),
    ],
)
def test_a_difference_has_the_same_cause_from_both_sides_and_inside_a_text(
    a: str, b: str, cause: Cause, around: tuple[str, str]
) -> None:
    assert leading_both_ways(a, b, around) == {cause}
