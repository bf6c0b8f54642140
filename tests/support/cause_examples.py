"""A pair of prompts for every cause, as its page of the reference shows it."""

from dataclasses import dataclass
from typing import Any, Final

from chats import Chat

from shadowviz.tokens.finding import Cause


@dataclass(frozen=True)
class Example:
    """Two texts, two lists of ids or two conversations."""

    a: Any = ""
    b: Any = ""
    shown: tuple[str, ...] = ()
    """What stands for them on the page, where they are long."""
    advice: str = ""
    """What to change, where the pair takes more than one tokenizer to see."""
    escaped: bool = False
    """Whether letters beyond ASCII are shown as escapes, because they look like others."""


def _asked(*turns: str, system: str = "Be brief.", **options: Any) -> Chat:
    messages = [{"role": "system", "content": system}]
    messages += [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(turns)]
    return Chat(messages, [], options)


def _thinking(reasoning: str | None) -> Chat:
    answer: dict[str, Any] = {"role": "assistant", "content": "4."}
    if reasoning is not None:
        answer["reasoning"] = reasoning
    messages = [{"role": "user", "content": "2+2?"}, answer, {"role": "user", "content": "3+3?"}]
    return Chat(messages, [], {"thinking": True, "drop_thinking": False})


MARK: Final = "<｜begin▁of▁sentence｜>"

