"""What became of the tools between two requests: another order of them or of their keys, more of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.structure.change import Change, Mend, Told, listed, with_tools
from shadowviz.tokens.structure.places import Place
from shadowviz.tokens.structure.plain_json import disordered, moved_keys
from shadowviz.tokens.structure.view import canonical, ordered


def tool_changes(a: Told, b: Told) -> list[Change]:
    """Changes of the tool definitions that have a name; edits inside them have none.

    REORDERED with subject `tools`, `keys` or `items` (of a list), SYSTEM_GREW with subject `tools`.
    """
    if not a.view.tools and not b.view.tools:
        return []
    place = Place(a.layout.tools(), b.layout.tools())
    return [*_reordered(a, b, place), *_rewritten(a, b, place), *_grown(a, b, place)]


def _reordered(a: Told, b: Told, place: Place) -> list[Change]:
    rank = {name: number for number, name in enumerate(_names(a.view.tools))}
    names = _names(b.view.tools)
    shared = [number for number, name in enumerate(names) if name in rank]
    sorted_back = sorted(shared, key=lambda number: rank[names[number]])
    if sorted_back == shared:
        return []
    tools = list(b.view.raw_tools)
    for slot, number in zip(shared, sorted_back, strict=True):
        tools[slot] = b.view.raw_tools[number]
    first = next(slot for slot, number in zip(shared, sorted_back, strict=True) if slot != number)
    wanted = names[sorted_back[shared.index(first)]]
    return [
        Change(
            Cause.REORDERED,
            "tools",
            place,
            f"the same tools in another order: {b.name} has {_shown(names[first])} where {a.name} has {_shown(wanted)}",
            "sort the tools by name before sending them",
            (Mend(with_tools(b.view, tools)),),
        )
    ]


def _rewritten(a: Told, b: Told, place: Place) -> list[Change]:
    """Tools that say the same, but not in the same order of keys or of items."""
    known = dict(zip(_names(a.view.tools), zip(a.view.tools, a.view.raw_tools, strict=True), strict=True))
    found: dict[str, list[str]] = {"keys": [], "items": []}
    tools = {"keys": list(b.view.raw_tools), "items": list(b.view.raw_tools)}
    details: dict[str, str] = {}
    for number, (name, tool) in enumerate(zip(_names(b.view.tools), b.view.tools, strict=True)):
        old, raw = known.get(name, (tool, None))
        if ordered(old) == ordered(tool):
            continue
        if canonical(old) == canonical(tool):
            subject = "keys"
        elif disordered(old) == disordered(tool):
            subject = "items"
        else:
            continue
        found[subject].append(_shown(name))
        tools[subject][number] = raw
        details.setdefault(subject, moved_keys(old, tool) if subject == "keys" else "the items of a list")
    return [
        Change(
            Cause.REORDERED,
            subject,
            place,
            f"{listed(names)}: the same definition with {details[subject]} in another order in {b.name}",
            "write the tools out with a fixed order of keys, and of lists whose order means nothing",
            (Mend(with_tools(b.view, tools[subject])),),
        )
        for subject, names in found.items()
        if names
    ]


def _grown(a: Told, b: Told, place: Place) -> list[Change]:
    old, new = _names(a.view.tools), _names(b.view.tools)
    more, fewer = (b, a) if set(old) < set(new) else (a, b)
    added = [name for name in _names(more.view.tools) if name not in set(_names(fewer.view.tools))]
    if not (set(old) < set(new) or set(new) < set(old)):
        return []
    if more is b:
        mended = [tool for name, tool in zip(new, b.view.raw_tools, strict=True) if name in set(old)]
    else:
        kept = dict(zip(new, b.view.raw_tools, strict=True))
        mended = [kept.get(name, tool) for name, tool in zip(old, a.view.raw_tools, strict=True)]
    return [
        Change(
            Cause.SYSTEM_GREW,
            "tools",
            place,
            f"{more.name} defines {len(added)} {'tool' if len(added) == 1 else 'tools'} more than {fewer.name}: "
            f"{listed([_shown(name) for name in added])}",
            "define all tools from the first request on: they stand before everything else",
            (Mend(with_tools(b.view, mended)),),
        )
    ]


def _names(tools: Sequence[Any]) -> list[str]:
    """One name a tool, none twice."""
    names: list[str] = []
    seen: set[str] = set()
    for tool in tools:
        name = tool.get("name") if isinstance(tool, Mapping) else None
        unique = name if isinstance(name, str) else canonical(tool)
        number = 1
        while unique in seen:
            number += 1
            unique = f"{name} ({number})"
        seen.add(unique)
        names.append(unique)
    return names


def _shown(name: str) -> str:
    return inert(name if len(name) <= 40 else f"{name[:40]}...")
