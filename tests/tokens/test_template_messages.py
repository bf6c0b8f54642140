"""Messages of a request brought into the form that chat templates get."""

from typing import Any

import pytest

from shadowviz.tokens.templates.messages import as_servers_pass
from shadowviz.tokens.templates.template import ChatTemplate
from shadowviz_engine.core.errors import InputError


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}


def message(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def test_arguments_in_text_are_written_as_the_object_they_are() -> None:
    template = ChatTemplate("test", "{{ messages[0].tool_calls[0].function.arguments|tojson }}")
    sent = [message(call('{"b": 1,"a": "x"}'))]
    assert template.render(as_servers_pass(sent)).text == '{"b": 1, "a": "x"}'
    assert sent == [message(call('{"b": 1,"a": "x"}'))]


def test_missing_arguments_are_none_and_other_values_stay() -> None:
    given = [
        message(call(""), call(None), call({"a": 1}), call([2]), "odd", {"id": "b"}),
        {"role": "user", "content": "x"},
    ]
    expected = [message(call({}), call({}), call({"a": 1}), call([2]), "odd", {"id": "b"}), given[1]]
    assert as_servers_pass(given) == expected


def test_an_empty_list_of_calls_is_no_list_of_calls() -> None:
    assert as_servers_pass([message()]) == [{"role": "assistant", "content": ""}]


@pytest.mark.parametrize("arguments", ["{", "[" * 100_000])
def test_arguments_that_are_not_json_give_one_line(arguments: str) -> None:
    with pytest.raises(InputError, match="message 1 calls a tool with arguments that are not JSON"):
        as_servers_pass([{"role": "user"}, message(call(arguments))])
