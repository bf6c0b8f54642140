"""What the structure of two conversations says of why their prompts part."""

import pytest

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz.tokens.structure.find import structural
from shadowviz.tokens.structure.mended import render_v4
from shadowviz_engine.core.spans import Extent

SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
QUESTION = {"role": "user", "content": "What is 2+2?"}
ANSWER = {"role": "assistant", "reasoning_content": "2+2 is 4.", "content": "The answer is 4."}
NEXT = {"role": "user", "content": "And 3+3?"}


def tool(name: str, description: str, properties: dict, required: list[str]) -> dict:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER = tool("get_weather", "Get weather", {"city": {"type": "string"}}, ["city"])
ADD = tool("add", "Add numbers", {"a": {"type": "number"}, "b": {"type": "number"}}, ["a", "b"])
PARAMETERS = WEATHER["function"]["parameters"]
TURNED = {"properties": PARAMETERS["properties"], "type": "object", "required": ["city"]}
WEATHER_TURNED = {**WEATHER, "function": {**WEATHER["function"], "parameters": TURNED}}


def side(name: str, *messages: dict, tools: tuple[dict, ...] = (), **options: object) -> Side:
    conversation = Conversation(messages, tools, dict(options))
    rendered = render_v4(conversation)
    return side_of_text(name, rendered.text, default_tokenizer(), segments=rendered.segments, conversation=conversation)


def found(a: Side, b: Side) -> tuple[Finding, ...]:
    return structural(a, b, align(a, b))


def only(a: Side, b: Side) -> Finding:
    [finding] = found(a, b)
    return finding


def test_history_without_its_reasoning_is_the_templates_doing_when_the_messages_have_it() -> None:
    stored = side("A", SYSTEM, QUESTION, ANSWER, thinking=True)
    following = side("B", SYSTEM, QUESTION, ANSWER, NEXT, thinking=True)
    finding = only(stored, following)
    assert (len(stored.ids), len(following.ids), finding.a.start, finding.gain) == (32, 33, 16, 16)
    assert (finding.cause, finding.subject) == (Cause.TEMPLATE, "reasoning")
    assert finding.detail == "message 2 (assistant): the reasoning is in the messages, and the text of B leaves it out"
    assert "`drop_thinking` off" in finding.advice


def test_a_request_that_lets_the_answer_think_parts_at_that_answer() -> None:
    finding = only(side("A", SYSTEM, QUESTION, thinking=True), side("B", SYSTEM, QUESTION, ANSWER, NEXT, thinking=True))
    assert (finding.cause, finding.subject, finding.gain) == (Cause.TEMPLATE, "reasoning", 1)


@pytest.mark.parametrize("drop", [True, False])
def test_reasoning_that_did_not_come_back_is_missing(drop: bool) -> None:
    bare = {"role": "assistant", "content": "The answer is 4."}
    stored = side("A", SYSTEM, QUESTION, ANSWER, thinking=True, drop_thinking=drop)
    finding = only(stored, side("B", SYSTEM, QUESTION, bare, NEXT, thinking=True, drop_thinking=drop))
    assert finding.cause is Cause.REASONING_MISSING
    assert finding.a.start + finding.gain == len(stored.ids) == 32


def test_reasoning_that_no_text_has_is_not_missed() -> None:
    bare = {"role": "assistant", "content": "The answer is 4."}
    one, other = (side(name, SYSTEM, QUESTION, ANSWER if name == "A" else bare, NEXT) for name in ("A", "B"))
    assert one.ids == other.ids
    assert found(one, other) == ()


@pytest.mark.parametrize(("effort", "size"), [("high", 96), ("max", 109)])
def test_another_effort_leaves_the_beginning_of_text_alone_in_common(effort: str, size: int) -> None:
    a, b = side("A", SYSTEM, QUESTION, thinking=True), side("B", SYSTEM, QUESTION, thinking=True, effort=effort)
    finding = only(a, b)
    assert (len(a.ids), len(b.ids)) == (17, size)
    assert finding.detail.startswith(f"reasoning effort none in A, {effort} in B")
    assert (finding.cause, finding.a, finding.b, finding.gain) == (
        Cause.EFFORT_PREFIX,
        Extent(1, 1),
        Extent(1, size - 16),
        16,
    )


def test_low_effort_is_no_difference() -> None:
    a, b = (side("A", SYSTEM, QUESTION, thinking=True, effort=effort) for effort in ("none", "low"))
    assert a.ids == b.ids
    assert found(a, b) == ()


def test_effort_and_mode_are_named_apart_when_both_differ() -> None:
    causes = found(side("A", SYSTEM, QUESTION), side("B", SYSTEM, QUESTION, thinking=True, effort="high"))
    assert [(finding.cause, finding.subject) for finding in causes] == [
        (Cause.EFFORT_PREFIX, ""),
        (Cause.TEMPLATE, "thinking"),
    ]


