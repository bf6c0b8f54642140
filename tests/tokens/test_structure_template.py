"""Conversations that a chat template rendered, which structure only knows by their labelled stretches."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.rendering.deepseek_v4 import EOS
from shadowviz.tokens.rendering.render import Rendered
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz.tokens.structure.conversation import turn_breaks
from shadowviz.tokens.structure.find import structural
from shadowviz.tokens.templates.template import ChatTemplate

SOURCE = """
{%- for message in messages %}[{{ message.role }}]
{%- if message.reasoning_content and loop.last %}<think>{{ message.reasoning_content }}</think>{% endif -%}
{{ message.content }}[end]
{%- if loop.first %}{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}"""
TEMPLATE = ChatTemplate("plain", SOURCE)
OTHER = ChatTemplate("other", SOURCE.replace("[end]", "[over]"))

SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
QUESTION = {"role": "user", "content": "What is 2+2?"}
ANSWER = {"role": "assistant", "reasoning_content": "Two and two.", "content": "The answer is 4."}
NEXT = {"role": "user", "content": "And 3+3?"}
TOOLS = tuple({"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "read", "add"))


def rendered(template: ChatTemplate, told: Conversation) -> Rendered:
    asks = told.messages[-1]["role"] != "assistant"
    return template.render(told.messages, told.tools, add_generation_prompt=asks, options=told.options)


def side(name: str, *messages: dict, tools: tuple[dict, ...] = (), template: ChatTemplate = TEMPLATE) -> Side:
    told = Conversation(messages, tools)
    text = rendered(template, told)
    return side_of_text(name, text.text, default_tokenizer(), segments=text.segments, conversation=told)


def only(a: Side, b: Side) -> Finding:
    [finding] = structural(a, b, align(a, b))
    return finding


def test_a_template_that_drops_reasoning_breaks_the_stored_path_at_its_answer() -> None:
    render = partial(rendered, TEMPLATE)
    [found] = turn_breaks(Conversation((SYSTEM, QUESTION, ANSWER, NEXT)), default_tokenizer(), render)
    assert (found.common, found.findings[0].cause) == (found.num_prompt, Cause.TEMPLATE)
    assert found.stored.text.endswith("<think>Two and two.</think>The answer is 4.[end]")


@pytest.mark.parametrize(
    ("newer", "tools", "cause", "subject"),
    [
        ((SYSTEM, QUESTION, ANSWER, NEXT), TOOLS[::-1], Cause.REORDERED, "tools"),
        ((SYSTEM, QUESTION, ANSWER, NEXT), TOOLS[:2], Cause.SYSTEM_GREW, "tools"),
        ((SYSTEM, NEXT), TOOLS, Cause.HISTORY_TRUNCATED, ""),
        (
            (SYSTEM, {**QUESTION, "content": "What is it?"}, ANSWER, NEXT),
            TOOLS,
            Cause.HISTORY_EDITED,
            "message 1 (user)",
        ),
        ((SYSTEM, ANSWER, QUESTION, NEXT), TOOLS, Cause.REORDERED, "messages"),
    ],
)
def test_changes_are_found_by_the_labels_of_any_template(
    newer: tuple[dict, ...], tools: tuple[dict, ...], cause: Cause, subject: str
) -> None:
    a = side("A", SYSTEM, QUESTION, ANSWER, NEXT, tools=TOOLS)
    finding = only(a, side("B", *newer, tools=tools))
    assert (finding.cause, finding.subject) == (cause, subject)
    assert finding.gain > 0


def written(told: Conversation) -> str:
    return rendered(TEMPLATE, told).text


def with_a_clock(told: Conversation) -> str:
    return f"12:00:01 {written(told)}"


@pytest.mark.parametrize(("write", "measured"), [(written, True), (with_a_clock, False), (None, False)])
def test_what_a_change_gains_is_measured_where_the_template_gives_the_texts_again(
    write: Callable[[Conversation], str] | None, measured: bool
) -> None:
    a = replace(side("A", SYSTEM, QUESTION, ANSWER, NEXT), write=write)
    b = replace(side("B", SYSTEM, {**QUESTION, "content": "What is it?"}, ANSWER, NEXT), write=write)
    finding = only(a, b)
    assert (finding.cause, finding.measured) == (Cause.HISTORY_EDITED, measured)
    assert not measured or finding.gain == len(a.ids) - align(a, b).common


def test_each_side_is_mended_by_its_own_template() -> None:
    """B's end marks stay as its template writes them, so that undoing the edit gains what stands before the first."""
    a = replace(side("A", QUESTION, ANSWER, NEXT), write=written)
    edited = {**QUESTION, "content": "What is it?"}
    b = side("B", edited, ANSWER, NEXT, template=OTHER)
    b = replace(b, write=lambda told: rendered(OTHER, told).text)
    mended = rendered(OTHER, Conversation((QUESTION, ANSWER, NEXT))).text
    edit = next(found for found in structural(a, b, align(a, b)) if found.cause is Cause.HISTORY_EDITED)
    common = align(a, side_of_text("B", mended, default_tokenizer())).common
    assert (edit.measured, edit.gain) == (True, common - align(a, b).common)


def test_what_a_template_writes_behind_the_mark_of_an_end_is_not_stored() -> None:
    ended = ChatTemplate("ended", SOURCE.replace("[end]", f"{EOS}{{{{ '\\n' }}}}"))
    [found] = turn_breaks(Conversation((SYSTEM, QUESTION, ANSWER, NEXT)), default_tokenizer(), partial(rendered, ended))
    assert found.stored.text.endswith(f"The answer is 4.{EOS}")
    assert found.stored.segments[-1].stop == len(found.stored.text)


def test_tools_written_otherwise_are_the_templates_doing() -> None:
    other = ChatTemplate("other", SOURCE.replace("tojson", "tojson(indent=2)"))
    a, b = (
        side(name, SYSTEM, QUESTION, tools=TOOLS, template=template)
        for name, template in (("A", TEMPLATE), ("B", other))
    )
    finding = only(a, b)
    assert (finding.cause, finding.subject) == (Cause.TEMPLATE, "tools")


def test_other_ids_of_calls_edit_the_history_where_a_template_writes_them() -> None:
    told = ChatTemplate(
        "told", SOURCE.replace("{{ message.content }}", "{{ message.content }}{{ message.tool_call_id }}")
    )
    a, b = (
        side(
            name, SYSTEM, QUESTION, ANSWER, {"role": "tool", "content": "3", "tool_call_id": found}, NEXT, template=told
        )
        for name, found in (("A", "call-ab12"), ("B", "call-cd34"))
    )
    finding = only(a, b)
    assert (finding.cause, finding.subject) == (Cause.HISTORY_EDITED, "message 3 (tool result)")


def test_another_template_renders_the_same_messages_otherwise() -> None:
    messages = (SYSTEM, QUESTION, ANSWER, NEXT)
    finding = only(side("A", *messages), side("B", *messages, template=OTHER))
    assert (finding.cause, finding.subject) == (Cause.TEMPLATE, "")