EXAMPLES: Final[dict[Cause, Example]] = {
    Cause.TEMPLATE: Example(
        _asked("Hi"), _asked("Hi", thinking=True), ("A  Hi, rendered for chat", "B  Hi, rendered for thinking")
    ),
    Cause.REASONING_MISSING: Example(
        _thinking("2 and 2."),
        _thinking(None),
        (
            'A  {"role": "assistant", "reasoning": "2 and 2.", "content": "4."}',
            'B  {"role": "assistant", "content": "4."}',
        ),
    ),
    Cause.EFFORT_PREFIX: Example(
        _asked("Hi", thinking=True),
        _asked("Hi", thinking=True, effort="max"),
        ('A  {"thinking": true, "effort": "none"}', 'B  {"thinking": true, "effort": "max"}'),
    ),
    Cause.ATTRIBUTION_HEADER: Example(
        "x-anthropic-billing-header: cc_version=2.1.37.0d9; cc_entrypoint=cli; cch=fa690;\nYou are a coding agent.",
        "x-anthropic-billing-header: cc_version=2.1.37.0d9; cc_entrypoint=cli; cch=00b1c;\nYou are a coding agent.",
    ),
    Cause.REORDERED: Example('{"city": "Paris", "unit": "C"}', '{"unit": "C", "city": "Paris"}'),
    Cause.SYSTEM_GREW: Example(
        _asked("Hi"),
        _asked("Hi", system="Be brief. Be exact."),
        ("A  system: Be brief.", "B  system: Be brief. Be exact."),
    ),
    Cause.HISTORY_EDITED: Example(
        _asked("Hi", "Hello.", "And?"),
        _asked("Hi", "Good day.", "And?"),
        ("A  user: Hi  assistant: Hello.  user: And?", "B  user: Hi  assistant: Good day.  user: And?"),
    ),
    Cause.HISTORY_TRUNCATED: Example(
        _asked("Hi", "Hello.", "Who?", "Me.", "And?"),
        _asked("Who?", "Me.", "And?"),
        (
            "A  user: Hi  assistant: Hello.  user: Who?  assistant: Me.  user: And?",
            "B  user: Who?  assistant: Me.  user: And?",
        ),
    ),
    Cause.TOKENIZER_VERSION: Example(
        shown=(
            "A  <think>ok</think> under DeepSeek-V3: 128798 633 128799",
            "B  the same under DeepSeek-V4: 128821 633 128822",
        ),
        advice="send both requests to servers that run one version of the tokenizer",
    ),
    Cause.RETOKENIZED: Example([23166, 201, 201, 3476], [23166, 271, 3476]),
    Cause.SPECIAL_VS_TEXT: Example([1718, 37947, 32], [128822]),
    Cause.LOOKALIKE_SPECIAL: Example("<｜User｜>hi", "<|User|>hi"),
    Cause.BOS_DOUBLED: Example(f"{MARK}Hi", f"{MARK}{MARK}Hi"),
    Cause.BOS_MISSING: Example(f"{MARK}Hi", "Hi"),
    Cause.EOS_SWAPPED: Example("Yes.<｜end▁of▁sentence｜><｜User｜>Go on", "Yes.<|EOT|><｜User｜>Go on"),
    Cause.MERGE_ACROSS_BOUNDARY: Example("Answer: ", "Answer: Paris"),
    Cause.NORMALISED_EQUAL: Example(
        shown=("A  x2, B  x\\xb2 under a tokenizer that normalises: 92 22 for both",),
        advice="nothing, no token is lost",
    ),
    Cause.EXTENDS: Example("Be brief.", "Be brief. Be exact."),
    Cause.TIME: Example("Current time: 12:00:01\nBe brief.", "Current time: 12:00:02\nBe brief."),
    Cause.UUID: Example(
        "request_id: 3f2a9c11-5b7e-4d0a-9c3e-0a1b2c3d4e5f", "request_id: 9b1de0aa-71c2-4f5d-8e6f-f0e1d2c3b4a5"
    ),
    Cause.COUNTER: Example("Turn 7: be brief.", "Turn 8: be brief."),
    Cause.NUMBER_FORM: Example("up to 1000000 rows", "up to 1,000,000 rows"),
    Cause.JSON_ESCAPE: Example('{"q": "你好"}', '{"q": "\\u4f60\\u597d"}'),
    Cause.JSON_SPACING: Example('{"a": 1, "b": 2}', '{"a":1,"b":2}'),
    Cause.JSON_VALUE: Example('{"city": "Paris", "unit": "C"}', '{"city": "Lyon", "unit": "C"}'),
    Cause.ESCAPED: Example("R&D <b>now</b>", "R&amp;D &lt;b&gt;now&lt;/b&gt;"),
    Cause.CRLF: Example("line one\nline two", "line one\r\nline two"),
    Cause.LINE_SEPARATOR: Example("line one\nline two", "line one\u2028line two"),
    Cause.UNICODE_FORM: Example("caf\u00e9 menu", "cafe\u0301 menu", escaped=True),
    Cause.SPACE_KIND: Example("10 km away", "10\u00a0km away"),
    Cause.ZERO_WIDTH: Example("password reset", "pass\u200bword reset"),
    Cause.BIDI_MARK: Example("total: 5", "total:\u200f 5"),
    Cause.BOM: Example("Hello", "\ufeffHello"),
    Cause.QUOTE: Example('say "yes" now', "say “yes” now"),
    Cause.DASH: Example("pages 3-5", "pages 3–5"),
    Cause.HOMOGLYPH: Example("admin: paypal", "admin: p\u0430ypal", escaped=True),
    Cause.FULL_WIDTH: Example("Total: 5", "Total： 5"),
    Cause.EMOJI: Example("👍 ok", "👍🏽 ok"),
    Cause.CASE: Example("Use the readme file", "Use the README file"),
    Cause.TRAILING_NEWLINE: Example("You are helpful.", "You are helpful.\n"),
    Cause.TRAILING_SPACE: Example("Be brief.\nBe exact.", "Be brief. \nBe exact."),
    Cause.LEADING_SPACE: Example("Hello", " Hello"),
    Cause.TAB: Example("if x:\n    go()", "if x:\n\tgo()"),
    Cause.SPACE_COUNT: Example("Be brief. Be exact.", "Be brief.  Be exact."),
    Cause.PUNCTUATION: Example("Be brief, be exact.", "Be brief; be exact."),
    Cause.TEXT: Example("You are a helpful agent.", "You are a careful agent."),
    Cause.UNKNOWN: Example(
        shown=("A  ids of a record that was redacted", "B  other ids of it"),
        advice="compare the prompts themselves, or a record that keeps its ids",
    ),
}
