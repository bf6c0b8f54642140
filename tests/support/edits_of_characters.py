"""Edits that leave what is read nearly as it was: line ends, blanks, invisible characters, look-alike letters."""

import re
import unicodedata
from collections.abc import Callable
from random import Random
from typing import Final

from labelled import Edit, Pair, Site, around, edited, pair
from prompt_texts import SENTENCES, plain_prompt, prompt, sentences

BLANKS: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
WIDTHLESS: Final = "\u200b\u200b\u200c\u200d\u2060\u00ad\u034f\u180e\u2061\u2062\u2063\u2064"
DIRECTIONS: Final = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
DIRECTED: Final = ("\u202a\u202c", "\u202b\u202c", "\u202e\u202c", "\u2066\u2069", "\u2067\u2069", "\u2068\u2069")
LINE_ENDS: Final = "\x0b\x0c\x85\u2028\u2029"
DASHES: Final = "\u2010\u2011\u2012\u2013\u2013\u2014\u2014\u2015\u2212\ufe58\ufe63"
LOOKALIKES: Final = (
    ("aceiopsxyjhABCEHIJKMOPSTXY", "асеіорѕхујһАВСЕНІЈКМОРЅТХУ"),  # Cyrillic
    ("ovABEZHIKMNOPTYX", "ονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"),  # Greek
    ("ohnuqSUL", "օհոսգՏՍԼ"),  # Armenian
    ("DRTAJEWMHGZPKLC", "ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏢᏦᏞᏟ"),  # Cherokee
)


def _found(pattern: str, text: str, new: Callable[[str], str]) -> list[Site]:
    return [(m.start(), m.end(), new(m[0])) for m in re.finditer(pattern, text)]


def crlf(random: Random) -> Pair | None:
    """LF as CR LF or CR, everywhere or at some lines."""
    text, new = prompt(random), random.choice(("\r\n", "\r\n", "\r\n", "\r"))
    if random.random() < 0.5:
        return pair("every line end", text, text.replace("\n", new), "CRLF") if "\n" in text else None
    return edited(random, "some line ends", text, _found("\n", text, lambda _: new), "CRLF")


def line_separator(random: Random) -> Pair | None:
    """LF as another character that ends a line."""
    text, new = prompt(random), random.choice(LINE_ENDS)
    # A vertical tab is a line end to some readers and a blank to others.
    labels = ("LINE_SEPARATOR", "SPACE_KIND") if new == "\x0b" else ("LINE_SEPARATOR",)
    return edited(random, f"LF as U+{ord(new):04X}", text, _found("\n", text, lambda _: new), *labels)


def unicode_form(random: Random) -> Pair | None:
    """Composed against decomposed."""
    text = (
        plain_prompt(random) + sentences(random, 1) + random.choice(SENTENCES[random.choice(("de", "fr", "vi", "ko"))])
    )
    text = unicodedata.normalize("NFC", text) + "\n"
    return edited(random, "NFC and NFD", text, _decomposed(text), "UNICODE_FORM")


def _decomposed(text: str) -> list[Site]:
    return [
        (place, place + 1, unicodedata.normalize("NFD", letter))
        for place, letter in enumerate(text)
        if unicodedata.normalize("NFD", letter) != letter
    ]


SINGLETONS: Final = (
    "Å\u212b",
    "Ω\u2126",
    "K\u212a",
    "豈\uf900",
    "樂\uf914",
    "神\ufa19",
    "·\u0387",
    "ά\u1f71",
    ";\u037e",
)


def singleton(random: Random) -> Pair | None:
    """A character that only compatibility with old sets keeps apart, such as the ohm sign."""
    usual, old = random.choice(SINGLETONS[:-1])
    line = random.choice(
        ("A resistor of 5 {} is used.", "Width: {}", "see {}-side, page 4", '{{"unit": "{}"}}', "那里的{}字")
    )
    a, b = around(random, line.format(usual), line.format(old))
    return pair("singleton", a, b, "UNICODE_FORM")


