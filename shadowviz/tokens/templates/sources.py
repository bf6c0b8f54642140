"""What a chat template is given, as numbered objects and texts, so that marks tell where each went."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shadowviz.tokens.inert import shorten
from shadowviz.tokens.templates.marks import LENGTH, Alphabet, mark_pieces, mark_whole
from shadowviz_engine.core.errors import InputError

REASONING_FIELDS: Final = ("reasoning_content", "thinking", "reasoning")
"""Names under which clients pass what the model thought."""
DEEPEST: Final = 5
"""How deep texts lie that are sources: messages, message, tool_calls, call, function."""
_TITLES: Final = {"tool": "tool result", "latest_reminder": "latest reminder"}

Path = tuple[str | int, ...]
Marker = Callable[[str, int], str]
"""Marks a text with a number."""


@dataclass(frozen=True, slots=True)
class Source:
    """An object or a text that a rendering may hold, and what it is called there."""

    label: str
    message: int | None = None
    """Index of the message that it is part of; None for tools."""
    is_message: bool = False
    """A whole message, whose stretch holds markers of the template too."""
    is_inside: bool = False
    """Part of a tool call, around which more of the call stands."""
    path: Path = ()
    text: str | None = None
    """None for an object."""


@dataclass(frozen=True)
class Hidden:
    """What of a message's texts bears no mark, so that it may stand in what looks like the template's."""

    heads: Sequence[str] = ()
    tails: Sequence[str] = ()
    has_unmarked: bool = False
    """Whether a text has no mark at all."""
    has_calls: bool = False

    def allows_before(self, text: str) -> bool:
        """Whether `text`, before the first marked stretch, can be the template's only."""
        return not self.has_unmarked and not any(head in text for head in self.heads)

    def allows_behind(self, text: str) -> bool:
        """The same behind the last one."""
        return not self.has_unmarked and not any(tail in text for tail in self.tails)