def test_a_clock_in_the_system_message_is_left_to_the_text_with_what_stands_behind_it() -> None:
    clock = "Current time: 2026-06-09 15:04:{}. You are a helpful assistant."
    a, b = (side("A", {"role": "system", "content": clock.format(second)}, QUESTION) for second in ("20", "21"))
    diff = align(a, b)
    assert (len(a.ids), len(b.ids), diff.common, diff.realigned) == (34, 34, 16, 17)
    assert structural(a, b, diff) == ()


def test_swapped_tools_are_the_same_in_another_order() -> None:
    a, b = side("A", SYSTEM, QUESTION, tools=(WEATHER, ADD)), side("B", SYSTEM, QUESTION, tools=(ADD, WEATHER))
    finding = only(a, b)
    assert (len(a.ids), len(b.ids), finding.a.start, finding.gain) == (336, 336, 214, 122)
    assert (finding.cause, finding.subject) == (Cause.REORDERED, "tools")
    assert finding.detail == "the same tools in another order: B has add where A has get_weather"
    assert finding.advice == "sort the tools by name before sending them"


def test_turned_keys_inside_a_tool_are_the_same_in_another_order() -> None:
    a = side("A", SYSTEM, QUESTION, tools=(WEATHER, ADD))
    b = side("B", SYSTEM, QUESTION, tools=(WEATHER_TURNED, ADD))
    finding = only(a, b)
    assert (len(a.ids), len(b.ids), finding.a.start, finding.gain) == (336, 336, 229, 107)
    assert (finding.cause, finding.subject) == (Cause.REORDERED, "keys")
    assert "the keys type and properties" in finding.detail


def test_the_order_of_tools_and_of_keys_can_change_at_once() -> None:
    a = side("A", SYSTEM, QUESTION, tools=(WEATHER, ADD))
    b = side("B", SYSTEM, QUESTION, tools=(ADD, WEATHER_TURNED))
    assert {(finding.cause, finding.subject) for finding in found(a, b)} == {
        (Cause.REORDERED, "tools"),
        (Cause.REORDERED, "keys"),
    }


def test_a_list_in_another_order_inside_a_tool_is_named() -> None:
    other = tool("add", "Add numbers", ADD["function"]["parameters"]["properties"], ["b", "a"])
    finding = only(side("A", SYSTEM, QUESTION, tools=(ADD,)), side("B", SYSTEM, QUESTION, tools=(other,)))
    assert (finding.cause, finding.subject) == (Cause.REORDERED, "items")


def test_arguments_of_a_call_in_other_spacing_are_no_difference() -> None:
    sides = []
    for arguments in ('{"a": 1, "b": 2}', '{"a":1,"b":2}'):
        call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": arguments}}
        answer = {"role": "assistant", "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": "c1", "content": "3"}
        sides.append(side("A", SYSTEM, QUESTION, answer, result, tools=(ADD,)))
    assert sides[0].ids == sides[1].ids
    assert found(*sides) == ()


def test_a_tool_more_makes_the_system_grow_whichever_side_has_it() -> None:
    few, many = side("A", SYSTEM, QUESTION, tools=(WEATHER,)), side("B", SYSTEM, QUESTION, tools=(WEATHER, ADD))
    finding = only(few, many)
    assert (finding.cause, finding.subject, finding.detail) == (
        Cause.SYSTEM_GREW,
        "tools",
        "B defines 1 tool more than A: add",
    )
    back = only(many, few)
    assert (back.cause, back.detail) == (Cause.SYSTEM_GREW, finding.detail)


def test_an_edit_inside_a_tool_has_no_name_here() -> None:
    other = tool("add", "Add two numbers", ADD["function"]["parameters"]["properties"], ["a", "b"])
    assert found(side("A", SYSTEM, QUESTION, tools=(ADD,)), side("B", SYSTEM, QUESTION, tools=(other,))) == ()


def test_what_stands_in_names_and_texts_is_shown_without_its_control_characters() -> None:
    evil = "add\x1b[31m\u202e"
    a = side("A", SYSTEM, QUESTION, tools=(WEATHER, tool(evil, "", {}, [])))
    b = side("B", SYSTEM, QUESTION, tools=(tool(evil, "", {}, []), WEATHER))
    finding = only(a, b)
    assert finding.detail.isprintable()
    assert "\\u001b[31m\\u202e" in finding.detail


def test_sides_without_conversation_or_with_one_a_prefix_of_the_other_have_nothing_to_say() -> None:
    a, b = side("A", SYSTEM, QUESTION), side("B", SYSTEM, NEXT)
    bare = side_of_text("A", a.text, default_tokenizer())
    assert found(bare, b) == ()
    assert found(a, side("B", SYSTEM, QUESTION, ANSWER, NEXT)) == ()
    assert found(a, b) == ()


def test_the_same_text_as_other_ids_is_not_the_structures_doing() -> None:
    a = side("A", SYSTEM, QUESTION)
    ids = a.ids[:]
    ids[5] += 1
    b = Side("B", a.encoder, ids, a.starts, a.text, a.raw, a.segments, a.conversation)
    assert found(a, b) == ()
