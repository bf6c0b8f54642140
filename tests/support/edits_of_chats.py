"""Pairs of conversations that differ in a known way: tools, keys, history, options, and text inside a message."""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import edits_of_characters
import edits_of_clocks
import edits_of_histories
import edits_of_layout
import edits_of_values
import edits_of_words
from chats import Chat, ChatPair, chat_of, chat_pair, next_turn, with_fields
from prompt_texts import SENTENCES, sentences, tool


def tools_reordered(random: Random) -> ChatPair | None:
    """The same tools in another order."""
    a = chat_of(random, random.randint(0, 2), random.randint(2, 5))
    b = Chat(a.messages, random.sample(a.tools, len(a.tools)), a.options)
    return None if a.tools == b.tools else chat_pair("tools", a, b, "REORDERED")


def keys_reordered(random: Random) -> ChatPair | None:
    """Keys of one tool's definition in another order."""
    a = chat_of(random, random.randint(0, 2), random.randint(1, 4))
    b = copy.deepcopy(a)
    function = random.choice(b.tools)["function"]
    name = random.choice(("top", "parameters", "properties"))
    changed = {
        "top": function,
        "parameters": function["parameters"],
        "properties": function["parameters"]["properties"],
    }[name]
    items = random.sample(list(changed.items()), len(changed))
    changed.clear()
    changed.update(items)
    return None if json.dumps(a.tools) == json.dumps(b.tools) else chat_pair(f"keys of {name}", a, b, "REORDERED")


def messages_reordered(random: Random) -> ChatPair | None:
    """Two turns of the history in another order."""
    a = chat_of(random, random.randint(2, 4))
    turns = [a.messages[start : start + 2] for start in range(1, len(a.messages) - 1, 2)]
    at = random.randrange(len(turns) - 1)
    turns[at : at + 2] = turns[at : at + 2][::-1]
    b = Chat([a.messages[0], *(message for turn in turns for message in turn), a.messages[-1]])
    return chat_pair("turns", a, b, "REORDERED")


