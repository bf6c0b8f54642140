"""Differences inside JSON that is part of a text."""

import json
import re
from typing import Any, Final

from shadowviz.tokens.causes.blanks import blank
from shadowviz.tokens.causes.containers import Container, containers_of, leaf_of
from shadowviz.tokens.causes.edit import Edit, Named, Stretch
from shadowviz.tokens.causes.escapes import unbackslashed
from shadowviz.tokens.finding import Cause

_BRACKETS: Final = frozenset("{}[]")


class InJson:
    """The JSON values around both sides of an edit, which may be none."""

    def __init__(self, edit: Edit) -> None:
        self.edit = edit
        self._around = [_values_around(stretch) for stretch in edit]

    @property
    def inside(self) -> bool:
        """Whether both sides lie in a JSON value."""
        return all(self._around)

    @property
    def in_strings(self) -> bool:
        """Whether both sides lie between the quotation marks of a string."""
        return self.inside and all(
            (leaf := leaf_of(around[0], stretch))
            and leaf.found.startswith('"')
            and leaf.start < stretch.start
            and stretch.stop < leaf.stop
            for around, stretch in zip(self._around, self.edit, strict=True)
        )

    def form(self) -> Named | None:
        """JSON_ESCAPE or JSON_SPACING, where the JSON says the same."""
        if not self.inside:
            return None
        if self.in_strings:
            return self._escape()
        a, b = self.edit.a.found, self.edit.b.found
        if all(map(blank, a + b)):
            return Named(Cause.JSON_SPACING, self.edit.grown(blank))
        leaves = self._leaves()
        return Named(Cause.JSON_ESCAPE, leaves) if leaves and _same_string(leaves) else None

    def order(self) -> Named | None:
        """REORDERED, where the keys or the items of a value stand in another order."""
        for a, b in self._pairs():
            if _same_letters(a, b) and (subject := reordered(a.value, b.value)):
                return Named(Cause.REORDERED, Edit(a.where, b.where), subject)
        return None

    def value(self) -> Named | None:
        """JSON_VALUE, where nothing else is known."""
        if not self.inside:
            return None
        leaves = self._leaves()
        return Named(Cause.JSON_VALUE, leaves if leaves and leaves.a.found != leaves.b.found else self.edit)

    def _escape(self) -> Named | None:
        leaves = self._leaves()
        if leaves and _same_string(leaves):
            return Named(Cause.JSON_ESCAPE, leaves)
        for reach in (0, 1, 5):
            wide = self.edit.widened(reach, reach)
            a, b = wide.a.found, wide.b.found
            if (unbackslashed(a) == b or unbackslashed(b) == a) and '"' not in self.edit.a.found + self.edit.b.found:
                return Named(Cause.JSON_ESCAPE, wide)
        return None

    def _leaves(self) -> Edit | None:
        found = [leaf_of(around[0], stretch) for around, stretch in zip(self._around, self.edit, strict=True)]
        return Edit(found[0], found[1]) if found[0] and found[1] else None

    def _pairs(self) -> list[tuple[Container, Container]]:
        """Values of both sides that stand for each other, innermost first."""
        a, b = self._around
        depth = min(len(a), len(b))
        inner = list(zip(a, b, strict=False)) if len(a) != len(b) else []
        return inner + list(zip(a[len(a) - depth :], b[len(b) - depth :], strict=True))


def _values_around(stretch: Stretch) -> list[Container]:
    """Values that hold a stretch; a lone number in brackets inside a text is a reference, such as `[12]`."""
    found = containers_of(stretch)
    if len(found) == 1 and len(stretch.text.strip()) > len(found[0].where.found):
        match found[0].value:
            case [int()]:
                return []
    return found


def _same_string(leaves: Edit) -> bool:
    try:
        a, b = (json.loads(leaf.found, strict=False) for leaf in leaves)
    except (ValueError, RecursionError):
        return False
    return isinstance(a, str) and a == b and leaves.a.found != leaves.b.found


def _same_letters(a: Container, b: Container) -> bool:
    """Whether two values may be one in another order, told at little cost."""
    texts = [re.sub(r"\s+", "", container.where.found) for container in (a, b)]
    return len(texts[0]) == len(texts[1]) and sorted(texts[0]) == sorted(texts[1])


def reordered(a: Any, b: Any) -> str:
    """What of two equal values stands in another order: `tools`, `messages`, `items`, `keys`; else empty."""
    if not _alike(a, b):
        return ""
    return _moved(a, b)


def _alike(a: Any, b: Any) -> bool:
    try:
        return _canonical(a) == _canonical(b)
    except (RecursionError, TypeError, ValueError):
        return False


def _canonical(value: Any) -> str:
    """One text for all orders of keys and items."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(str(key))}:{_canonical(item)}" for key, item in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(_canonical, value))) + "]"
    return json.dumps(value, default=repr)


def _moved(a: Any, b: Any) -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return "keys"
        return next((found for key in a if (found := _moved(a[key], b[key]))), "")
    if isinstance(a, list) and isinstance(b, list):
        if [_canonical(item) for item in a] != [_canonical(item) for item in b]:
            return kind_of(a)
        return next((found for x, y in zip(a, b, strict=True) if (found := _moved(x, y))), "")
    return ""


def kind_of(items: list[Any]) -> str:
    """What the members of a list are: `tools`, `messages` or `items`."""
    if items and all(isinstance(item, dict) for item in items):
        if all("role" in item for item in items):
            return "messages"
        if all("function" in item or ("name" in item and len(item) > 1) for item in items):
            return "tools"
    return "items"
