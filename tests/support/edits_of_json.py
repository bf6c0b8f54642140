"""Edits of JSON inside prompts, and of the order of things."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

from labelled import Edit, Pair, around, edited, pair
from prompt_texts import NAMES, SENTENCES, WORDS, document, sentences, tool

FRAMES: Final = (
    "{}",
    "{}",
    "Context: {}",
    "```json\n{}\n```",
    "Result:\n{}\nAnswer briefly.",
    "<tool_result>{}</tool_result>",
)


def _framed(random: Random, recipe: str, a: str, b: str, *labels: str) -> Pair | None:
    if a == b:
        return None
    frame = random.choice(FRAMES)
    return pair(recipe, *around(random, frame.replace("{}", a), frame.replace("{}", b)), *labels)


def _value(random: Random) -> Any:
    return random.choice(
        (
            lambda: document(random),
            lambda: {"results": [document(random, 3) for _ in range(random.randint(2, 5))], "total": 2},
            lambda: [document(random, 2) for _ in range(3)],
            lambda: {"type": "function", "function": tool(random)},
        )
    )()


def escape(random: Random) -> Pair | None:
    """Letters of any script written as escapes; the slash; what HTML forbids; emoji as two surrogates."""
    texts = [
        random.choice(SENTENCES[random.choice([k for k in SENTENCES if k != "en"])])
        for _ in range(random.randint(1, 4))
    ]
    value = {"q": texts[0], "docs": [f"{text} \U0001f600" if random.random() < 0.2 else text for text in texts], "n": 3}
    plain = json.dumps(value, ensure_ascii=False)
    return _framed(random, "ensure_ascii", plain, json.dumps(value), "JSON_ESCAPE")


def escape_some(random: Random) -> Pair | None:
    """Single characters as escapes: a slash, an ampersand, an angle bracket, an apostrophe."""
    text = json.dumps(
        {"url": "https://example.org/a/b?x=1&y=2", "html": "<b>don't</b> <i>x</i>", **document(random, 2)}
    )
    mark, new = random.choice((("/", "\\/"), ("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003E"), ("'", "\\u0027")))
    made = edited(
        random, f"{mark} as {new}", text, [(m.start(), m.end(), new) for m in re.finditer(mark, text)], "JSON_ESCAPE"
    )
    return made and _framed(random, made.recipe, made.a, made.b, "JSON_ESCAPE")


STYLES: Final[tuple[Callable[[Any], str], ...]] = (
    json.dumps,
    lambda value: json.dumps(value, separators=(",", ":")),
    lambda value: json.dumps(value, separators=(",", ": ")),
    lambda value: json.dumps(value, separators=(", ", ":")),
    lambda value: json.dumps(value, separators=(" , ", " : ")),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, indent=4),
    lambda value: json.dumps(value, indent=0),
    lambda value: re.sub(r"^\{(.*)\}$", r"{ \1 }", json.dumps(value)),
)


def spacing(random: Random) -> Pair | None:
    """The same JSON by two writers."""
    value, (one, other) = _value(random), random.sample(STYLES, 2)
    return _framed(random, "two writers", one(value), other(value), "JSON_SPACING")


def one_blank(random: Random) -> Pair | None:
    """A few blanks behind commas and colons are gone."""
    text = json.dumps(_value(random), ensure_ascii=False)
    found = re.finditer(r'"(?:[^"\\]|\\.)*"|[:,] ', text)
    sites = [(m.end() - 1, m.end(), "") for m in found if not m[0].startswith('"')]
    made = edited(random, "some blanks", text, sites, "JSON_SPACING")
    return made and _framed(random, made.recipe, made.a, made.b, "JSON_SPACING")


def indented_by_tabs(random: Random) -> Pair | None:
    """Indented by tabs: JSON with other blanks, and tabs against blanks."""
    value = _value(random)
    return _framed(random, "tabs", json.dumps(value, indent=2), json.dumps(value, indent="\t"), "JSON_SPACING", "TAB")


def value(random: Random) -> Pair | None:
    """A string, a flag or a number that counts nothing has changed."""
    key = random.choice(("limit", "mode", "strict", "city", "unit", "temperature", "owner", "note"))
    one, other = random.choice(
        (
            ("metric", "imperial"), ("Paris", "Lyon"), (True, False), (None, "open"), ("read only", "read and write"),
            ("a first draft", "the last version"), ("北京", "上海"), (["a", "b"], ["a", "c"]),
            ("Müller", "Schmidt"), (None, True),
            ({"mode": "fast"}, {"mode": "safe"}), ("open", "closed for now"), ("main", "release"), ("easy", "hard"),
        )
    )  # fmt: skip
    rest = {k: v for k, v in document(random).items() if k != key}
    at = random.randint(0, len(rest))
    items = list(rest.items())
    a, b = (json.dumps(dict([*items[:at], (key, v), *items[at:]]), ensure_ascii=False) for v in (one, other))
    if random.random() < 0.2:
        other_result = document(random, 2)
        a, b = (json.dumps({"results": [json.loads(text), other_result], "n": 1}, indent=2) for text in (a, b))
    return _framed(random, "value", a, b, "JSON_VALUE")


def keys(random: Random) -> Pair | None:
    """Keys of an object in another order, at the top or further in."""
    inner = document(random)
    shuffled = random.sample(list(inner.items()), len(inner))
    if random.random() < 0.4:
        at = random.randrange(len(inner) - 1)
        shuffled = list(inner.items())
        shuffled[at : at + 2] = shuffled[at : at + 2][::-1]
    other = dict(shuffled)
    wrap: Callable[[Any], Any] = random.choice(
        (lambda v: v, lambda v: {"data": v}, lambda v: [{"id": 1}, v], lambda v: {"a": {"b": v}})
    )
    style = random.choice((STYLES[0], STYLES[1], STYLES[5]))
    return _framed(random, "keys", style(wrap(inner)), style(wrap(other)), "REORDERED")


def tools_in_text(random: Random) -> Pair | None:
    """Definitions of tools in another order, as JSON in a list or a line each."""
    listed = [tool(random, name) for name in random.sample(NAMES, random.randint(2, 6))]
    other = random.sample(listed, len(listed))
    if random.random() < 0.5:
        return _framed(random, "tools", json.dumps(listed, indent=2), json.dumps(other, indent=2), "REORDERED")
    a, b = ("\n".join(json.dumps(each) for each in order) for order in (listed, other))
    return None if a == b else pair("tools, a line each", *around(random, a, b), "REORDERED")


def lines(random: Random) -> Pair | None:
    """Lines in another order: bullets, settings, documents, imports, rows."""
    words = random.sample(WORDS, random.randint(3, 8))
    kinds: tuple[Callable[[str], str], ...] = (
        lambda word: f"- {word}: {random.choice(SENTENCES['en'])}",
        lambda word: f"{word.upper()}={random.randint(10, 99)}{word}",
        lambda word: f"import {word}_client",
        lambda word: f"| {word} | {random.choice(NAMES)} | {random.randint(1, 99)} |",
        lambda word: f"<document>{word}: {random.choice(SENTENCES['en'])}</document>",
        lambda word: f"* {word}: {random.choice(SENTENCES['zh'])}",
        lambda word: f"{word}: {random.choice(('yes', 'no', 'auto'))}",
    )
    made = list(map(random.choice(kinds), words))
    other = random.sample(made, len(made))
    if random.random() < 0.5:
        at = random.randrange(len(made) - 1)
        other = made[:at] + made[at : at + 2][::-1] + made[at + 2 :]
    before, behind = f"{sentences(random, 1)}\n\n", f"\n\n{sentences(random, 1)}"
    a, b = (before + "\n".join(order) + behind for order in (made, other))
    return None if a == b else pair("lines", a, b, "REORDERED")


def list_in_text(random: Random) -> Pair | None:
    """Names in a list in another order, as a set of them is written out."""
    names = random.sample((*NAMES, *WORDS), random.randint(3, 7))
    other = random.sample(names, len(names))
    quoted = random.choice(("{}", "'{}'", "`{}`"))
    place = random.choice(("Available tools: {}", "allowed = {{{}}}", "Choose one of ({}).", "tags: [{}]"))
    a, b = (place.format(", ".join(quoted.format(name) for name in order)) for order in (names, other))
    return None if a == b else pair("list", *around(random, a, b), "REORDERED")


def pairs_in_text(random: Random) -> Pair | None:
    """Attributes of a tag, or parameters of an address, in another order."""
    items = random.sample([f"{word}={{}}{number}{{}}" for number, word in enumerate(WORDS)], random.randint(2, 5))
    other = random.sample(items, len(items))
    frame, joint, mark = random.choice(
        (("<item {}/>", " ", '"'), ("https://example.org/find?{}", "&", ""), ("call({})", ", ", ""))
    )
    a, b = (frame.format(joint.join(item.format(mark, mark) for item in order)) for order in (items, other))
    return None if a == b else pair("attributes", *around(random, a, b), "REORDERED")


def number_value(random: Random) -> Pair | None:
    """A setting that is a number and counts nothing."""
    key = random.choice(("temperature", "price", "width", "top_p", "score", "latitude", "budget"))
    one, other = random.choice(((0.2, 0.7), (10, 250), (1.5, 2.25), (640, 1920), (-3, 8), (0, 1000)))
    rest = document(random, 3)
    a, b = (json.dumps({**rest, key: number}) for number in (one, other))
    return _framed(random, "number", a, b, "JSON_VALUE")


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "JSON_ESCAPE": (escape, escape, escape_some),
    "JSON_SPACING": (*[spacing] * 3, *[one_blank] * 3, indented_by_tabs),
    "JSON_VALUE": (value, value, number_value),
    "REORDERED": (keys, keys, tools_in_text, lines, lines, list_in_text, pairs_in_text),
}