def history_edited(random: Random) -> ChatPair | None:
    """A word, a sentence or all of an earlier message is other."""
    a = chat_of(random, random.randint(2, 4))
    place = random.randrange(1, len(a.messages) - 1)
    old = a.messages[place]["content"]
    words = old.split(" ")
    words[random.randrange(len(words))] = "replacement"
    new = random.choice((" ".join(words), f"Corrected: {old}", sentences(random, 2), old[: len(old) // 2]))
    b = with_fields(a, place, content=new)
    return (
        None if new == old else chat_pair("one message", a, random.choice((b, next_turn(random, b))), "HISTORY_EDITED")
    )


def history_truncated(random: Random) -> ChatPair | None:
    """The oldest turns are left out, often as the conversation goes on."""
    a = chat_of(random, random.randint(2, 5))
    gone = 2 * random.randint(1, (len(a.messages) - 2) // 2)
    b = Chat([a.messages[0], *a.messages[1 + gone :]])
    return chat_pair("oldest turns", a, random.choice((b, next_turn(random, b))), "HISTORY_TRUNCATED")


def system_grew(random: Random) -> ChatPair | None:
    """A rule or a tool more."""
    a = chat_of(random, random.randint(0, 2), random.randint(0, 3))
    if a.tools and random.random() < 0.5:
        more = {"type": "function", "function": tool(random, "another_tool")}
        at = random.randint(0, len(a.tools))
        return chat_pair("a tool more", a, Chat(a.messages, [*a.tools[:at], more, *a.tools[at:]]), "SYSTEM_GREW")
    rule = random.choice((" ", "\n\n# More\n\n")) + random.choice(SENTENCES["en"])
    return chat_pair("a rule more", a, with_fields(a, 0, content=a.messages[0]["content"] + rule), "SYSTEM_GREW")


EFFORTS: Final = (("none", "high"), ("none", "max"), ("high", "max"), ("low", "high"), ("low", "max"))


def effort(random: Random) -> ChatPair | None:
    """Another reasoning effort."""
    a = chat_of(random, random.randint(0, 2), random.choice((0, 0, 2)))
    one, other = (Chat(a.messages, a.tools, {"thinking": True, "effort": each}) for each in random.choice(EFFORTS))
    return chat_pair("effort", *random.choice(((one, other), (other, one))), "EFFORT_PREFIX")


def reasoning_missing(random: Random) -> ChatPair | None:
    """A client that did not send the reasoning back, where the rendering keeps it."""
    tools = random.choice((0, 2))
    options: dict[str, Any] = {"thinking": True} if tools else {"thinking": True, "drop_thinking": False}
    a = chat_of(random, random.randint(1, 3), tools, **options)
    b = copy.deepcopy(a)
    answers = [message for message in b.messages if message["role"] == "assistant"]
    for message in random.choice((answers, [random.choice(answers)])):
        del message["reasoning"]
    return chat_pair("reasoning", a, random.choice((b, next_turn(random, b))), "REASONING_MISSING")


def template_options(random: Random) -> ChatPair | None:
    """The same messages, thinking or not; the reasoning of earlier turns kept or not."""
    if random.random() < 0.5:
        a = chat_of(random, random.randint(0, 2))
        return chat_pair("thinking", a, Chat(a.messages, [], {"thinking": True}), "TEMPLATE")
    a = chat_of(random, random.randint(1, 3), thinking=True)
    return chat_pair("reasoning kept", a, Chat(a.messages, [], {"thinking": True, "drop_thinking": False}), "TEMPLATE")


def thinking_history(random: Random) -> ChatPair | None:
    """The next turn, in which the rendering leaves out the reasoning that was generated."""
    asked = chat_of(random, random.randint(0, 2), thinking=True)
    following = next_turn(random, asked)
    return chat_pair("next turn, thinking", Chat(following.messages[:-1], [], asked.options), following, "TEMPLATE")


def goes_on(random: Random) -> ChatPair | None:
    """The next turn where nothing is left out: chat mode, tools, or the reasoning kept."""
    tools, options = random.choice(
        ((0, {}), (2, {}), (2, {"thinking": True}), (0, {"thinking": True, "drop_thinking": False}))
    )
    asked = chat_of(random, random.randint(0, 3), tools, **options)
    following = next_turn(random, asked)
    return chat_pair(
        "next turn",
        random.choice((asked, Chat(following.messages[:-1], asked.tools, asked.options))),
        following,
        "EXTENDS",
    )


def last_question(random: Random) -> ChatPair | None:
    """Another question behind the same history: nothing earlier was changed."""
    a = chat_of(random, random.randint(0, 3))
    return chat_pair("question", a, with_fields(a, -1, content="Which one is cheaper?"), "TEXT")


TEXTUAL: Final = (
    edits_of_clocks.EDITS
    | edits_of_values.EDITS
    | edits_of_characters.EDITS
    | edits_of_layout.EDITS
    | edits_of_words.EDITS
)
INSIDE: Final = (
    "TIME", "TIME", "TIME", "UUID", "COUNTER", "CRLF", "UNICODE_FORM", "SPACE_KIND", "ZERO_WIDTH", "QUOTE",
    "HOMOGLYPH", "FULL_WIDTH",
    "TRAILING_SPACE", "TAB", "SPACE_COUNT", "PUNCTUATION", "CASE", "ESCAPED", "EMOJI", "DASH", "NUMBER_FORM",
)  # fmt: skip


def text_in_message(random: Random) -> ChatPair | None:
    """An edit of text in the system message or the last question: its own name says more than that of the place."""
    made = random.choice(TEXTUAL[random.choice(INSIDE)])(random)
    if made is None or not made.movable or made.a == made.b or "<｜" in made.a:
        return None
    chat = chat_of(random, random.randint(0, 2), random.choice((0, 0, 2)))
    place = random.choice((0, 0, -1))
    frame = f"{sentences(random, 1)}\n{{}}\n{sentences(random, 1)}"
    a, b = (with_fields(chat, place, content=frame.replace("{}", text)) for text in (made.a, made.b))
    return chat_pair(f"{made.recipe} in message {place}", a, b, *made.labels)


def text_in_history(random: Random) -> ChatPair | None:
    """A clock in an earlier message: an edited history, and a time; both names are right."""
    made = edits_of_clocks.clock(random)
    if made is None:
        return None
    chat = chat_of(random, random.randint(1, 3))
    place = random.randrange(1, len(chat.messages) - 1)
    a, b = (with_fields(chat, place, content=text) for text in (made.a, made.b))
    return chat_pair("clock in an earlier message", a, b, "TIME", "HISTORY_EDITED") if made.a != made.b else None


def newline_at_end(random: Random) -> ChatPair | None:
    """A line end behind the text of a message."""
    chat = chat_of(random, random.randint(0, 2))
    place = random.choice((0, -1))
    longer = with_fields(chat, place, content=chat.messages[place]["content"] + "\n" * random.choice((1, 1, 2)))
    return chat_pair("line end of a message", *random.choice(((chat, longer), (longer, chat))), "TRAILING_NEWLINE")


def attribution_header(random: Random) -> ChatPair | None:
    """The billing line at the head of the system message."""
    made = edits_of_values.attribution_header(random)
    if made is None or not made.a.startswith("x-"):
        return None
    chat = chat_of(random, random.randint(0, 2), random.choice((0, 2)))
    return chat_pair(
        "billing line", with_fields(chat, 0, content=made.a), with_fields(chat, 0, content=made.b), *made.labels
    )


def same_prompt(random: Random) -> ChatPair | None:
    """Requests that differ and render alike: another name for the reasoning, other blanks in arguments."""
    tools = random.choice((0, 2))
    a = chat_of(random, 1, tools, thinking=True, drop_thinking=False)
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
    a = Chat(
        [
            *a.messages[:2],
            {**a.messages[2], "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
        ],
        a.tools,
        a.options,
    )
    b = copy.deepcopy(a)
    kind = random.randrange(4)
    if kind == 0:
        b.messages[2]["reasoning_content"] = b.messages[2].pop("reasoning")
    elif kind == 1:
        b.messages[2]["tool_calls"][0]["function"]["arguments"] = random.choice(
            ('{"a":1,"b":2}', '{ "a": 1,\n "b": 2 }')
        )
    elif kind == 2:
        b.options["effort"] = "low"
    else:
        b.messages[1]["name"] = "zoe"
    return chat_pair("renders alike", a, b, "NONE")


EDITS: Final[tuple[Callable[[Random], ChatPair | None], ...]] = (
    tools_reordered, keys_reordered, messages_reordered, history_edited, history_truncated, system_grew, effort,
    reasoning_missing,
    template_options, thinking_history, goes_on, last_question, text_in_message,
    text_in_history,
    newline_at_end, attribution_header, same_prompt,
    edits_of_histories.result_edited, edits_of_histories.arguments_edited, edits_of_histories.middle_left_out,
    edits_of_histories.two_changes,
)  # fmt: skip


def labelled_chats(seed: int, each: int) -> Iterator[tuple[str, ChatPair]]:
    """`each` pairs of every edit, with the name that they are counted under."""
    for edit in EDITS:
        # There are many ways to change two things.
        for number in range(3 * each if edit is edits_of_histories.two_changes else each):
            random = Random(f"{seed} {edit.__name__} {number}")
            made = None
            while made is None:
                made = edit(random)
            yield f"chat: {edit.__name__.replace('_', ' ')}", made
