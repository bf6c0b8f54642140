"""Chat messages and tools as typed values, checked when they are read."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, get_args

import msgspec

from shadowviz.tokens.inert import shorten
from shadowviz.tokens.rendering.deepseek_v4 import Effort, Task
from shadowviz_engine.core.errors import InputError

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "latest_reminder")


class TextPart(msgspec.Struct, frozen=True, tag_field="type", tag="text", forbid_unknown_fields=True):
    """One text block of a message whose content is a list."""

    text: str


Content = str | tuple[str | TextPart, ...]
"""Text, or blocks of text that the format joins with a blank line."""


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool definition in OpenAI form; `function` is rendered as it stands, key order included."""

    function: dict[str, Any]
    type: str = "function"

    def __post_init__(self) -> None:
        if not isinstance(self.function.get("name"), str):
            raise InputError(f"tool function has name {self.function.get('name')!r}, expected a string")


class FunctionCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Name and arguments of one call; the arguments are an object, or the text of a JSON object."""

    name: str
    arguments: str | dict[str, Any]

    def __post_init__(self) -> None:
        self.parsed()

    def parsed(self) -> dict[str, Any]:
        """The arguments as an object.

        Raises:
            InputError: the text is not JSON, or not an object.
        """
        if isinstance(self.arguments, dict):
            return self.arguments
        try:
            # The standard decoder: numbers are written out again and must come out as servers write them.
            value = json.loads(self.arguments, parse_constant=_refuse_constant)
        except RecursionError:
            raise InputError(f"arguments of {self.name!r} nest too deep, expected a plain JSON object") from None
        except ValueError as error:
            raise InputError(f"arguments of {self.name!r} are not JSON: {error}, expected a JSON object") from None
        if not isinstance(value, dict):
            raise InputError(f"arguments of {self.name!r} are a JSON {type(value).__name__}, expected a JSON object")
        return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of an assistant message; results with the same id are put in the order of the calls."""

    function: FunctionCall
    id: str = ""
    type: str = "function"


class _Message(msgspec.Struct, frozen=True, tag_field="role", forbid_unknown_fields=True, kw_only=True):
    title: ClassVar[str]

    name: str | None = None
    """Accepted because clients send it; the format has no place for it."""


class System(_Message, frozen=True, tag="system"):
    """Instructions; tools and a response format may stand without text."""

    title: ClassVar[str] = "system"
    content: Content | None = None
    tools: tuple[Tool, ...] = ()
    response_format: Any = None
    task: Task | None = None

    def __post_init__(self) -> None:
        if self.content is None and not self.tools and not self.response_format:
            raise InputError("system message has no content, expected text (or tools, or response_format)")


class Developer(_Message, frozen=True, tag="developer"):
    """Instructions in the place of a user message."""

    title: ClassVar[str] = "developer"
    content: Content
    tools: tuple[Tool, ...] = ()
    response_format: Any = None
    task: Task | None = None

    def __post_init__(self) -> None:
        if not plain_text(self.content):
            raise InputError("developer message has empty content, expected text")


class User(_Message, frozen=True, tag="user"):
    """What the user says."""

    title: ClassVar[str] = "user"
    content: Content
    task: Task | None = None


class Assistant(_Message, frozen=True, tag="assistant"):
    """An earlier answer, or with `wo_eos` the beginning of one that the model goes on with."""

    title: ClassVar[str] = "assistant"
    content: Content | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    """Another name for `reasoning`, used by several clients."""
    tool_calls: tuple[ToolCall, ...] | None = None
    wo_eos: bool = False
    task: Task | None = None

    def __post_init__(self) -> None:
        if self.reasoning is not None and self.reasoning_content is not None:
            raise InputError("assistant message has reasoning and reasoning_content, expected one of them")
        if self.content is None and not self.tool_calls and not self.thoughts:
            raise InputError("assistant message has no content, expected text, reasoning or tool_calls")

    @property
    def thoughts(self) -> str:
        """The reasoning under either name; empty when there is none."""
        return self.reasoning or self.reasoning_content or ""


class ToolResult(_Message, frozen=True, tag="tool"):
    """What a tool answered; a block that is not text is rendered as `[Unsupported TYPE]`, as servers do."""

    title: ClassVar[str] = "tool result"
    content: str | tuple[dict[str, Any], ...]
    tool_call_id: str = ""

    def __post_init__(self) -> None:
        for block in self.content if isinstance(self.content, tuple) else ():
            if not isinstance(block.get("type"), str):
                raise InputError(f"tool result block has type {block.get('type')!r}, expected a string")
            if block["type"] == "text" and not isinstance(block.get("text"), str):
                raise InputError(f"tool result block has text {block.get('text')!r}, expected a string")

    @property
    def text(self) -> str:
        """The result as one string."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join(b["text"] if b["type"] == "text" else f"[Unsupported {b['type']}]" for b in self.content)


class LatestReminder(_Message, frozen=True, tag="latest_reminder"):
    """A note that stands after the generation marker, such as the date."""

    title: ClassVar[str] = "latest reminder"
    content: Content
    task: Task | None = None


Message = System | Developer | User | Assistant | ToolResult | LatestReminder


def plain_text(content: Content | None) -> str:
    """The text of a content value; blocks are joined with a blank line."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(block if isinstance(block, str) else block.text for block in content)


def parse_messages(objects: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages from plain objects, as a JSON reader gives them.

    Raises:
        InputError: an unknown role or field, missing content, a wrong type, bad tool JSON.
    """
    return _convert_all(objects, Message)


def parse_tools(objects: Sequence[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tool definitions from plain objects.

    Raises:
        InputError: a definition without a named function.
    """
    return _convert_all(objects, Tool)


def _convert_all(values: Sequence[object], kind: Any) -> tuple[Any, ...]:
    try:
        # A list type, because the union of message types has no class of its own.
        converted: list[Any] = msgspec.convert(list(values), list[kind])
        return tuple(converted)
    except msgspec.ValidationError as error:
        raise InputError(describe(error)) from None
    except RecursionError:
        raise InputError("the messages or tools nest too deep, expected plain JSON values") from None


def describe(error: msgspec.MsgspecError) -> str:
    """One line for a decoding error: what was found, what was expected, and where."""
    text, _, place = str(error).partition(" - at `$")
    place = place.rstrip("`").removeprefix(".")
    if (found := re.fullmatch(r"Invalid (?:enum )?value (.*)", text, re.DOTALL)) is not None:
        text = f"found {found[1]}, expected {_choices(place)}"
    # Both hold what the input says, which may be anything of any length.
    text, place = shorten(" ".join(text.split())), shorten(place)
    return f"{place}: {text}" if place else text


def _choices(place: str) -> str:
    match place.rpartition(".")[2]:
        case "role":
            return "one of " + ", ".join(ROLES)
        case "task":
            return "one of " + ", ".join(get_args(Task))
        case "effort":
            return "one of " + ", ".join(get_args(Effort))
        case "type":
            return "'text': token ids cannot say which picture or sound it was"
        case _:
            return "another value"
