"""Where each message, marker, tool and generation prompt begins in what a chat template renders."""

from datetime import datetime
from pathlib import Path
from typing import Any

from shadowviz.tokens.templates.template import ChatTemplate

FOLDER = Path(__file__).parent / "chat_templates"
CALL = {"id": "abcdef123", "type": "function", "function": {"name": "look_up", "arguments": {"n": 5}}}
CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " hi\n"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "7", "tool_call_id": "abcdef123"},
    {"role": "assistant", "content": "<think>\nhmm\n</think>\n\nok"},
    {"role": "user", "content": "more"},
]
TOOLS = [{"type": "function", "function": {"name": "look_up"}}]


def segments(name: str, messages: Any, tools: Any = (), **options: Any) -> list[tuple[str, str]]:
    source = (FOLDER / f"{name}.jinja").read_text()
    template = ChatTemplate(name, source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})
    rendered = template.render(messages, tools, options=options, now=datetime(2026, 5, 1))
    return [(segment.label, rendered.text[segment.start : segment.stop]) for segment in rendered.segments]


def labelled(source: str, messages: Any) -> list[tuple[str, str]]:
    rendered = ChatTemplate("test", source).render(messages)
    return [(segment.label, rendered.text[segment.start : segment.stop]) for segment in rendered.segments]


def test_messages_tools_markers_and_generation_prompt_are_told_apart() -> None:
    assert segments("chatml_thinking_tools", CONVERSATION, TOOLS) == [
        ("message 0 (system): role marker", "<|im_start|>system\n"),
        ("message 0 (system)", "Be brief."),
        ("template text", "\n\n# Tools\n\n<tools>"),
        ("tools", '\n{"type": "function", "function": {"name": "look_up"}}'),
        ("template text", "\n</tools><|im_end|>\n"),
        ("message 1 (user): role marker", "<|im_start|>user\n"),
        ("message 1 (user)", " hi\n"),
        ("message 1 (user): end marker", "<|im_end|>\n"),
        ("message 2 (assistant): role marker", "<|im_start|>assistant\n"),
        (
            "message 2 (assistant): tool calls",
            '\n<tool_call>\n{"name": "look_up", "arguments": {"n": 5}}\n</tool_call>',
        ),
        ("message 2 (assistant): end marker", "<|im_end|>\n"),
        ("message 3 (tool result): role marker", "<|im_start|>user\n<tool_response>\n"),
        ("message 3 (tool result)", "7"),
        ("message 3 (tool result): end marker", "\n</tool_response><|im_end|>\n"),
        ("message 4 (assistant): role marker", "<|im_start|>assistant\n"),
        ("message 4 (assistant)", "ok"),
        ("message 4 (assistant): end marker", "<|im_end|>\n"),
        ("message 5 (user): role marker", "<|im_start|>user\n"),
        ("message 5 (user)", "more"),
        ("message 5 (user): end marker", "<|im_end|>\n"),
        ("generation prompt", "<|im_start|>assistant\n"),
    ]


def test_a_template_that_writes_its_own_beginning_is_not_taken_for_a_message() -> None:
    assert segments("headers", CONVERSATION[1:3], TOOLS)[:4] == [
        ("beginning of text", "<s>"),
        (
            "template text",
            "<|start_header_id|>system<|end_header_id|>\n\nKnowledge ends: December 2023\nToday: 01 May 2026\n\n"
            "You can call these functions.\n\n",
        ),
        (
            "tools",
            '{\n    "type": "function",\n    "function": {\n        "name": "look_up"\n    }\n}\n\n',
        ),
        ("template text", "<|eot_id|>"),
    ]


def test_a_call_that_the_template_takes_apart_is_no_role_marker() -> None:
    found = segments("headers", CONVERSATION[1:3])
    assert found[-4:-1] == [
        (
            "message 1 (assistant)",
            '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "look_up", "parameters": ',
        ),
        ("message 1 (assistant): tool calls", '{"n": 5}'),
        ("message 1 (assistant)", "}<|eot_id|>"),
    ]


