"""What differs between two versions of one message."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.structure.change import Change, Mend, Told, place_of, quoted, with_message
from shadowviz.tokens.structure.plain_json import moved_keys
from shadowviz.tokens.structure.view import Item, canonical, ordered, parsed

_UNCHANGED = "send earlier messages exactly as they were sent before"
_KEYS = "write JSON out with a fixed order of keys, or send back the text that was there"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two versions of one message, on their sides."""

    a: Told
    b: Told
    x: Item
    y: Item

    def change(self, cause: Cause, subject: str, detail: str, advice: str, mended: Mapping[str, Any]) -> Change:
        """A change of this message, which is undone by putting another in its place."""
        undone = Mend(with_message(self.b.view, self.y.index, mended))
        place = place_of(self.a, self.b, {self.x.index}, {self.y.index})
        return Change(cause, subject, place, detail, advice, (undone,))

    def with_field(self, name: str) -> dict[str, Any]:
        """B's message with one field as A has it."""
        return {**self.y.raw, name: self.x.raw.get(name)}


def edits(a: Told, b: Told, x: Item, y: Item) -> list[Change]:
    """Changes between two messages in the same place.

    REORDERED with subject `keys` (of arguments, or of JSON in the text) or `tool calls`, else HISTORY_EDITED.
    """
    pair = _Pair(a, b, x, y)
    if x.role == y.role and x.key != y.key and (orders := _reordered(pair)):
        return orders
    return [pair.change(Cause.HISTORY_EDITED, inert(y.name), _edit_detail(pair), _UNCHANGED, x.raw)]


def argument_order(a: Told, b: Told, x: Item, y: Item) -> list[Change]:
    """REORDERED with subject `keys` where messages that say the same have a call's arguments in another order."""
    for old, new in zip(x.calls, y.calls, strict=True):
        if ordered(old.arguments) != ordered(new.arguments):
            moved = moved_keys(old.arguments, new.arguments)
            detail = f"{inert(y.name)}: the call of {inert(new.name[:40])} has {moved} in another order in {b.name}"
            pair = _Pair(a, b, x, y)
            return [pair.change(Cause.REORDERED, "keys", detail, _KEYS, pair.with_field("tool_calls"))]
    return []


def _reordered(pair: _Pair) -> list[Change]:
    x, y, b = pair.x, pair.y, pair.b
    name = inert(y.name)
    found: list[Change] = []
    if x.text != y.text:
        old, new = parsed(x.text), parsed(y.text)
        if isinstance(old, str) or isinstance(new, str) or canonical(old) != canonical(new):
            return []
        if ordered(old) != ordered(new):
            detail = f"{name}: the same JSON with {moved_keys(old, new)} in another order in {b.name}"
            found.append(pair.change(Cause.REORDERED, "keys", detail, _KEYS, pair.with_field("content")))
    calls = [call.key for call in x.calls], [call.key for call in y.calls]
    if calls[0] != calls[1]:
        if sorted(calls[0]) != sorted(calls[1]):
            return []
        detail = f"{name}: the same tool calls in another order in {b.name}"
        advice = "send tool calls back in the order in which they were generated"
        found.append(pair.change(Cause.REORDERED, "tool calls", detail, advice, pair.with_field("tool_calls")))
    return found if x.rest == y.rest else []


def _edit_detail(pair: _Pair) -> str:
    a, b, x, y = pair.a, pair.b, pair.x, pair.y
    name = inert(y.name) if x.index == y.index else f"{inert(y.name)} of {b.name}, message {x.index} of {a.name},"
    if x.role != y.role:
        return f"{name} has the role {inert(y.role[:40])} in {b.name} and {inert(x.role[:40])} in {a.name}"
    if x.text != y.text:
        place = _first_difference(x.text, y.text)
        old, new = x.text[place:], y.text[place:]
        return f"{name} was changed at character {place}: {quoted(old)} in {a.name}, {quoted(new)} in {b.name}"
    if (x.reasoning or "") != (y.reasoning or ""):
        return f"{name} has other reasoning in {b.name}"
    if x.calls != y.calls:
        return f"{name} has other tool calls in {b.name}"
    return f"{name} has other fields in {b.name}"


def _first_difference(first: str, second: str) -> int:
    length = min(len(first), len(second))
    return next((place for place in range(length) if first[place] != second[place]), length)