def normalise(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages as chat templates get them: without fields that are null, and reasoning under the names they read.

    Raises:
        InputError: a message that is no object.

    Source: transformers 5.24, with which `tests/tokens/test_template_peers.py` compares.
    """
    result = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InputError(f"message {index} is a {type(message).__name__}, expected an object with role and content")
        reasoning = next((message[name] for name in REASONING_FIELDS if message.get(name) is not None), None)
        added = {} if reasoning is None else {"reasoning_content": reasoning}
        given = {key: value for key, value in message.items() if value is not None}
        result.append(({} if reasoning is None else {"thinking": reasoning}) | given | added)
    return result


def message_label(index: int, message: Mapping[str, Any]) -> str:
    """How the message is called, counted from 0."""
    role = message.get("role")
    named = _TITLES.get(role, shorten(role, 40)) if isinstance(role, str) else "no role"
    return f"message {index} ({named})"


def find_sources(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> tuple[Source, ...]:
    """Every source; its place is the number of its marks."""
    found = list(_tool_sources(tools))
    for index, message in enumerate(messages):
        found.extend(_message_sources(index, message))
    return tuple(found)


def marked_variables(variables: Mapping[str, Any], sources: Sequence[Source], mark: Marker) -> dict[str, Any]:
    """The variables with every text that is a source marked."""
    result = {**variables, "messages": _copy(variables["messages"], DEEPEST)}
    for number, source in enumerate(sources):
        if source.text is not None:
            *way, last = source.path
            holder: Any = result
            for key in way:
                holder = holder[key]
            holder[last] = mark(source.text, number)
    return result


def whole_marker(alphabet: Alphabet) -> Marker:
    """Marks each text from end to end."""
    return lambda text, number: mark_whole(text, number, alphabet)


def piece_marker(alphabet: Alphabet, literals: Sequence[str]) -> Marker:
    """Marks each text between the `literals` that a template may look for in it."""
    # Words are no markup, and cutting long texts at each of them would be slow.
    kept = sorted((text for text in literals if re.search(r"[^\w\s]", text)), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, kept)) or "(?!)")
    return lambda text, number: mark_pieces(text, number, alphabet, pattern)


def unmarked(text: str, number: int) -> str:
    """Marks nothing."""
    del number
    return text


def hidden_texts(sources: Sequence[Source], mark: Marker, alphabet: Alphabet) -> dict[int, Hidden]:
    """By message, what `mark` leaves without a mark."""
    heads: dict[int, list[str]] = {}
    tails: dict[int, list[str]] = {}
    without: set[int] = set()
    callers = {source.message for source in sources if source.label.endswith(": tool calls")}
    for number, source in enumerate(sources):
        if source.text is None or source.message is None or not source.text.strip():
            continue
        marked = mark(source.text, number)
        if marked == source.text:
            without.add(source.message)
        if marked == source.text or (alphabet.is_mark(marked[:LENGTH]) and alphabet.is_mark(marked[-LENGTH:])):
            continue
        _, stretches = alphabet.read(marked)
        if head := source.text[: stretches[0].start].strip():
            heads.setdefault(source.message, []).append(head)
        if tail := source.text[stretches[-1].stop :].strip():
            tails.setdefault(source.message, []).append(tail)
    messages = {source.message for source in sources if source.message is not None}
    return {
        index: Hidden(heads.get(index, ()), tails.get(index, ()), index in without, index in callers)
        for index in messages
    }


def _tool_sources(tools: Sequence[Any]) -> Iterator[Source]:
    if tools:
        yield Source("tools", path=("tools",))
    for place, tool in enumerate(tools):
        yield Source("tools", path=("tools", place))
        if isinstance(tool, dict) and isinstance(function := tool.get("function"), dict):
            yield Source("tools", path=("tools", place, "function"))
            if isinstance(function.get("parameters"), dict):
                yield Source("tools", path=("tools", place, "function", "parameters"))


def _message_sources(index: int, message: Mapping[str, Any]) -> Iterator[Source]:
    label, path = message_label(index, message), ("messages", index)
    yield Source(label, index, is_message=True, path=path)
    content = message.get("content")
    if isinstance(content, str):
        yield Source(label, index, path=(*path, "content"), text=content)
    elif isinstance(content, list):
        yield from _part_sources(label, index, content)
    for name in REASONING_FIELDS:
        if isinstance(text := message.get(name), str):
            yield Source(f"{label}: reasoning", index, path=(*path, name), text=text)
    if isinstance(calls := message.get("tool_calls"), list) and calls:
        yield from _call_sources(f"{label}: tool calls", index, calls)


def _part_sources(label: str, index: int, parts: Sequence[Any]) -> Iterator[Source]:
    for place, part in enumerate(parts):
        path: Path = ("messages", index, "content", place)
        if isinstance(part, str):
            yield Source(label, index, path=path, text=part)
        elif isinstance(part, dict):
            yield Source(label, index, path=path)
            if isinstance(text := part.get("text"), str):
                yield Source(label, index, path=(*path, "text"), text=text)


def _call_sources(label: str, index: int, calls: Sequence[Any]) -> Iterator[Source]:
    path: Path = ("messages", index, "tool_calls")
    yield Source(label, index, path=path)
    for place, call in enumerate(calls):
        if not isinstance(call, dict):
            continue
        yield Source(label, index, path=(*path, place))
        function = call.get("function")
        inner = (*path, place, "function") if isinstance(function, dict) else (*path, place)
        if isinstance(function, dict):
            yield Source(label, index, is_inside=True, path=inner)
        arguments = (function if isinstance(function, dict) else call).get("arguments")
        if isinstance(arguments, str):
            yield Source(label, index, is_inside=True, path=(*inner, "arguments"), text=arguments)
        elif isinstance(arguments, dict):
            yield Source(label, index, is_inside=True, path=(*inner, "arguments"))


def _copy(value: Any, depth: int) -> Any:
    """A copy down to a depth; what lies deeper is shared."""
    if depth and isinstance(value, dict):
        return {key: _copy(inner, depth - 1) for key, inner in value.items()}
    return [_copy(inner, depth - 1) for inner in value] if depth and isinstance(value, list) else value