def mark_order(random: Random) -> Pair | None:
    """Two combining marks, one above and one below, in either order."""
    letter, above, below = (
        random.choice("aeouyd"),
        random.choice("\u0307\u0301\u0308"),
        random.choice("\u0323\u0331\u0327"),
    )
    a, b = around(random, f"The word t{letter}{below}{above}n is rare.", f"The word t{letter}{above}{below}n is rare.")
    return pair("order of marks", a, b, "UNICODE_FORM")


COMPATIBLE: Final = (
    ("ﬁle", "file"), ("oﬃce", "office"), ("ﬂow", "flow"), ("10 ㎏", "10 kg"), ("5 ㎝", "5 cm"), ("№ 4", "No 4"),
    ("Ⅳ", "IV"), ("ⅷ", "viii"), ("ĳs", "ijs"), ("ﬆop", "stop"), ("㏒", "log"), ("℡", "TEL"),
)  # fmt: skip


def compatible(random: Random) -> Pair | None:
    """Ligatures and letters in one character."""
    one, letters = random.choice(COMPATIBLE)
    a, b = around(random, f"Look at {one} first, then go on.", f"Look at {letters} first, then go on.")
    return pair("compatibility form", a, b, "UNICODE_FORM")


def superscript(random: Random) -> Pair | None:
    """Raised and lowered digits."""
    digit = random.randrange(10)
    raised = random.choice(("⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉"))[digit]
    a, b = around(random, f"The area is x{digit} here.", f"The area is x{raised} here.")
    # Width and raising are both compatibility forms, and one table folds both.
    return pair("raised digit", a, b, "UNICODE_FORM", "FULL_WIDTH")


def space_kind(random: Random) -> Pair | None:
    """A blank of another kind."""
    text, new = prompt(random), random.choice(BLANKS)
    return edited(
        random, f"blank U+{ord(new):04X}", text, _found("(?<=[^ \n]) (?=[^ \n])", text, lambda _: new), "SPACE_KIND"
    )


def zero_width(random: Random) -> Pair | None:
    """Something without width, inside words and between them."""
    text, new = prompt(random), random.choice((*WIDTHLESS, "\U000e0041\U000e0042\U000e007f"))
    sites = _found(r"(?<=[A-Za-zА-я一-龥])(?=[ A-Za-zА-я一-龥,.])", text, lambda _: new)
    return edited(random, f"U+{ord(new[0]):04X}", text, sites, "ZERO_WIDTH")


def bidi_mark(random: Random) -> Pair | None:
    """Marks of direction, alone or around a word."""
    text = prompt(random)
    if random.random() < 0.5:
        opening, closing = random.choice(DIRECTED)
        sites = _found(r"(?<![<｜▁\w])\w{3,}(?![>｜▁\w])", text, lambda word: opening + word + closing)
        return edited(random, "around a word", text, sites, "BIDI_MARK")
    mark = random.choice(DIRECTIONS)
    return edited(
        random, f"U+{ord(mark):04X}", text, _found(r"(?<=[\w.:]) |(?<=\w)(?=\.)", text, lambda s: mark + s), "BIDI_MARK"
    )


def byte_order_mark(random: Random) -> Pair | None:
    """At the start; in the middle of a prompt, where files were joined, it is also a character without width."""
    text = prompt(random)
    if random.random() < 0.8:
        return Pair("first character", text, "\ufeff" + text, frozenset({"BOM"}), movable=False)
    before = f"{sentences(random, 1)}\n\n=== notes.txt ===\n"
    return pair("first character of a file", before + text, before + "\ufeff" + text, "BOM", "ZERO_WIDTH")


QUOTATIONS: Final = ("“”", "„“", "«»", "‹›", "‘’", "''", "「」", "『』", "‟”", "〝〞", "❝❞", "»«", "‚‘")


def quote(random: Random) -> Pair | None:
    """Quotation marks around a word, apostrophes."""
    if random.random() < 0.4:
        text, new = f"It's the user's file; don't lose it. {plain_prompt(random)}", random.choice("’’‘‛")
        return edited(random, "apostrophe", text, _found(r"(?<=\w)'(?=\w)", text, lambda _: new), "QUOTE")
    opening, closing = random.choice(QUOTATIONS)
    text = f'{sentences(random, 1)} They call it "cached" or "warm", never "hit".\n{plain_prompt(random)}'
    sites = _found(r'"\w[^"\n]*"', text, lambda s: opening + s[1:-1] + closing)
    return edited(random, f"as {opening}{closing}", text, sites, "QUOTE")


