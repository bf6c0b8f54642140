"""Edits of prompts that are filled from data: retrieved documents, records, status lines, source code."""

import json
from random import Random
from typing import Final

from labelled import Edit, Pair, around, pair
from prompt_texts import NAMES, SENTENCES, VALUES, document, sentences


def _all(random: Random, count: int) -> list[str]:
    return random.sample([text for texts in SENTENCES.values() for text in texts], count)


def documents(random: Random) -> Pair | None:
    """Retrieved documents in another order, numbered anew by their place or not at all."""
    texts = _all(random, random.randint(2, 6))
    other = random.sample(texts, len(texts))
    frame = random.choice(("[{}] {}", "Document {}: {}", "{}. {}", "<doc index={}>{}</doc>", "### Source\n{1}"))
    joint = random.choice(("\n", "\n\n"))
    a, b = (joint.join(frame.format(at, text) for at, text in enumerate(order, 1)) for order in (texts, other))
    return None if a == b else pair(f"documents {frame}", *around(random, a, b), "REORDERED")


def rows(random: Random) -> Pair | None:
    """Rows of a table of values in another order, without their head."""
    made = [f"{number},{random.choice(VALUES)},{random.choice(NAMES)}" for number in random.sample(range(100), 6)]
    other = random.sample(made, len(made))
    a, b = ("\n".join(["id,value,tool", *order]) for order in (made, other))
    return None if a == b else pair("rows", *around(random, a, b), "REORDERED")


def other_document(random: Random) -> Pair | None:
    """Another document retrieved in the place of one."""
    one, other, first, last = _all(random, 4)
    a, b = (f"Context:\n\n{first}\n\n{text}\n\n{last}\n\nAnswer now." for text in (one, other))
    return pair("document", a, b, "TEXT")


def key_added(random: Random) -> Pair | None:
    """A key or an element more: JSON whose value changed, and a text that grew."""
    value = document(random)
    more = dict([*list(value.items())[:3], ("extra", random.choice(VALUES)), *list(value.items())[3:]])
    # The object's value is another one; no value of a key is.
    return pair("key", *around(random, json.dumps(value), json.dumps(more)), "JSON_VALUE", "TEXT")


COUNTED: Final = (
    ("This is your {} request.", ("3rd", "4th")), ("Tokens used: {}", ("12,345", "12,402")),
    ("elapsed {} s", ("1.52", "1.61")),
    ("context left: {}%", ("45", "44")), ("turn={:03}", (7, 8)), ("<step>{}</step>", (11, 12)),
    ("messages: {}\nusers: 3", (9, 10)),
    ("You have {} attempts left.", (3, 2)), ("Iteration {} of the loop begins.", (99, 100)), ("count={};", (41, 42)),
    ("Anfrage Nr. {}", (41, 42)), ("requête n° {}", (7, 8)), ("solicitud número {}", (7, 8)),
    ("{} 回目のリクエスト", (7, 8)),
    ("요청 {}번", (7, 8)), ("Сообщение {} из 20", (7, 8)), ("round-{}-start", (2, 3)), ("retry {}: timeout", (1, 2)),
)  # fmt: skip


def counted(random: Random) -> Pair | None:
    """Counts with marks, units and words around them, in several languages."""
    place, both = random.choice(COUNTED)
    return pair(place, *around(random, *(place.format(each) for each in both)), "COUNTER")


