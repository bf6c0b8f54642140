"""Pairs of conversations with tool calls, compacted histories, and two changes at once."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any, Final

from chats import Chat, ChatPair, chat_of, chat_pair, next_turn, with_fields
from prompt_texts import NAMES, sentences, tool


def _with_calls(random: Random) -> Chat:
    """A conversation in which the assistant called tools and got their results."""
    names = random.sample(NAMES, 2)
    tools = [{"type": "function", "function": tool(random, name)} for name in names]
    arguments = {"path": "src/main.py", "limit": 20, "query": "北京 café"}
    messages: list[dict[str, Any]] = [{"role": "system", "content": sentences(random, 2)}]
    for turn in range(random.randint(1, 3)):
        called = f"call_{turn}"
        function = {"name": names[0], "arguments": dict(arguments)}
        messages += [
            {"role": "user", "content": f"Question {turn}: {sentences(random, 1)}"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": called, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": called, "content": f"Found {turn}: {sentences(random, 2)}"},
            {"role": "assistant", "content": f"Answer {turn}. {sentences(random, 1)}"},
        ]
    messages.append({"role": "user", "content": sentences(random, 1)})
    return Chat(messages, tools, random.choice(({}, {"thinking": True})))


def _some(random: Random, chat: Chat, role: str) -> int:
    return random.choice([at for at, message in enumerate(chat.messages) if message["role"] == role])


def result_edited(random: Random) -> ChatPair | None:
    """A result of a tool in the history came back otherwise: run again, cut short, masked."""
    a = _with_calls(random)
    place = _some(random, a, "tool")
    old = a.messages[place]["content"]
    new = random.choice((f"{old[:20]}...", f"{old} [cached]", "[output removed]", sentences(random, 2)))
    return None if old == new else chat_pair("tool result", a, with_fields(a, place, content=new), "HISTORY_EDITED")


def arguments_edited(random: Random) -> ChatPair | None:
    """Arguments of an earlier call: another value, or the same keys in another order."""
    a = _with_calls(random)
    calling = [at for at, message in enumerate(a.messages) if message.get("tool_calls")]
    b = copy.deepcopy(a)
    arguments = b.messages[random.choice(calling)]["tool_calls"][0]["function"]["arguments"]
    if random.random() < 0.5:
        arguments["path"] = "docs/index.md"
        # An edited history, and JSON in which a value changed; both names are right.
        return chat_pair("value of an argument", a, b, "HISTORY_EDITED", "JSON_VALUE")
    arguments["path"] = arguments.pop("path")
    return chat_pair("order of arguments", a, b, "REORDERED")


def middle_left_out(random: Random) -> ChatPair | None:
    """Turns from the middle are left out; or all old ones for a summary, which also edits the history."""
    a = chat_of(random, random.randint(3, 5))
    if random.random() < 0.5:
        start = 3 + 2 * random.randrange((len(a.messages) - 4) // 2)
        b = Chat(a.messages[:start] + a.messages[start + 2 :])
        return chat_pair("middle turn", a, random.choice((b, next_turn(random, b))), "HISTORY_TRUNCATED")
    summary = {"role": "user", "content": "Summary of the conversation so far: files were read, tests pass."}
    b = Chat([a.messages[0], summary, *a.messages[-3:]])
    return chat_pair("summary", a, b, "HISTORY_TRUNCATED", "HISTORY_EDITED")


def _clock(random: Random, a: Chat, b: Chat) -> str:
    for chat, time in ((a, "15:04:20"), (b, "15:09:41")):
        chat.messages[0]["content"] = f"Current time: 2026-06-09 {time}. {a.messages[0]['content'].split('. ', 3)[-1]}"
    return "TIME"


def _effort(random: Random, a: Chat, b: Chat) -> str:
    a.options.update(thinking=True, drop_thinking=False)
    b.options.update(thinking=True, drop_thinking=False, effort="high")
    return "EFFORT_PREFIX"


def _order(random: Random, a: Chat, b: Chat) -> str:
    b.tools[:] = b.tools[::-1]
    return "REORDERED"


def _tool_more(random: Random, a: Chat, b: Chat) -> str:
    b.tools.append({"type": "function", "function": tool(random, "another_tool")})
    return "SYSTEM_GREW"


def _edited(random: Random, a: Chat, b: Chat) -> str:
    b.messages[2]["content"] = "That was wrong; the second one is right."
    return "HISTORY_EDITED"


def _cut(random: Random, a: Chat, b: Chat) -> str:
    del b.messages[1:3]
    return "HISTORY_TRUNCATED"


def _question(random: Random, a: Chat, b: Chat) -> str:
    b.messages[-1]["content"] = "Which one is cheaper?"
    return "TEXT"


BY_PLACE: Final[tuple[tuple[Callable[[Random, Chat, Chat], str], ...], ...]] = (
    (_effort,), (_clock,), (_order, _tool_more), (_edited, _cut), (_question,),
)  # fmt: skip
"""Changes in the order in which their places follow each other in a prompt."""


def two_changes(random: Random) -> ChatPair | None:
    """Two changes at two places: the one that stands first leads."""
    a = chat_of(random, random.randint(2, 4), 3)
    b = copy.deepcopy(a)
    earlier, later = sorted(random.sample(range(len(BY_PLACE)), 2))
    first, second = (random.choice(BY_PLACE[at])(random, a, b) for at in (earlier, later))
    return ChatPair(f"{first} and {second}", a, b, frozenset({first}), frozenset({second}))
