"""One way in which a conversation changed, before it is looked for in the tokens."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.side import Conversation, Side
from shadowviz.tokens.structure.places import Layout, Place, layout_of
from shadowviz.tokens.structure.view import Item, View, view_of

NAMED = 4
"""Names that a sentence lists before it counts the rest."""


@dataclass(frozen=True)
class Mend:
    """Conversations in which a change is undone; `a` is None where A stays as it is."""

    b: Conversation
    a: Conversation | None = None


@dataclass(frozen=True)
class Change:
    """A cause that the structure shows, and where its tokens are looked for."""

    cause: Cause
    subject: str
    place: Place | None
    """None: wherever nothing else explains the difference."""
    detail: str
    advice: str
    mends: tuple[Mend, ...] = ()
    """Tried in turn until one changes the text; none where it is not known what would."""


@dataclass(frozen=True)
class Told:
    """One side: what it calls itself, its conversation and its labelled tokens."""

    name: str
    view: View
    layout: Layout


def told(side: Side) -> Told:
    """A side that has a conversation, read."""
    assert side.conversation is not None, "sides without a conversation are left out before"
    return Told(inert(side.name), view_of(side.conversation), layout_of(side))


def place_of(a: Told, b: Told, in_a: Collection[int], in_b: Collection[int]) -> Place:
    """Where some messages of A and some of B stand."""
    return Place(a.layout.messages(in_a), b.layout.messages(in_b))


def with_messages(view: View, messages: Iterable[Mapping[str, Any]]) -> Conversation:
    """The conversation with other messages."""
    return replace(view.conversation, messages=tuple(dict(message) for message in messages))


def with_message(view: View, index: int, message: Mapping[str, Any]) -> Conversation:
    """The conversation with another message in one place."""
    messages = [item.raw for item in view.items]
    messages[index] = message
    return with_messages(view, messages)


def with_options(view: View, options: Mapping[str, Any]) -> Conversation:
    """The conversation with some options set."""
    return replace(view.conversation, options={**view.conversation.options, **options})


def with_tools(view: View, tools: Sequence[Any]) -> Conversation:
    """The conversation with other tools, in the place where it has its own."""
    holder = view.tools_in
    if holder is None:
        return replace(view.conversation, tools=tuple(tools))
    return with_message(view, holder, {**view.items[holder].raw, "tools": list(tools)})


def listed(names: Sequence[str]) -> str:
    """A few names as they may stand in a sentence, the rest as a number."""
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def names_of(items: Sequence[Item]) -> str:
    """Messages as a sentence names them: `message 1 (user)`, `messages 1 to 4`."""
    if len(items) > 2 and items[-1].index - items[0].index == len(items) - 1:
        return f"messages {items[0].index} to {items[-1].index}"
    return listed([inert(item.name) for item in items])


def quoted(text: str, limit: int = 40) -> str:
    """The head of a text, printable."""
    if not text:
        return "nothing"
    shown = inert(text[:limit])
    return f"'{shown}'" if len(text) <= limit else f"'{shown}...'"
