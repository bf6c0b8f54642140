"""The same messages with another text: templates that leave reasoning out, reasoning that did not come back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.side import Conversation
from shadowviz.tokens.structure.change import (
    Change,
    Mend,
    Told,
    names_of,
    place_of,
    with_messages,
    with_options,
)
from shadowviz.tokens.structure.edits import argument_order, edits
from shadowviz.tokens.structure.match import Match
from shadowviz.tokens.structure.places import Place
from shadowviz.tokens.structure.view import (
    REASONING_FIELDS,
    Item,
    canonical,
    option,
    ordered,
)

OPENING: Final = "generation prompt"
THINKING_OPTIONS: Final = ("thinking", "enable_thinking")

KEEP_REASONING: Final = (
    "keep the reasoning in the history: send it back as `reasoning_content` and render with `drop_thinking` off"
)


def template_changes(a: Told, b: Told, match: Match) -> Iterator[Change]:
    """Changes in messages that say the same on both sides.

    REASONING_MISSING; TEMPLATE with subject `reasoning` where one text leaves out what the messages hold, `tools`, or
    none; REORDERED with subject `keys`; HISTORY_EDITED where reasoning or ids are other ones.
    """
    missing: list[tuple[Item, Item]] = []
    rendered: list[tuple[Item, Item]] = []
    same = list(_same_messages(a, b, match))
    for x, y in same:
        if a.layout.message_text(x.index) == b.layout.message_text(y.index):
            continue
        orders = argument_order(a, b, x, y)
        yield from orders
        if (x.reasoning or "") != (y.reasoning or ""):
            if x.reasoning and y.reasoning:
                yield from edits(a, b, x, y)
            else:
                missing.append((x, y))
        elif orders:
            continue
        elif canonical(x.raw) != canonical(y.raw) and _other_ids(x, y):
            yield from edits(a, b, x, y)
        elif _leaves_out(a, b, x, y) or _follows_the_same(x, y, same):
            rendered.append((x, y))
    for x, y in _answers_in_one_place(a, b, match):
        if bool(x.reasoning) != bool(y.reasoning):
            missing.append((x, y))
        elif x.reasoning == y.reasoning and (_leaves_out(a, b, x, y) or _marker(a, x) != _marker(b, y)):
            rendered.append((x, y))
    if missing:
        yield _reasoning_missing(a, b, missing)
    if rendered:
        yield _rendered_otherwise(a, b, rendered)
    yield from _opened_otherwise(a, b, match)
    yield from _other_tools(a, b)


def same_conversation(a: Told, b: Told, match: Match) -> bool:
    """Whether both sides have the same messages and tools, down to the order of keys in tools."""
    heads = [[item.key for item in side.view.items[: side.view.leading]] for side in (a, b)]
    return not match.blocks and heads[0] == heads[1] and ordered(a.view.tools) == ordered(b.view.tools)


def edited_places(a: Told, b: Told, match: Match) -> Iterator[Place]:
    """Where messages or tools stand that are not the same on both sides."""
    same = list(_same_messages(a, b, match))
    in_a, in_b = {x.index for x, _ in same}, {y.index for _, y in same}
    for side, known in ((a, in_a), (b, in_b)):
        for item in side.view.items:
            if item.index not in known and (tokens := side.layout.messages({item.index})):
                yield Place(tokens, None) if side is a else Place(None, tokens)
    if ordered(a.view.tools) != ordered(b.view.tools):
        yield Place(a.layout.tools(), b.layout.tools())


def rendered_otherwise(a: Told, b: Told) -> Change:
    """TEMPLATE without a place, for two texts of the same conversation."""
    detail = f"the same messages and tools are rendered as another text in {b.name} than in {a.name}"
    return Change(Cause.TEMPLATE, "", None, detail, "render all requests with one template and one set of options")


def _same_messages(a: Told, b: Told, match: Match) -> Iterable[tuple[Item, Item]]:
    for x, y in zip(a.view.items[: a.view.leading], b.view.items[: b.view.leading], strict=False):
        if x.key == y.key:
            yield x, y
    for i, j in match.kept:
        yield a.view.items[i], b.view.items[j]


def _answers_in_one_place(a: Told, b: Told, match: Match) -> Iterator[tuple[Item, Item]]:
    """Answers that do not say the same, though what stands before them does."""
    for block in match.blocks:
        for i, j in zip(range(block.a_start, block.a_stop), range(block.b_start, block.b_stop), strict=False):
            x, y = a.view.items[i], b.view.items[j]
            if x.role == y.role == "assistant" and not {i, j} & (match.moved_in_a | match.moved_in_b):
                yield x, y
            break


def _marker(side: Told, item: Item) -> str:
    return side.layout.text_of(f"{item.name}: role marker")


def _follows_the_same(x: Item, y: Item, same: Sequence[tuple[Item, Item]]) -> bool:
    """Whether the messages before two are the same too: a marker of a role may depend on what stands before it."""
    before = {(left.index + 1, right.index + 1) for left, right in same}
    return x.index == y.index == 0 or (x.index, y.index) in before


def _other_ids(x: Item, y: Item) -> bool:
    ids = [
        [item.raw.get("id"), item.raw.get("tool_call_id"), [call.get("id") for call in _calls(item)]] for item in (x, y)
    ]
    return canonical(ids[0]) != canonical(ids[1])


def _calls(item: Item) -> list[dict[str, object]]:
    calls = item.raw.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list | tuple) else []


def _reasoning_missing(a: Told, b: Told, pairs: list[tuple[Item, Item]]) -> Change:
    lacking, having = (b, a) if pairs[0][0].reasoning else (a, b)
    items = [y if lacking is b else x for x, y in pairs]
    messages = [item.raw for item in b.view.items]
    for x, y in pairs:
        messages[y.index] = {**_without_reasoning(y), **_reasoning_of(x)}
    mended = with_messages(b.view, messages)
    return Change(
        Cause.REASONING_MISSING,
        "",
        place_of(a, b, {x.index for x, _ in pairs}, {y.index for _, y in pairs}),
        f"{names_of(items)}: {lacking.name} lacks the reasoning that {having.name} has",
        KEEP_REASONING,
        (Mend(mended), _all_kept(a, mended)),
    )


def _rendered_otherwise(a: Told, b: Told, pairs: list[tuple[Item, Item]]) -> Change:
    place = place_of(a, b, {x.index for x, _ in pairs}, {y.index for _, y in pairs})
    left_out = [pair for pair in pairs if _leaves_out(a, b, *pair) is not None]
    mends = (_all_kept(a, b.view.conversation),)
    if not left_out:
        items = [y for _, y in pairs]
        detail = f"{names_of(items)}: the same in the messages, rendered in another way in {b.name} than in {a.name}"
        advice = "render all requests with one template and one set of options"
        return Change(Cause.TEMPLATE, "", place, detail, advice, mends)
    without = _leaves_out(a, b, *left_out[0])
    items = [y if without is b else x for x, y in left_out]
    detail = f"{names_of(items)}: the reasoning is in the messages, and the text of {without.name if without else ''}"
    return Change(Cause.TEMPLATE, "reasoning", place, f"{detail} leaves it out", KEEP_REASONING, mends)


def _leaves_out(a: Told, b: Told, x: Item, y: Item) -> Told | None:
    """The side whose text lacks the reasoning that both sides' messages have."""
    if not x.reasoning:
        return None
    held = [x.reasoning in side.layout.message_text(item.index) for side, item in ((a, x), (b, y))]
    if held[0] == held[1]:
        return None
    return b if held[0] else a