DATED: Final = (
    ("Meeting at {}.", ("3 PM", "4 PM")), ("{} is close.", ("June 9th", "June 10th")),
    ("valid until {}", ("9/6/2026", "10/6/2026")),
    ("٩ يونيو {}", ("٢٠٢٦-٠٦-٠٩", "٢٠٢٦-٠٦-١٠")), ("आज {} है।", ("9 जून 2026", "10 जून 2026")),
    ("วันที่ {}", ("9 มิถุนายน 2026", "10 มิถุนายน 2026")),
    ("現在時刻は{}です", ("15時04分", "15時05分")), ("今は{}", ("6月9日", "6月10日")),
    ("Bugün {}", ("9 Haziran 2026", "10 Haziran 2026")),
    ("Dziś jest {}", ("9 czerwca 2026", "10 czerwca 2026")), ("in {}", ("June", "July")),
    ("Now {}", ("15:04 CET", "15:05 CET")),
    ("date={}", ("2026-06-09T15:04:20+02:00", "2026-06-09T15:04:20+01:00")),
    ("on {} we meet", ("Tuesday", "Wednesday")),
    ("<today>{}</today>", ("Tue Jun 9", "Wed Jun 10")), ("Hôm nay là {}", ("09/06/2026", "10/06/2026")),
    ("log-{}.txt", ("20260609", "20260610")),
    ("[{}] ready", ("15:04:20.123", "15:04:21.456")), ("오늘은 {}입니다", ("2026년 6월 9일", "2026년 6월 10일")),
    ("Vandaag is {}", ("9 juni 2026", "10 juni 2026")),
)  # fmt: skip


def dated(random: Random) -> Pair | None:
    """Dates and times as people write them, in more languages."""
    place, both = random.choice(DATED)
    return pair(place, *around(random, *(place.format(each) for each in both)), "TIME")


def quotes_in_code(random: Random) -> Pair | None:
    """Strings of a program in single against double quotation marks; an apostrophe of French."""
    one, other = random.choice(
        (
            ("print('hello', name)", 'print("hello", name)'), ("{'a': 1, 'b': 'x'}", '{"a": 1, "b": "x"}'),
            ("l'été d'avant", "l’été d’avant"),
            ("SELECT 'x' FROM t", 'SELECT "x" FROM t'), ("``quoted'' text", "“quoted” text"),
            ("class='note'", 'class="note"'),
            ("the 'cached' rows", "the ‘cached’ rows"), ("rock 'n' roll", "rock ’n’ roll"),
            ('he says "go"', "he says «go»"),
        )
    )  # fmt: skip
    place = random.choice(("{}", "Example: {} (end)", "```\n{}\n```"))
    return pair("quotes in code", *around(random, place.replace("{}", one), place.replace("{}", other)), "QUOTE")


VALUES_IN_LINE: Final = (
    ("TIME", "12:00:01", "12:00:09"), ("TIME", "2026-06-09", "2026-06-10"), ("COUNTER", "turn 7", "turn 8"),
    ("COUNTER", "request #41", "request #42"), ("UUID", "3f2a9c115b7e4d0a", "b81c07de6a9f4e23"),
    ("UUID", "req_8sKd02Lq7TzWmX4p", "req_Zt6hQ9vB1nYc3RfA"), ("TEXT", "started", "stopped by hand"),
    ("EMOJI", "✅", "❌"), ("NUMBER_FORM", "1000000", "1,000,000"), ("QUOTE", '"ok"', "“ok”"),
)  # fmt: skip


def two_in_a_line(random: Random) -> Pair:
    """Two values of a status line that changed together: the first leads."""
    while True:
        first, second = random.sample(VALUES_IN_LINE, 2)
        if first[0] != second[0]:
            break
    frame = random.choice(("status {} of the worker {} noted", "{} and then the rest | {}", "[{}] the usual words {}"))
    a, b = around(random, frame.format(first[1], second[1]), frame.format(first[2], second[2]))
    return Pair(f"{first[0]} and {second[0]} in a line", a, b, frozenset({first[0]}), frozenset({second[0]}))


def long_prompt(random: Random, made: Pair) -> Pair:
    """The pair inside some thousands of tokens that are the same on both sides."""
    before, behind = ("\n\n".join(sentences(random, 6) for _ in range(random.randint(5, 40))) for _ in range(2))
    a, b = (f"{before}\n\n{text}\n\n{behind}" for text in (made.a, made.b))
    return Pair(f"long, {made.recipe}", a, b, made.labels, made.second)


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "REORDERED": (documents, documents, rows),
    "TEXT": (other_document,),
    "JSON_VALUE": (key_added,),
    "COUNTER": (counted,),
    "TIME": (*[dated] * 4,),
    "QUOTE": (quotes_in_code,),
}
