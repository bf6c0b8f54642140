"""Conversations as plain JSON values, made from a seed, and pairs of them."""

import copy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from prompt_texts import NAMES, sentences, tool


@dataclass(frozen=True)
class Chat:
    """A conversation as plain JSON values, and the options of its rendering."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatPair:
    """Two conversations and every name that is right for what parts their prompts."""

    recipe: str
    a: Chat
    b: Chat
    labels: frozenset[str]
    second: frozenset[str] = frozenset()
    """For pairs with two changes: names of which one must be listed behind the leading one."""


def chat_pair(recipe: str, a: Chat, b: Chat, *labels: str) -> ChatPair:
    """A pair without a second change."""
    return ChatPair(recipe, a, b, frozenset(labels))


def chat_of(random: Random, turns: int, tools: int = 0, **options: Any) -> Chat:
    """A system message, whole turns with reasoning, and a last question."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": sentences(random, 2)}]
    for number in range(turns):
        messages += [
            {"role": "user", "content": f"Question {number}: {sentences(random, 1)}"},
            {"role": "assistant", "content": sentences(random, 1), "reasoning": f"Let me see. {sentences(random, 1)}"},
        ]
    messages.append({"role": "user", "content": sentences(random, 1)})
    listed = [{"type": "function", "function": tool(random, name)} for name in random.sample(NAMES, tools)]
    return Chat(messages, listed, options)


def with_fields(chat: Chat, place: int, **fields: Any) -> Chat:
    """The conversation with other fields in one message."""
    messages = copy.deepcopy(chat.messages)
    messages[place].update(fields)
    return Chat(messages, copy.deepcopy(chat.tools), dict(chat.options))


def next_turn(random: Random, chat: Chat) -> Chat:
    """The conversation with an answer and another question behind it."""
    answer = {"role": "assistant", "content": sentences(random, 1), "reasoning": sentences(random, 1)}
    more = [*chat.messages, answer, {"role": "user", "content": sentences(random, 1)}]
    return Chat(more, chat.tools, chat.options)