def _opened_otherwise(a: Told, b: Told, match: Match) -> list[Change]:
    """One side ends where an answer begins; the other goes on with an answer that begins in another way."""
    if len(match.blocks) != 1:
        return []
    block = match.blocks[0]
    if block.a_start == block.a_stop == len(a.view.items):
        asked, answered, index = a, b, block.b_start
    elif block.b_start == block.b_stop == len(b.view.items):
        asked, answered, index = b, a, block.a_start
    else:
        return []
    item = answered.view.items[index]
    opening, text = asked.layout.text_of(OPENING), answered.layout.message_text(index)
    if item.role != "assistant" or not opening or not text or text.startswith(opening):
        return []
    opened, answer = asked.layout.labelled(OPENING), answered.layout.messages({index})
    place = Place(opened, answer) if asked is a else Place(answer, opened)
    mends = (_all_kept(a, b.view.conversation),)
    name = inert(item.name)
    if not item.reasoning and any(option(asked.view, key) is True for key in THINKING_OPTIONS):
        detail = f"{name}: {answered.name} lacks the reasoning with which {asked.name} lets the answer begin"
        return [Change(Cause.REASONING_MISSING, "", place, detail, KEEP_REASONING, mends)]
    detail = f"{name}: its text in {answered.name} does not begin with the generation prompt of {asked.name}"
    if item.reasoning and item.reasoning not in text:
        detail = f"{name}: the reasoning is in the messages, and the text of {answered.name} leaves it out"
    return [Change(Cause.TEMPLATE, "reasoning" if item.reasoning else "", place, detail, KEEP_REASONING, mends)]


def _other_tools(a: Told, b: Told) -> list[Change]:
    same = a.view.tools and ordered(a.view.tools) == ordered(b.view.tools)
    if not same or a.layout.tools_text() == b.layout.tools_text():
        return []
    detail = f"the same tools are rendered as another text in {b.name} than in {a.name}"
    advice = "render all requests with one template, and give the tools in one place"
    return [Change(Cause.TEMPLATE, "tools", Place(a.layout.tools(), b.layout.tools()), detail, advice)]


def _all_kept(a: Told, b: Conversation) -> Mend:
    """Both sides with the reasoning of earlier turns in their text."""
    kept = {"drop_thinking": False}
    return Mend(replace(b, options={**b.options, **kept}), with_options(a.view, kept))


def _without_reasoning(item: Item) -> dict[str, object]:
    return {name: value for name, value in item.raw.items() if name not in REASONING_FIELDS}


def _reasoning_of(item: Item) -> dict[str, object]:
    return {name: item.raw[name] for name in REASONING_FIELDS if name in item.raw}
