"""Letters of other scripts that look like each other."""

import unicodedata
from functools import cache
from typing import Final

from shadowviz.tokens.causes.edit import Edit, Stretch

_LOOKS: Final = {
    "a": "а\u03b1\u0251",
    "b": "\u042c\u044c\u13cf",
    "c": "с\u03f2\u1d04",
    "d": "\u0501\u13e7",
    "e": "е\u212e\u04bd\u03b5",
    "f": "\u03dd\u0584",
    "g": "\u0261\u0581",
    "h": "\u04bb\u0570",
    "i": "\u0456\u03b9\u0131\u0269\u04cf",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "l": "\u04cf\u0406\u0399\u01c0\u05d5\u0627",
    "m": "\u043c",
    "n": "\u0578\u057c\u03b7\u043f",
    "o": "\u043e\u03bf\u0585\u05e1\u0665\u101d\u0d20\u0ed0\u03c3",
    "p": "\u0440\u03c1\u2ca3",
    "q": "\u051b\u0566",
    "r": "\u0433\u1d26",
    "s": "\u0455",
    "t": "\u0442\u03c4",
    "u": "\u057d\u03c5\u0446",
    "v": "\u03bd\u0475\u05d8",
    "w": "\u0461\u051d\u03c9",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03b3\u04af",
    "z": "\u1d22",
    "A": "\u0410\u0391\u13aa",
    "B": "\u0412\u0392\u13f4",
    "C": "\u0421\u03f9\u216d",
    "D": "\u13a0",
    "E": "\u0415\u0395\u13ac",
    "F": "\u03dc",
    "G": "\u050c\u13c0",
    "H": "\u041d\u0397\u13bb",
    "I": "\u0406\u0399\u04c0",
    "J": "\u0408\u13ab",
    "K": "\u041a\u039a\u13e6",
    "L": "\u13de",
    "M": "\u041c\u039c\u13b7",
    "N": "\u039d",
    "O": "\u041e\u039f\u0555",
    "P": "\u0420\u03a1\u13e2",
    "Q": "\u051a",
    "R": "\u13a1",
    "S": "\u0405\u054f\u13da",
    "T": "\u0422\u03a4\u13a2",
    "U": "\u054d",
    "V": "\u13d9\u0474",
    "W": "\u051c\u13d4",
    "X": "\u0425\u03a7",
    "Y": "\u04ae\u03a5\u0423",
    "Z": "\u0396\u13c3",
    "\u53e3": "\u30ed",
    "\u4e00": "\u30fc",
    "\u4e8c": "\u30cb",
    "\u529b": "\u30ab",
    "\u5915": "\u30bf",
    "\u535c": "\u30c8",
    "\u5de5": "\u30a8",
    "\u516b": "\u30cf",
    "\u3078": "\u30d8",
    "\u308a": "\u30ea",
    "\u043f": "\u03c0",
    "\u0444": "\u03c6",
    "\u0433": "\u03b3",
    "\u043b": "\u03bb",
    "\u0413": "\u0393",
    "\u041f": "\u03a0",
    "\u0424": "\u03a6",
    "\u041b": "\u039b",
    "\u064a": "\u06cc",
    "\u0643": "\u06a9",
    "\u0647": "\u06c1",
}
"""Letters that look like the key, of every script but its own."""

_SKELETON: Final = {look: letter for letter, looks in _LOOKS.items() for look in looks}


@cache
def script(letter: str) -> str:
    """First word of the letter's name, which is its script: LATIN, CYRILLIC, GREEK; empty for what is no letter."""
    if not unicodedata.category(letter).startswith("L"):
        return ""
    return unicodedata.name(letter, "").split(" ")[0]


def skeleton(text: str) -> str:
    """`text` with every letter as the one it looks like."""
    return "".join(_SKELETON.get(letter, letter) for letter in text)


def same_look(edit: Edit) -> bool:
    """Whether letters of another script stand in the place of letters that look the same."""
    a, b = edit.a.found, edit.b.found
    if len(a) != len(b):
        return False
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if not pairs or any(not script(x) or not script(y) or script(x) == script(y) for x, y in pairs):
        return all(_SKELETON.get(x, x) == _SKELETON.get(y, y) for x, y in pairs) and any(
            script(x) != script(y) for x, y in pairs
        )
    if all(_SKELETON.get(x, x) == _SKELETON.get(y, y) for x, y in pairs):
        return True
    # One letter of another script inside a word is there because it looks alike, whichever letter it is.
    return len(pairs) == 1 and (_intruder(edit.a, pairs[0][0]) or _intruder(edit.b, pairs[0][1]))


def _intruder(stretch: Stretch, letter: str) -> bool:
    word = stretch.grown(lambda character: bool(script(character)), 32).found
    others = {script(character) for character in word if character != letter}
    return (
        len(word) > 2 and len(others) == 1 and script(letter) not in others and _alphabetic(others | {script(letter)})
    )


def _alphabetic(scripts: set[str]) -> bool:
    return scripts <= {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN"}