def dash(random: Random) -> Pair | None:
    """Another dash, with blanks or without."""
    new = random.choice((*DASHES, "--"))
    old = "\u2014" if new == "--" else "-"
    line = random.choice(
        (
            "see pages 3{}5 and 11{}14", "a well{}known trade{}off", "the cache {} if warm {} answers", "A{}B",
            "from 2019{}2024", "{} first point\n{} second point", "Berlin{}Paris", "the flag {}verbose", "x {} y",
            '{"range": "1{}9"}',
        )
    )  # fmt: skip
    a, b = around(random, f"Note: {line.replace('{}', old)}.", f"Note: {line.replace('{}', new)}.")
    return pair(f"as {new}", a, b, "DASH")


def homoglyph(random: Random) -> Pair | None:
    """Letters of another script that look the same."""
    latin, others = random.choice((LOOKALIKES[0], LOOKALIKES[0], LOOKALIKES[1], *LOOKALIKES[2:]))
    table = dict(zip(latin, others, strict=True))
    text = prompt(random)
    sites = [
        (place, place + 1, table[letter])
        for place, letter in enumerate(text)
        if letter in table and text[place - 1 : place].isascii() and text[max(0, place - 9) : place + 9].isascii()
    ]
    return edited(random, "letters of another script", text, sites, "HOMOGLYPH")


def latin_in_cyrillic(random: Random) -> Pair | None:
    """The other way round: Latin letters in a Russian sentence."""
    latin, cyrillic = LOOKALIKES[0]
    table = dict(zip(cyrillic, latin, strict=True))
    text = " ".join(random.sample(SENTENCES["ru"], 2)) + "\n" + plain_prompt(random)
    sites = [(place, place + 1, table[letter]) for place, letter in enumerate(text) if letter in table]
    return edited(random, "Latin in Cyrillic", text, sites, "HOMOGLYPH")


def full_width(random: Random) -> Pair | None:
    """Letters, digits and marks in the width of Chinese characters; katakana in half of it."""
    if random.random() < 0.2:
        text = random.choice(SENTENCES["ja"])
        sites = [(m.start(), m.end(), _half(m[0])) for m in re.finditer("[ァ-ヶー]+", text) if _half(m[0]) != m[0]]
        made = edited(random, "half-width katakana", text, sites, "FULL_WIDTH")
        return made and pair(made.recipe, *around(random, made.a, made.b), "FULL_WIDTH")
    text = plain_prompt(random)
    pattern = random.choice((r"[A-Za-z]{2,}", r"\d+", r"[,:;!?()]", r"[A-Za-z0-9]"))
    sites = _found(pattern, text, lambda s: "".join(chr(ord(c) + 0xFEE0) for c in s))
    return edited(random, f"wide {pattern}", text, sites, "FULL_WIDTH")


HALF_KATAKANA: Final = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF66, 0xFF9E)}


def _half(text: str) -> str:
    letters = unicodedata.normalize("NFD", text).replace("\u3099", "ﾞ").replace("\u309a", "ﾟ")
    return "".join(HALF_KATAKANA.get(letter, letter) for letter in letters)


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "CRLF": (crlf,),
    "LINE_SEPARATOR": (line_separator,),
    "UNICODE_FORM": (unicode_form, unicode_form, singleton, mark_order, compatible, superscript),
    "SPACE_KIND": (space_kind,),
    "ZERO_WIDTH": (zero_width,),
    "BIDI_MARK": (bidi_mark,),
    "BOM": (byte_order_mark,),
    "QUOTE": (quote,),
    "DASH": (dash,),
    "HOMOGLYPH": (homoglyph, homoglyph, latin_in_cyrillic),
    "FULL_WIDTH": (full_width,),
}
