"""Messages as a server receives them, brought into the form in which it hands them to a chat template."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shadowviz_engine.core.errors import InputError


def as_servers_pass(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages of an OpenAI request with the arguments of calls as objects, and without empty lists of calls.

    Clients send arguments as the text of a JSON object; templates write them as JSON, and would quote the text again.

    Raises:
        InputError: arguments that are not JSON.

    Source: `_postprocess_messages` of vLLM's chat template code.
    """
    return [_message(index, message) for index, message in enumerate(messages)]


def _message(index: int, message: Mapping[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return dict(message)
    if not calls:
        return {key: value for key, value in message.items() if key != "tool_calls"}
    return {**message, "tool_calls": [_call(f"message {index}", call) for call in calls]}


def _call(place: str, call: Any) -> Any:
    if not isinstance(call, dict) or not isinstance(function := call.get("function"), dict):
        return call
    return {**call, "function": {**function, "arguments": _arguments(place, function)}}


def _arguments(place: str, function: Mapping[str, Any]) -> Any:
    given = function.get("arguments") or {}
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        reason = "they nest too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"{place} calls a tool with arguments that are not JSON: {reason}") from None
