"""Rendering: literal prompts, segments and refusals."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.tokens.rendering.messages import parse_messages, parse_tools
from shadowviz.tokens.rendering.render import Rendered, RenderOptions, render, render_continuation
from shadowviz_engine.core.errors import InputError

THINKING = RenderOptions(thinking=True)
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
QUESTION = {"role": "user", "content": "What is 2+2?"}
ANSWER = {"role": "assistant", "reasoning": "Simple sum.", "content": "4"}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo", "days": 2}'}}


CAPTURED = Path(__file__).resolve().parents[2] / "fixtures" / "prompts" / "rendered.jsonl"


def text_of(*messages: dict, options: RenderOptions | None = None) -> str:
    return render(parse_messages(messages), options).text


def labels(rendered: Rendered) -> list[tuple[str, str]]:
    return [(segment.label, rendered.text[segment.start : segment.stop]) for segment in rendered.segments]


def test_chat_opens_the_answer_behind_a_closed_thinking_mark() -> None:
    assert text_of(SYSTEM, QUESTION) == (
        "<｜begin▁of▁sentence｜>You are a helpful assistant.<｜User｜>What is 2+2?<｜Assistant｜></think>"
    )


def test_thinking_opens_the_answer_with_a_thinking_mark() -> None:
    assert text_of(SYSTEM, QUESTION, options=THINKING) == (
        "<｜begin▁of▁sentence｜>You are a helpful assistant.<｜User｜>What is 2+2?<｜Assistant｜><think>"
    )


def test_without_tools_the_second_turn_renders_the_first_with_a_closed_thinking_mark() -> None:
    """So the two prompts part at the last token of the first one."""
    first = text_of(QUESTION, options=THINKING)
    second = text_of(QUESTION, ANSWER, {"role": "user", "content": "And 3+3?"}, options=THINKING)
    assert first == "<｜begin▁of▁sentence｜><｜User｜>What is 2+2?<｜Assistant｜><think>"
    assert second == (
        "<｜begin▁of▁sentence｜><｜User｜>What is 2+2?<｜Assistant｜></think>4<｜end▁of▁sentence｜>"
        "<｜User｜>And 3+3?<｜Assistant｜><think>"
    )


def test_captured_conversations_render_as_another_server_renders_them() -> None:
    """Texts of vLLM 0.33's encoder; where they come from: `fixtures/prompts/ORIGIN.md`."""
    lines = [json.loads(line) for line in CAPTURED.read_text().splitlines()]
    assert len(lines) == 120
    for number, line in enumerate(lines):
        options = RenderOptions(line["thinking"], line["effort"], line["drop_thinking"])
        assert render(parse_messages(line["messages"]), options).text == line["expected"], f"conversation {number}"


def test_kept_thinking_makes_the_second_turn_begin_with_the_first() -> None:
    options = RenderOptions(thinking=True, drop_thinking=False)
    second = text_of(QUESTION, ANSWER, {"role": "user", "content": "And 3+3?"}, options=options)
    assert second.startswith(text_of(QUESTION, options=options) + "Simple sum.</think>4<｜end▁of▁sentence｜>")


def test_tools_keep_the_thinking_of_earlier_turns() -> None:
    messages = parse_messages([QUESTION, ANSWER, QUESTION])
    assert "Simple sum." not in render(messages, THINKING).text
    assert "Simple sum.</think>4" in render(messages, THINKING, parse_tools([WEATHER])).text


def test_effort_stands_before_the_first_message_and_only_when_thinking() -> None:
    high = RenderOptions(thinking=True, effort="high")
    assert text_of(QUESTION, options=high).startswith(
        "<｜begin▁of▁sentence｜>Reasoning Effort: Absolute maximum with no shortcuts permitted.\n"
    )
    assert text_of(QUESTION, options=RenderOptions(effort="high")) == text_of(QUESTION)


def test_a_tool_call_is_written_as_dsml_with_strings_bare_and_other_values_as_json() -> None:
    text = text_of(QUESTION, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "rain"})
    assert text == (
        "<｜begin▁of▁sentence｜><｜User｜>What is 2+2?<｜Assistant｜></think>\n\n"
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="weather">\n'
        '<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls><｜end▁of▁sentence｜>"
        "<｜User｜><tool_result>rain</tool_result><｜Assistant｜></think>"
    )


def test_tool_results_are_put_in_the_order_of_their_calls() -> None:
    calls = [CALL, CALL | {"id": "c2"}]
    results = [
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
        {"role": "user", "content": "Well?"},
    ]
    rendered = render(parse_messages([QUESTION, {"role": "assistant", "tool_calls": calls}, *results]))
    assert "<｜User｜><tool_result>first</tool_result>\n\n<tool_result>second</tool_result>\n\nWell?" in rendered.text
    assert [label for label, _ in labels(rendered)][-5:] == [
        "message 3 (tool result): role marker",
        "message 3 (tool result)",
        "message 2 (tool result)",
        "message 4 (user)",
        "generation prompt",
    ]


def test_an_open_assistant_message_is_continued() -> None:
    text = text_of(QUESTION, {"role": "assistant", "content": "The sum is", "wo_eos": True})
    assert text.endswith("<｜Assistant｜></think>The sum is")


