"""Edits of what is written: marks, case, escapes, emoji, words."""

import html
import re
from random import Random
from typing import Final
from urllib.parse import quote, quote_plus

from labelled import Edit, Pair, around, edited, pair
from prompt_texts import SENTENCES, prompt, sentences


def punctuation(random: Random) -> Pair | None:
    """Another mark, or none, inside a sentence or at its end."""
    one, other = random.choice(MARKED)
    line = random.choice(
        (
            "Read it{} then answer.",
            "Be brief{} Be exact.",
            "First{} second",
            '{{"note": "wait{} then go"}}',
            "# Note{} see below",
        )
    )
    return pair(f"{one} as {other}", *around(random, line.format(one), line.format(other)), "PUNCTUATION")


MARKED: Final = (
    (".", "!"), (".", "?"), (",", ";"), (";", ","), (":", ";"), ("!", "?"), ("!", "!!"), (",", ""), (".", ""),
    ("?", "?!"), ("。", "！"),
    ("、", "；"), (",", ":"), (".", ";"), ("।", "."), ("؟", "!"), ("。", "."), (",", "、"),
)  # fmt: skip


def brackets(random: Random) -> Pair | None:
    """Brackets of another kind."""
    opening, closing = random.choice(("[]", "{}", "<>"))
    a, b = around(
        random, "Use the tool (at most once) and stop.", f"Use the tool {opening}at most once{closing} and stop."
    )
    return pair(f"() as {opening}{closing}", a, b, "PUNCTUATION")


def case(random: Random) -> Pair | None:
    """Words, single letters or whole lines in capitals or small letters."""
    text = prompt(random)
    change = random.choice((str.upper, str.swapcase, str.title, str.lower, str.capitalize))
    pattern = random.choice((r"[^\W\d_]{2,}", r"[^\W\d_]{2,}", r"[^\W\d_]", r"^[^\n<]+$"))
    sites = [
        (m.start(), m.end(), new)
        for m in re.finditer(pattern, text, re.MULTILINE)
        if (new := change(m[0])) != m[0] and new.casefold() == m[0].casefold() and len(new) == len(m[0])
    ]
    return edited(random, change.__name__, text, sites, "CASE")


def case_of_value(random: Random) -> Pair | None:
    """Identifiers, colours and flags that differ in case alone."""
    one, other = random.choice(
        (
            (f"{random.getrandbits(128):032x}", None), (f"#{random.getrandbits(24) | 0xA00000:06x}", None),
            ("true", "True"), ("null", "NULL"),
            ("content-type: text/html", "Content-Type: text/html"), ("select * from t", "SELECT * FROM t"),
            ("readme.md", "README.md"),
            ("utf-8", "UTF-8"), ("ПРИВЕТ", "привет"), ("ΑΘΗΝΑ", "αθηνα"), ("github", "GitHub"),
            ("get_weather", "get_Weather"),
        )
    )  # fmt: skip
    line = random.choice(("value: {}", "Use {} here.", '{{"v": "{}"}}', "`{}`"))
    return pair("value", *around(random, line.format(one), line.format(other or one.upper())), "CASE")


SNIPPETS: Final = (
    'if (a < b && c > d) { print("x"); }', "<p class='note'>AT&T & friends</p>", 'say "yes" & don\'t stop',
    "a <b>bold</b> word",
)  # fmt: skip


def html_entities(random: Random) -> Pair | None:
    """Text for a page: entities against the characters."""
    text = random.choice((*SNIPPETS, f"<doc>{sentences(random, 1)} R&D</doc>"))
    return pair("HTML", *around(random, text, html.escape(text, quote=random.random() < 0.5)), "ESCAPED")


def backslashes(random: Random) -> Pair | None:
    """A line end, a tab or a quotation mark as two characters; backslashes doubled."""
    one, other = random.choice(
        (
            ("first line\nsecond line\nthird", "first line\\nsecond line\\nthird"),
            ("name\tvalue\tunit", "name\\tvalue\\tunit"),
            (r"C:\Users\zoe\notes", r"C:\\Users\\zoe\\notes"), (r"match \d+\s*\w", r"match \\d+\\s*\\w"),
            ('she said "yes" twice', 'she said \\"yes\\" twice'),
            ('{"a": "b", "n": 1}', '{\\"a\\": \\"b\\", \\"n\\": 1}'),
            ("use *stars* and _lines_", "use \\*stars\\* and \\_lines\\_"),
            ("it's the user's", "it\\'s the user\\'s"),
            ("cost is $5 and $HOME", "cost is \\$5 and \\$HOME"), ("a|b|c", "a\\|b\\|c"),
        )
    )  # fmt: skip
    line = random.choice(("{}", "Input: {} (end)", "```\n{}\n```"))
    return pair("backslashes", *around(random, line.replace("{}", one), line.replace("{}", other)), "ESCAPED")


