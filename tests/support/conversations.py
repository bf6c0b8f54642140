"""Conversations made at random, and changes of them with a known cause."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from shadowviz.tokens.side import Conversation

WORDS = [
    "river",
    "stone",
    "lamp",
    "weather",
    "report",
    "price",
    "ledger",
    "garden",
    "answer",
    "market",
    "copper",
    "window",
    "number",
    "letter",
    "music",
    "forest",
    "engine",
    "signal",
    "harbour",
    "planet",
    "winter",
    "summary",
    "paper",
    "bridge",
    "candle",
    "island",
    "mirror",
    "pocket",
    "silver",
    "thunder",
]


@dataclass(frozen=True)
class Changed:
    """A conversation that a change was made to; `cause` and `subject` are what must be said of it."""

    conversation: Conversation
    cause: str
    subject: str = ""


def sentence(random: Random, length: int = 0) -> str:
    """A few words with a capital and a full stop."""
    return " ".join(random.choices(WORDS, k=length or random.randint(4, 14))).capitalize() + "."


def conversation(random: Random) -> Conversation:
    """Two to five turns with tools, calls, results and reasoning, ending with the user's text or a result."""
    tools = tuple(_tool(random, name) for name in random.sample(WORDS, random.randint(2, 4)))
    messages: list[dict] = [{"role": "system", "content": " ".join(sentence(random) for _ in range(3))}]
    for turn in range(random.randint(2, 5)):
        messages.append({"role": "user", "content": f"{sentence(random)} {turn}"})
        if random.random() < 0.5:
            messages.extend(_called(random, tools, f"call-{turn}"))
        messages.append(_answer(random))
    messages.append({"role": "user", "content": sentence(random)})
    thinking = random.random() < 0.5
    options = {"thinking": thinking, "effort": random.choice(["none", "high", "max"])}
    return Conversation(tuple(messages), tools, options | ({"drop_thinking": False} if random.random() < 0.3 else {}))


def _tool(random: Random, name: str) -> dict:
    fields = {word: {"type": "string", "description": sentence(random)} for word in random.sample(WORDS, 3)}
    parameters = {"type": "object", "properties": fields, "required": list(fields)[:2]}
    return {
        "type": "function",
        "function": {"name": name, "description": sentence(random), "parameters": parameters},
    }


def _called(random: Random, tools: tuple[dict, ...], call_id: str) -> list[dict]:
    arguments = {word: random.choice([sentence(random, 2), 7, [1, 2]]) for word in random.sample(WORDS, 3)}
    function = {"name": random.choice(tools)["function"]["name"], "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "reasoning_content": sentence(random), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps({"found": sentence(random), "count": 3})},
    ]


def _answer(random: Random) -> dict:
    return {"role": "assistant", "content": sentence(random), "reasoning_content": sentence(random)}


def with_messages(base: Conversation, messages: list[dict]) -> Conversation:
    """The conversation with other messages."""
    return replace(base, messages=tuple(messages))


def tools_shuffled(base: Conversation, random: Random) -> Changed:
    """Another order of the tools."""
    tools = list(base.tools)
    while tools == list(base.tools):
        random.shuffle(tools)
    return Changed(replace(base, tools=tuple(tools)), "REORDERED", "tools")


def tool_keys_turned(base: Conversation, random: Random) -> Changed:
    """The keys of one object inside a tool from the last to the first."""
    tools = copy.deepcopy(list(base.tools))
    function = random.choice(tools)["function"]
    place = random.choice([function, function["parameters"], function["parameters"]["properties"]])
    turned = dict(reversed(place.items()))
    place.clear()
    place.update(turned)
    return Changed(replace(base, tools=tuple(tools)), "REORDERED", "keys")


def tool_added(base: Conversation, random: Random) -> Changed:
    """One tool more, anywhere."""
    tools = list(base.tools)
    tools.insert(random.randint(0, len(tools)), _tool(random, "telephone"))
    return Changed(replace(base, tools=tuple(tools)), "SYSTEM_GREW", "tools")


def call_keys_turned(base: Conversation, random: Random) -> Changed | None:
    """The arguments of one call from the last to the first."""
    messages = copy.deepcopy(list(base.messages))
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    if not calls:
        return None
    function = random.choice(calls)["function"]
    function["arguments"] = json.dumps(dict(reversed(json.loads(function["arguments"]).items())))
    return Changed(with_messages(base, messages), "REORDERED", "keys")


