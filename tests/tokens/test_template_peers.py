"""Chat templates of many styles, over random conversations: the text is that of transformers, the segments hold."""

import json
import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from shadowviz.tokens.rendering.render import Rendered
from shadowviz.tokens.templates.template import ChatTemplate
from shadowviz_engine.core.errors import InputError

FOLDER = Path(__file__).parent / "chat_templates"
SOURCES = {file.stem: file.read_text() for file in sorted(FOLDER.glob("*.jinja"))}
PEER = PreTrainedTokenizerFast(
    tokenizer_object=Tokenizer(WordLevel({"<unk>": 0}, unk_token="<unk>")), bos_token="<s>", eos_token="</s>"
)
TEXTS = st.sampled_from(
    [
        "",
        " ",
        "Hello.",
        " spaced \n",
        "two\nlines\n",
        "\r\nCR LF\r\n",
        "<think>\nwell\n</think>\n\nfine",
        "a</think>b",
        "<think></think>",
        "日本語 \U0001f469\u200d\U0001f467",
        "<tool_response>x</tool_response>",
        'quote " and \\ back',
        "{{ 1 }} {% if %}",
        "<b>&amp;</b>",
        "\ue000\uf8ff",
        "stop",
        "<s>",
        "x" * 300,
    ]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(), TEXTS, st.none(), st.lists(TEXTS, max_size=2))
)
CALLS = st.lists(
    st.builds(
        lambda arguments, written: {
            "id": "abcdef123",
            "type": "function",
            "function": {"name": "look_up", "arguments": json.dumps(arguments) if written else arguments},
        },
        ARGUMENTS,
        st.booleans(),
    ),
    min_size=1,
    max_size=2,
)
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks <things> up\nquickly",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "enum": ["x", "é"]},
                "b": {"type": "array", "items": {"type": "number"}},
            },
            "required": ["a"],
        },
    },
}


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}, {"type": "text", "text": "more"}]


CONTENTS = st.one_of(TEXTS, TEXTS, TEXTS.map(_parts))
MESSAGES = {
    "system": st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
    "user": st.builds(lambda content: {"role": "user", "content": content}, CONTENTS),
    "tool": st.builds(lambda text: {"role": "tool", "tool_call_id": "abcdef123", "content": text}, TEXTS),
    "assistant": st.builds(
        lambda content, more: {"role": "assistant", "content": content} | more,
        TEXTS,
        st.fixed_dictionaries(
            {}, optional={"tool_calls": CALLS, "reasoning_content": TEXTS, "reasoning": TEXTS, "name": st.none()}
        ),
    ),
}
ORDERS = [
    ("user",),
    ("system", "user"),
    ("user", "assistant"),
    ("system", "user", "assistant", "user"),
    ("user", "assistant", "user", "assistant", "user"),
    ("system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"),
    ("assistant", "user", "user"),
]
CONVERSATIONS = st.sampled_from(ORDERS).flatmap(lambda roles: st.tuples(*(MESSAGES[role] for role in roles)))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "enable_thinking": st.booleans(),
        "date_string": st.just("1 May"),
        "documents": st.just([{"title": "<t>", "text": "a b"}]),
    },
)


def peer_text(source: str, messages: Any, tools: Any, prompt: bool, options: dict[str, Any]) -> str | None:
    try:
        return PEER.apply_chat_template(
            list(messages),
            tools=tools or None,
            chat_template=source,
            tokenize=False,
            add_generation_prompt=prompt,
            **options,
        )
    except (jinja2.TemplateError, TypeError, ValueError, AttributeError):
        return None


def our_text(source: str, messages: Any, tools: Any, prompt: bool, options: dict[str, Any]) -> Rendered | None:
    template = ChatTemplate("test", source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})
    try:
        return template.render(messages, tools, add_generation_prompt=prompt, options=options, now=datetime.now())
    except InputError:
        return None


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=60, deadline=None)
@given(messages=CONVERSATIONS, tools=st.sampled_from([[], [TOOL]]), prompt=st.booleans(), options=OPTIONS)
def test_the_text_is_that_of_transformers(name: str, messages: Any, tools: Any, prompt: bool, options: Any) -> None:
    ours = our_text(SOURCES[name], messages, tools, prompt, options)
    assert (ours and ours.text) == peer_text(SOURCES[name], messages, tools, prompt, options)
    if ours is not None:
        check_cover(ours)


def check_cover(rendered: Rendered) -> None:
    ends = [0, *(segment.stop for segment in rendered.segments)]
    assert [segment.start for segment in rendered.segments] == ends[:-1]
    assert ends[-1] == len(rendered.text)
    assert all(segment.start < segment.stop for segment in rendered.segments)
    labels = [segment.label for segment in rendered.segments]
    assert all(a != b for a, b in pairwise(labels))


def number_texts(value: Any, number: int) -> Any:
    """Every text of a message with the message's number in it, front, middle and end."""
    if isinstance(value, dict):
        return {
            key: inner if key in ("role", "type", "id", "name", "tool_call_id") else number_texts(inner, number)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [number_texts(inner, number) for inner in value]
    if not isinstance(value, str) or not value.strip():
        return value
    if value.startswith("{"):
        return json.dumps(number_texts(json.loads(value), number)) if value.endswith("}") and '"' in value else value
    core = value.strip()
    start = value.index(core)
    marker = f"n{number}n"
    return f"{value[:start]}{marker}{core.replace('>', '>' + marker)}{marker}{value[start + len(core) :]}"


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=60, deadline=None)
@given(messages=CONVERSATIONS, tools=st.sampled_from([[], [TOOL]]), prompt=st.booleans(), options=OPTIONS)
def test_what_a_message_says_is_never_put_elsewhere(
    name: str, messages: Any, tools: Any, prompt: bool, options: Any
) -> None:
    numbered = [number_texts(message, number) for number, message in enumerate(messages)]
    rendered = our_text(SOURCES[name], numbered, tools, prompt, options)
    if rendered is None:
        return
    for found in re.finditer(r"n(\d)n", rendered.text):
        label = rendered.segment_at(found.start()).label
        number, role = int(found[1]), numbered[int(found[1])]["role"]
        title = f"message {number} ({'tool result' if role == 'tool' else role})"
        allowed = {"template text", title, f"{title}: reasoning", f"{title}: tool calls"}
        assert label in allowed, (label, rendered.text[found.start() - 20 : found.end() + 20])
    for found in re.finditer("Looks <things>", rendered.text):
        assert rendered.segment_at(found.start()).label in {"tools", "template text"}