def test_a_system_text_moved_into_the_last_message_keeps_its_own_label() -> None:
    found = segments("inst", [CONVERSATION[0], CONVERSATION[5]])
    assert found == [
        ("beginning of text", "<s>"),
        ("message 1 (user): role marker", "[INST] "),
        ("message 0 (system)", "Be brief."),
        ("message 1 (user)", "\n\nmore"),
        ("message 1 (user): end marker", "[/INST]"),
    ]


def test_tools_that_stand_inside_a_message_are_told_from_its_marker() -> None:
    assert segments("inst", [CONVERSATION[1], CONVERSATION[4], CONVERSATION[5]], TOOLS)[-7:] == [
        ("message 1 (assistant): end marker", "</s>"),
        ("template text", "[AVAILABLE_TOOLS] ["),
        ("tools", '{"type": "function", "function": {"name": "look_up"}}]'),
        ("template text", "[/AVAILABLE_TOOLS]"),
        ("message 2 (user): role marker", "[INST] "),
        ("message 2 (user)", "more"),
        ("message 2 (user): end marker", "[/INST]"),
    ]


def test_a_loop_over_numbers_is_told_apart_by_rendering_the_first_messages() -> None:
    assert segments("by_index", CONVERSATION[:2])[:5] == [
        ("message 0 (system): role marker", "### System:\n"),
        ("message 0 (system)", "Be brief."),
        ("message 0 (system): end marker", "\n\n"),
        ("message 1 (user): role marker", "### User:\n"),
        ("message 1 (user)", " hi\n"),
    ]


def test_a_message_that_ends_its_turn_of_the_loop_early_ends_there() -> None:
    messages = [CONVERSATION[0], {"role": "user", "content": "hi"}, {"role": "user", "content": ""}, CONVERSATION[5]]
    assert segments("jumps", messages) == [
        ("message 0 (system): role marker", "<<SYS>>"),
        ("message 0 (system)", "Be brief."),
        ("message 0 (system): end marker", "<</SYS>>"),
        ("message 1 (user): role marker", "<user>"),
        ("message 1 (user)", "hi"),
        ("message 1 (user): end marker", "</user>"),
        ("message 3 (user): role marker", "<user>"),
        ("message 3 (user)", "more"),
        ("message 3 (user): end marker", "</user>"),
        ("generation prompt", "<assistant>"),
    ]


def test_space_that_a_template_strips_is_not_looked_for_in_its_markers() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'user' %}U \n{{ m.content|trim }}{% else %}"
        "A \n{{ m.content.split('</think>')[-1].lstrip('\\n') }}{% endif %};{% endfor %}"
    )
    messages = [{"role": "user", "content": " \nhi\n"}, {"role": "assistant", "content": "a</think>\n\n ok\n"}]
    assert labelled(source, messages) == [
        ("message 0 (user): role marker", "U \n"),
        ("message 0 (user)", "hi"),
        ("message 0 (user): end marker", ";"),
        ("message 1 (assistant): role marker", "A \n"),
        ("message 1 (assistant)", " ok\n"),
        ("message 1 (assistant): end marker", ";"),
    ]


def test_a_text_that_is_cut_and_calls_that_are_dumped_are_both_known() -> None:
    source = (
        "{% for m in messages %}<{{ m.content.split('</think>')[-1] }}"
        "{% if m.tool_calls %}|{{ m.tool_calls|tojson }}{% endif %}>{% endfor %}"
    )
    assert labelled(source, [{**CONVERSATION[2], "content": "a</think>b"}]) == [
        ("message 0 (assistant): role marker", "<"),
        ("message 0 (assistant)", "b|"),
        (
            "message 0 (assistant): tool calls",
            '[{"id": "abcdef123", "type": "function", "function": {"name": "look_up", "arguments": {"n": 5}}}]',
        ),
        ("message 0 (assistant): end marker", ">"),
    ]


