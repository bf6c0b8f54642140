"""Conversations rendered with chat templates: variables, clock, bad input, interrupts."""

import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from shadowviz.tokens.templates.template import ChatTemplate
from shadowviz_engine.core.errors import InputError

FOLDER = Path(__file__).parent / "chat_templates"
CONVERSATION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]


def test_the_clock_is_the_one_that_is_given() -> None:
    template = ChatTemplate("test", "{{ strftime_now('%Y-%m-%d %H:%M') }}")
    assert template.render(CONVERSATION, now=datetime(2020, 2, 29, 23, 59)).text == "2020-02-29 23:59"
    before = datetime.now().replace(second=0, microsecond=0)
    assert before <= datetime.fromisoformat(template.render(CONVERSATION).text) <= datetime.now()


def test_options_are_variables_and_take_precedence_over_special_tokens() -> None:
    template = ChatTemplate(
        "test", "{{ bos_token }}{{ enable_thinking }}{{ documents[0].title }}", None, {"bos_token": "a"}
    )
    options = {"enable_thinking": False, "documents": [{"title": "t"}], "bos_token": "b"}
    assert template.render(CONVERSATION, options=options).text == "bFalset"


@pytest.mark.parametrize(
    ("messages", "options", "message"),
    [
        ([], {}, "the conversation has no message"),
        ([CONVERSATION[0], "hi"], {}, "message 1 is a str, expected an object"),
        (CONVERSATION, {"tools": []}, "option tools is not an option of a template"),
        (CONVERSATION, {"x": {1, 2}}, "are no JSON: .*set"),
    ],
)
def test_a_conversation_that_cannot_be_rendered_gives_one_line(messages: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ChatTemplate("test", "x").render(messages, options=options)


def nested(depth: int) -> list[dict[str, Any]]:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return [{"role": "user", "content": value}]


def test_values_that_nest_as_deep_as_json_allows_are_rendered() -> None:
    template = ChatTemplate("test", "{{ messages|length }}")
    assert [template.render(nested(depth)).text for depth in (100, 300, 500, 700)] == ["1"] * 4


def test_values_that_nest_deeper_give_one_line() -> None:
    with pytest.raises(InputError, match="the messages, tools or options nest too deep"):
        ChatTemplate("test", "x").render(nested(100_000))


def test_lone_surrogates_pass_for_the_encoder_to_refuse() -> None:
    assert (
        ChatTemplate("test", "{{ messages[0].content }}").render([{"role": "user", "content": "\ud800"}]).text
        == "\ud800"
    )


def test_an_interrupt_ends_an_endless_template_and_its_process() -> None:
    program = """
import os, signal, threading, time
from shadowviz.tokens.templates import template
from shadowviz.tokens.templates import search as template_search
from shadowviz.tokens.templates.process import template_process

template_search.RENDER_S = 600.0
messages = [{"role": "user", "content": "x"}]
template.ChatTemplate("test", "x").render(messages)
inner = template_process()._process

def interrupt():
    while not template_process()._lock.locked():
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    template.ChatTemplate("test", "{{ 10 ** (10 ** 10) }}").render(messages)
except KeyboardInterrupt:
    print(inner.poll())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{-signal.SIGKILL}\n"


def test_neither_jinja_nor_torch_is_loaded_where_templates_are_asked_for() -> None:
    program = (
        "import sys; from shadowviz.tokens.templates.template import load_template\n"
        f"load_template({str(FOLDER / 'chatml.jinja')!r}).render([{{'role': 'user', 'content': 'x'}}])\n"
        "print(sorted({'jinja2', 'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