def percent(random: Random) -> Pair | None:
    """An address with its letters as percent signs."""
    words = random.choice(
        ("my file (1).txt", "北京 天气", "naïve café", "a b&c=d", "привет мир", "50% off?", "東京/駅")
    )
    made = random.choice((quote, quote_plus))(words, safe="")
    line = random.choice(("https://example.org/{}", "q={}&page=2", "Open /files/{} now."))
    return pair("percent", *around(random, line.replace("{}", words), line.replace("{}", made)), "ESCAPED")


EMOJI: Final = (
    ("😀", "😁"), ("👍", "👍🏽"), ("👍🏻", "👍🏿"), ("❤", "❤️"), ("☀", "☀️"), ("👨‍👩‍👧", "👨👩👧"), ("🇩🇪", "🇫🇷"),
    ("✅", "❌"), ("🚀", "🔥"), ("1️⃣", "1⃣"),
    ("👩‍💻", "👩🏾‍💻"), ("🏳️‍🌈", "🏳🌈"), ("☎️", "☎︎"), ("⚠️", "⚠"), ("👩‍💻", "👨‍💻"), ("🙂", "🙃"),
    ("🐍", "🦀"), ("🤷‍♂️", "🤷"), ("✌🏼", "✌️"), ("2️⃣", "3️⃣"),
)  # fmt: skip


def emoji(random: Random) -> Pair | None:
    """Another emoji, or another sequence for it; at one place or in every bullet."""
    one, other = random.choice(EMOJI)
    line = random.choice(
        (
            "{} Done, all tests pass.",
            "Great work {}!",
            "Status: {}",
            '{"reaction": "{}"}',
            "- {} one\n- {} two\n- {} three",
            "ok{}ok",
            "好的{}谢谢",
        )
    )
    a, b = around(random, line.replace("{}", one), line.replace("{}", other))
    return pair(f"{one} as {other}", a, b, "EMOJI")


REWRITTEN: Final = (
    ("helpful", "careful"), ("short", "detailed"), ("You must", "You may"), ("a summary", "three bullet points"),
    ("Berlin", "Hamburg"),
    ("recieve", "receive"), ("colour", "color"), ("read_file", "open_document"), ("gladly help", "help"),
    ("naïve", "naive"),
    ("the plan", "die Planung"), ("用户", "客户"), ("ответ", "вопрос"), ("never", "always"), ("kann", "könnte"),
    ("東京", "京都"),
    ("the answer", "the final and complete answer"), ("not allowed", "allowed"), ("Größe", "Grösse"),
    ("x_total", "num_rows"),
)  # fmt: skip


def text(random: Random) -> Pair | None:
    """Another word, a word more, a word less."""
    one, other = random.choice(REWRITTEN)
    place = random.choice(
        (
            "Please write {} in the first line.",
            "Rule 3: {} unless told otherwise.",
            "# About {} here",
            "{} is what the user wants",
            "x = '{}'",
            "我们说 {} 然后继续。",
        )
    )
    return pair("word", *around(random, place.format(one), place.format(other)), "TEXT")


def sentence(random: Random) -> Pair | None:
    """A sentence more in the middle, or another one."""
    one, other, more = random.sample(SENTENCES["en"], 3)
    end = "\n\nQuestion: what is next?"
    extra = random.choice((one + " " + more, more))
    return pair("sentence", f"{other} {one}{end}", f"{other} {extra}{end}", "TEXT")


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "PUNCTUATION": (punctuation, punctuation, brackets),
    "CASE": (case, case, case_of_value),
    "ESCAPED": (html_entities, backslashes, percent),
    "EMOJI": (emoji,),
    "TEXT": (text, sentence),
}
