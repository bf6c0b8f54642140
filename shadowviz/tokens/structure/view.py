"""A conversation in one form, whatever dialect of JSON it came in, so that two can be compared by meaning."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from shadowviz.tokens.side import Conversation

LEADING_ROLES: Final = frozenset({"system", "developer"})
TITLES: Final = {"tool": "tool result", "latest_reminder": "latest reminder"}
V4_DEFAULTS: Final[dict[str, Any]] = {"thinking": False, "effort": "none", "drop_thinking": True}
"""What an option of the DeepSeek-V4 format means where it is not given."""

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking")
_IDENTITIES: Final = frozenset({"id", "tool_call_id"})
_READ: Final = frozenset({"role", "content", "tool_calls", "tools", *REASONING_FIELDS, *_IDENTITIES})


@dataclass(frozen=True)
class Call:
    """One tool call; arguments that are the text of JSON are read."""

    name: str
    arguments: Any

    @cached_property
    def key(self) -> str:
        """The same for calls that mean the same."""
        return f"{self.name} {canonical(self.arguments)}"


@dataclass(frozen=True)
class Item:
    """One message."""

    index: int
    """Place in the conversation's list, from 0."""
    role: str
    text: str
    reasoning: str | None
    """None where the message says nothing of it, empty where it says that there was none."""
    calls: tuple[Call, ...]
    rest: str
    """The fields that are not named here, in canonical JSON."""
    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As the segments of a rendered prompt call it."""
        return f"message {self.index} ({TITLES.get(self.role, self.role)})"

    @cached_property
    def key(self) -> tuple[str, str, tuple[str, ...], str]:
        """The same for messages that say the same: reasoning, ids and the order of keys aside."""
        return self.role, self.text, tuple(call.key for call in self.calls), self.rest


@dataclass(frozen=True)
class View:
    """A conversation as messages, tools and options."""

    conversation: Conversation
    items: tuple[Item, ...]
    tools: tuple[Any, ...]
    """The definitions inside, without the wrapper that names their type."""
    raw_tools: tuple[Any, ...]
    """The same as they were given."""
    tools_in: int | None
    """Index of the message that holds the tools; None where they stand beside the messages, or there are none."""
    options: Mapping[str, Any]

    @property
    def leading(self) -> int:
        """Number of messages before the first that a user, a model or a tool wrote."""
        return next((place for place, item in enumerate(self.items) if item.role not in LEADING_ROLES), len(self.items))


def view_of(conversation: Conversation) -> View:
    """The conversation, read without a complaint: what has another form than expected is compared as JSON."""
    messages: Sequence[Any] = conversation.messages
    items = tuple(_item(index, message) for index, message in enumerate(messages))
    holder = None if conversation.tools else next((item.index for item in items if _has_tools(item)), None)
    tools: Sequence[Any] = conversation.tools if holder is None else items[holder].raw["tools"]
    definitions = tuple(_definition(tool) for tool in tools)
    return View(conversation, items, definitions, tuple(tools), holder, conversation.options)


def canonical(value: Any) -> str:
    """JSON in which the order of keys does not show."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def ordered(value: Any) -> str:
    """JSON with keys in the order given."""
    return json.dumps(value, ensure_ascii=False, default=str)


def parsed(text: Any) -> Any:
    """What the text of a JSON object or list stands for; anything else as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def differing_options(a: View, b: View) -> tuple[str, ...]:
    """Names of the options that do not have the same value on both sides."""
    return tuple(
        name
        for name in dict.fromkeys([*a.options, *b.options])
        if canonical(option(a, name)) != canonical(option(b, name))
    )


def option(view: View, name: str) -> Any:
    """Value of an option, or what it means where it is not given."""
    return view.options.get(name, V4_DEFAULTS.get(name))


def _item(index: int, message: Any) -> Item:
    raw = message if isinstance(message, Mapping) else {"content": message}
    calls = raw.get("tool_calls")
    rest = {name: value for name, value in raw.items() if name not in _READ and value is not None}
    return Item(
        index,
        str(raw.get("role", "")),
        _text(raw.get("content")),
        next((value for name in REASONING_FIELDS if isinstance(value := raw.get(name), str)), None),
        tuple(_call(call) for call in calls) if isinstance(calls, Sequence) and not isinstance(calls, str) else (),
        canonical(rest) if rest else "",
        raw,
    )


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Sequence):
        return "\n\n".join(_block(block) for block in content)
    return ordered(content)


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and isinstance(text := block.get("text"), str):
        return text
    return ordered(block)


def _call(call: Any) -> Call:
    function = _definition(call)
    if not isinstance(function, Mapping):
        return Call("", function)
    return Call(str(function.get("name", "")), parsed(function.get("arguments")))


def _definition(tool: Any) -> Any:
    return tool.get("function", tool) if isinstance(tool, Mapping) else tool


def _has_tools(item: Item) -> bool:
    tools = item.raw.get("tools")
    return bool(tools) and isinstance(tools, Sequence) and not isinstance(tools, str)