def turns_swapped(base: Conversation, random: Random) -> Changed | None:
    """Two earlier turns in another order."""
    turns = _turns(base)
    if len(turns) < 2:
        return None
    first = random.randrange(len(turns) - 1)
    turns[first], turns[first + 1] = turns[first + 1], turns[first]
    messages = [base.messages[0], *(message for turn in turns for message in turn), base.messages[-1]]
    return Changed(with_messages(base, messages), "REORDERED", "messages")


def turns_left_out(base: Conversation, random: Random) -> Changed | None:
    """One turn or more left out, from the head or the middle."""
    turns = _turns(base)
    if not turns:
        return None
    first = random.randrange(len(turns))
    kept = turns[:first] + turns[random.randint(first + 1, len(turns)) :]
    messages = [base.messages[0], *(message for turn in kept for message in turn), base.messages[-1]]
    return Changed(with_messages(base, messages), "HISTORY_TRUNCATED")


def turns_summarised(base: Conversation, random: Random) -> Changed | None:
    """The first turns replaced by one message."""
    turns = _turns(base)
    if len(turns) < 2:
        return None
    gone = random.randint(2, len(turns))
    summary = {"role": "user", "content": f"Summary of what was said before: {sentence(random, 20)}"}
    rest = [message for turn in turns[gone:] for message in turn]
    return Changed(with_messages(base, [base.messages[0], summary, *rest, base.messages[-1]]), "HISTORY_TRUNCATED")


def message_edited(base: Conversation, random: Random) -> Changed | None:
    """Another word in one message between the first and the last."""
    if len(base.messages) < 3:
        return None
    index = random.randrange(1, len(base.messages) - 1)
    messages = copy.deepcopy(list(base.messages))
    content = messages[index]["content"]
    place = random.choice([place for place, letter in enumerate(content + " ") if letter == " "])
    messages[index]["content"] = f"{content[:place]} zebra{content[place:]}" if content else "zebra"
    title = {"tool": "tool result"}.get(messages[index]["role"], messages[index]["role"])
    return Changed(with_messages(base, messages), "HISTORY_EDITED", f"message {index} ({title})")


def system_grown(base: Conversation, random: Random) -> Changed:
    """A sentence more behind, before or between the lines of the system message."""
    old = base.messages[0]["content"]
    added = sentence(random)
    content = random.choice([f"{old} {added}", f"{added}\n{old}", f"{old}\n\n{added}"])
    return Changed(
        with_messages(base, [{**base.messages[0], "content": content}, *base.messages[1:]]), "SYSTEM_GREW", "system"
    )


def effort_changed(base: Conversation, random: Random) -> Changed | None:
    """Another effort whose text is another one."""
    if not base.options["thinking"]:
        return None
    efforts = {"none", "high", "max"} - {base.options["effort"]}
    options = base.options | {"effort": random.choice(sorted(efforts))}
    return Changed(replace(base, options=options), "EFFORT_PREFIX")


def thinking_changed(base: Conversation, random: Random) -> Changed:
    """The other mode."""
    options = base.options | {"thinking": not base.options["thinking"]}
    return Changed(replace(base, options=options), "TEMPLATE", "thinking")


def reasoning_lost(base: Conversation, random: Random) -> Changed | None:
    """The answers without their reasoning; with tools it is part of the text."""
    if not base.options["thinking"]:
        return None
    messages = [
        {name: value for name, value in message.items() if name != "reasoning_content"} for message in base.messages
    ]
    return Changed(with_messages(base, messages), "REASONING_MISSING")


CHANGES: tuple[Callable[[Conversation, Random], Changed | None], ...] = (
    tools_shuffled,
    tool_keys_turned,
    tool_added,
    call_keys_turned,
    turns_swapped,
    turns_left_out,
    turns_summarised,
    message_edited,
    system_grown,
    effort_changed,
    thinking_changed,
    reasoning_lost,
)


def rewritten(base: Conversation, random: Random) -> Conversation:
    """The same conversation in other JSON: spaces, order of keys in messages, blocks of text, arguments as objects."""
    messages = copy.deepcopy(list(base.messages))
    for message in messages:
        for call in message.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            call["function"]["arguments"] = random.choice(
                [arguments, json.dumps(arguments, separators=(",", ":")), json.dumps(arguments, indent=2)]
            )
        if message["role"] == "user" and random.random() < 0.5:
            message["content"] = [{"type": "text", "text": message["content"]}]
    messages = [dict(reversed(message.items())) for message in messages]
    tools = tuple(dict(reversed(tool.items())) for tool in base.tools)
    return Conversation(tuple(messages), tools, dict(base.options))


def _turns(base: Conversation) -> list[list[dict]]:
    turns: list[list[dict]] = []
    for message in base.messages[1:-1]:
        if message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    return turns
