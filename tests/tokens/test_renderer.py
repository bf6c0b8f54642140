"""Conversations that a chat template renders, given to it as servers give them."""

import json
from pathlib import Path

import pytest

from shadowviz.tokens.inputs.parse import parse
from shadowviz.tokens.inputs.side import Reading, make_side, reading_of
from shadowviz.tokens.side import Side
from shadowviz_engine.core.errors import InputError

AS_JSON = "{{ messages[0].tool_calls[0].function.arguments | tojson }}"
ADDED = "{{ 'call ' + messages[0].tool_calls[0].function.arguments }}"


@pytest.fixture
def reading(tmp_path: Path, request: pytest.FixtureRequest) -> Reading:
    (tmp_path / "t.jinja").write_text(request.param)
    return reading_of("bytes", str(tmp_path / "t.jinja"))


def called(arguments: str, reading: Reading) -> Side:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    return make_side("A", parse(json.dumps([answer]).encode(), "chat.json", None), reading)


@pytest.mark.parametrize("reading", [AS_JSON], indirect=True)
def test_arguments_that_say_the_same_are_the_same_text(reading: Reading) -> None:
    assert called('{"a":1,"b":2}', reading).text == called('{"a": 1, "b": 2}', reading).text == '{"a": 1, "b": 2}'


@pytest.mark.parametrize("reading", [ADDED], indirect=True)
def test_a_template_that_adds_arguments_to_its_own_text_gets_them_as_sent(reading: Reading) -> None:
    assert called('{"a":1}', reading).text == 'call {"a":1}'


@pytest.mark.parametrize("reading", [AS_JSON], indirect=True)
def test_arguments_that_are_no_json_are_refused_as_a_server_refuses_them(reading: Reading) -> None:
    with pytest.raises(InputError, match=r"^chat\.json: message 0 calls a tool with arguments that are not JSON"):
        called("{", reading)


@pytest.mark.parametrize("reading", ["{{ raise_exception('no calls here') }}"], indirect=True)
def test_a_template_that_refuses_both_forms_says_why_once(reading: Reading) -> None:
    with pytest.raises(InputError, match=r"^chat\.json: .*no calls here$"):
        called("{}", reading)