def test_a_task_is_asked_with_its_marker() -> None:
    assert text_of(QUESTION | {"task": "title"}).endswith("What is 2+2?<｜title｜>")
    assert text_of(QUESTION | {"task": "action"}).endswith("What is 2+2?<｜Assistant｜></think><｜action｜>")


def test_developer_messages_of_earlier_turns_go_when_thinking_is_dropped() -> None:
    messages = ({"role": "developer", "content": "Be brief."}, QUESTION)
    assert "Be brief." not in text_of(*messages, options=THINKING)
    assert "Be brief." in text_of(*messages)


def test_a_continuation_follows_its_context_without_a_beginning_mark() -> None:
    context, more = parse_messages([SYSTEM, QUESTION]), parse_messages([ANSWER, QUESTION])
    whole = render([*context, *more])
    assert render_continuation(context, more).text == whole.text.removeprefix(render(context).text)


def test_segments_name_every_part_of_the_prompt() -> None:
    messages = [
        SYSTEM | {"tools": [WEATHER]},
        QUESTION,
        ANSWER | {"tool_calls": [CALL]},
        {"role": "tool", "content": "x"},
    ]
    rendered = render(parse_messages(messages), THINKING)
    assert [label for label, _ in labels(rendered)] == [
        "beginning of text",
        "message 0 (system)",
        "message 0 (system): tools",
        "message 1 (user): role marker",
        "message 1 (user)",
        "message 2 (assistant): role marker",
        "message 2 (assistant): reasoning",
        "message 2 (assistant)",
        "message 2 (assistant): tool calls",
        "message 2 (assistant): end marker",
        "message 3 (tool result): role marker",
        "message 3 (tool result)",
        "generation prompt",
    ]
    assert dict(labels(rendered))["message 3 (tool result)"] == "<tool_result>x</tool_result>"
    assert dict(labels(rendered))["message 2 (assistant): role marker"] == "<｜Assistant｜><think>"


def test_a_character_is_placed_in_its_message() -> None:
    rendered = render(parse_messages([SYSTEM, QUESTION]))
    assert rendered.segment_at(rendered.text.index("2+2")).label == "message 1 (user)"
    assert rendered.segment_at(len(rendered.text) - 1).label == "generation prompt"
    with pytest.raises(InputError, match="outside the text"):
        rendered.segment_at(len(rendered.text))


ROLE = st.sampled_from(["system", "user", "assistant", "tool", "latest_reminder", "developer"])
MESSAGE = st.builds(lambda role, text: {"role": role, "content": text}, ROLE, st.text(min_size=1, max_size=8))


@settings(deadline=None)
@given(st.lists(MESSAGE, min_size=1, max_size=8), st.booleans(), st.booleans())
def test_segments_cover_the_text_without_gap_or_overlap(messages: list[dict], thinking: bool, drop: bool) -> None:
    rendered = render(parse_messages(messages), RenderOptions(thinking=thinking, effort="max", drop_thinking=drop))
    ends = [0, *(segment.stop for segment in rendered.segments)]
    assert [segment.start for segment in rendered.segments] == ends[:-1]
    assert ends[-1] == len(rendered.text)
    assert all(segment.start < segment.stop for segment in rendered.segments)


def deep(levels: int) -> dict:
    value: dict = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"role": "robot", "content": "x"}, r"^\[0\]\.role: found 'robot', expected one of system, developer, user"),
        ({"content": "x"}, "missing required field `role`"),
        ({"role": "user"}, "missing required field `content`"),
        ({"role": "assistant"}, "assistant message has no content"),
        ({"role": "system"}, "system message has no content"),
        ({"role": "developer", "content": ""}, "developer message has empty content"),
        ({"role": "user", "content": 3}, "Expected `str | array`, got `int`"),
        ({"role": "user", "content": None}, "Expected `str | array`, got `null`"),
        ({"role": "user", "content": "x", "colour": 1}, "unknown field `colour`"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "found 'image_url', expected 'text'"),
        ({"role": "user", "content": "x", "task": "sing"}, "task: found 'sing', expected one of action"),
        ({"role": "system", "content": "", "tools": [{"function": {}}]}, "tool function has name None"),
        ({"role": "tool", "content": [{}]}, "tool result block has type None"),
    ],
)
def test_a_wrong_message_is_refused_in_one_line(message: dict, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        parse_messages([message])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("{", "are not JSON"),
        ("[1]", "are a JSON list, expected a JSON object"),
        ('{"a": NaN}', "NaN is no JSON value"),
        ("[" * 100_000, "nest too deep"),
    ],
)
def test_bad_tool_json_is_refused(arguments: str, complaint: str) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    with pytest.raises(InputError, match=complaint):
        parse_messages([{"role": "assistant", "tool_calls": [call]}])


def test_arguments_that_nest_too_deep_to_write_are_refused() -> None:
    call = {"function": {"name": "f", "arguments": deep(5_000)}}
    with pytest.raises(InputError, match="nest"):
        render(parse_messages([{"role": "assistant", "tool_calls": [call]}]))


def test_tools_in_two_places_and_an_empty_conversation_are_refused() -> None:
    with pytest.raises(InputError, match="message 0 too"):
        render(parse_messages([SYSTEM | {"tools": [WEATHER]}]), None, parse_tools([WEATHER]))
    with pytest.raises(InputError, match="no message"):
        render([])
    with pytest.raises(InputError, match="context has 0 messages"):
        render_continuation([], parse_messages([QUESTION]))