def test_marks_that_change_what_a_template_writes_are_not_believed() -> None:
    source = "{% for m in messages %}{{ m.content|length }}:{{ m.content }};{% endfor %}"
    assert labelled(source, [CONVERSATION[5], CONVERSATION[4]]) == [
        ("message 0 (user)", "4:more;"),
        ("message 1 (assistant)", "24:<think>\nhmm\n</think>\n\nok;"),
    ]


def test_an_end_that_may_be_the_generation_prompt_is_template_text() -> None:
    source = (
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}"
        "{{ '[assistant]' if loop.last and add_generation_prompt else '[end]' }}{% endfor %}"
    )
    assert labelled(source, [CONVERSATION[5]]) == [
        ("message 0 (user): role marker", "[user]"),
        ("message 0 (user)", "more"),
        ("template text", "[assistant]"),
    ]


def test_markup_that_may_be_the_text_s_own_is_no_role_marker() -> None:
    source = (
        "{% for m in messages %}[{{ m.role }}]{{ '<b>' if '<b>' in m.content }}"
        "{{ m.content.split('<b>')[-1] }}[/]{% endfor %}"
    )
    assert labelled(source, [{"role": "user", "content": "<b>x"}, {"role": "user", "content": "y"}]) == [
        ("message 0 (user)", "[user]<b>x"),
        ("message 0 (user): end marker", "[/]"),
        ("message 1 (user): role marker", "[user]"),
        ("message 1 (user)", "y"),
        ("message 1 (user): end marker", "[/]"),
    ]


def test_a_message_outside_any_loop_is_whole_where_others_are_cut() -> None:
    source = (
        "{{ '[system]' + messages[0].content }}[/]"
        "{% for m in messages[1:] %}<{{ m.content.split('||')[-1] }}>{% endfor %}"
    )
    assert labelled(source, [{"role": "system", "content": "a||b"}, {"role": "user", "content": "x||y"}]) == [
        ("message 0 (system): role marker", "[system]"),
        ("message 0 (system)", "a||b"),
        ("template text", "[/]"),
        ("message 1 (user): role marker", "<"),
        ("message 1 (user)", "y"),
        ("message 1 (user): end marker", ">"),
    ]


def test_a_default_instruction_before_the_first_message_is_template_text() -> None:
    source = (
        "{% for m in messages %}{% if loop.first and m.role != 'system' %}[system]Be kind.[/]{% endif %}"
        "[{{ m.role }}]{{ m.content }}[/]{% endfor %}"
    )
    rendered = ChatTemplate("test", source).render([CONVERSATION[5], CONVERSATION[4], CONVERSATION[5]])
    assert [segment.label for segment in rendered.segments[:3]] == [
        "template text",
        "message 0 (user): role marker",
        "message 0 (user)",
    ]
    assert rendered.text[: rendered.segments[0].stop] == "[system]Be kind.[/]"


def test_a_text_that_the_template_rewrites_is_still_inside_its_message() -> None:
    rendered = ChatTemplate(
        "test", "{% for m in messages %}<{{ m.content|upper|length }}>{{ m.content[1:3] }}{% endfor %}"
    )
    found = rendered.render([{"role": "user", "content": "abcd"}, {"role": "user", "content": "efghi"}])
    assert [(segment.label, found.text[segment.start : segment.stop]) for segment in found.segments] == [
        ("message 0 (user)", "<4>bc"),
        ("message 1 (user)", "<5>fg"),
    ]


def test_what_nothing_is_known_of_is_template_text() -> None:
    found = ChatTemplate("test", "{{ messages|map(attribute='content')|join|upper|reverse }}").render(CONVERSATION[4:])
    assert [segment.label for segment in found.segments] == ["template text"]
    assert ChatTemplate("test", "").render(CONVERSATION).segments == ()


def test_a_text_that_leaves_no_character_for_marks_is_labelled_by_message() -> None:
    private = "".join(map(chr, range(0xE000, 0xF900)))
    assert segments("chatml", [{"role": "user", "content": private}]) == [
        ("message 0 (user)", f"<|im_start|>user\n{private}<|im_end|>\n\n"),
        ("generation prompt", "<|im_start|>assistant\n\n"),
    ]
