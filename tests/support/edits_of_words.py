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
    # In JSON it is also another value, and no name says more than the other.
    labels = ("PUNCTUATION", "JSON_VALUE") if line.startswith("{{") else ("PUNCTUATION",)
    return pair(f"{one} as {other}", *around(random, line.format(one), line.format(other)), *labels)


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


def other_escapes(random: Random) -> Pair | None:
    """Escapes of other formats: numbered entities, quoted-printable, CSV, LaTeX, a shell, escaped twice."""
    one, other = random.choice(
        (
            ("caf\u00e9 &amp; bar", "caf\u00e9 &amp;amp; bar"), ("it's here", "it&#39;s here"),
            ("it's here", "it&#x27;s here"),
            ("caf\u00e9", "caf=C3=A9"),
            ("50% of R&D", "50\\% of R\\&D"),
            ("/data/my file.txt", "/data/my\\ file.txt"), ("\u4f60\u597d", "&#20320;&#22909;"),
            ("# not a title", "\\# not a title"),
            ("a\\nb", "a\\\\nb"), ("\x1b[1mbold\x1b[0m", "\\x1b[1mbold\\x1b[0m"), ("5 < 6 > 4", "5 &lt; 6 &gt; 4"),
        )
    )  # fmt: skip
    line = random.choice(("{}", "Text: {} (end)", "see {} there"))
    return pair("other escapes", *around(random, line.replace("{}", one), line.replace("{}", other)), "ESCAPED")


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
    ("🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"), ("🫠", "🥹"), ("©️", "©"),
    ("🐍", "🦀"), ("🤷‍♂️", "🤷"), ("✌🏼", "✌️"),
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


def other_prompt(random: Random) -> Pair | None:
    """Two prompts that have nothing to do with each other."""
    first, second = random.sample((*SENTENCES["en"], *SENTENCES["fr"], *SENTENCES["zh"], *SENTENCES["ar"]), 2)
    return pair("other prompt", f"{first} Begin.", f"{second} Begin.", "TEXT")


def number_in_text(random: Random) -> Pair | None:
    """A number that counts nothing: a name of a thing, or a limit that somebody set."""
    one, other = random.sample((3, 5, 10, 12, 25, 40, 100, 250, 4096), 2)
    line = random.choice(("Give at most {} examples.", "The model has {} layers.", "Wait for rule {}, then go on."))
    # Without a word for what it is of, a number may be taken for a count.
    return pair("number", *around(random, line.format(one), line.format(other)), "TEXT", "COUNTER")


def sentence(random: Random) -> Pair | None:
    """A sentence more in the middle, or another one."""
    one, other, more = random.sample(SENTENCES["en"], 3)
    end = "\n\nQuestion: what is next?"
    extra = random.choice((one + " " + more, more))
    return pair("sentence", f"{other} {one}{end}", f"{other} {extra}{end}", "TEXT")


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "PUNCTUATION": (punctuation, punctuation, brackets),
    "CASE": (case, case, case_of_value),
    "ESCAPED": (html_entities, backslashes, other_escapes, percent),
    "EMOJI": (emoji,),
    "TEXT": (*[text] * 4, *[sentence] * 2, other_prompt, number_in_text),
}
