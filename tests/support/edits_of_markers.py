"""Edits of chat markers of DeepSeek-V4, and of where a prompt ends."""

from random import Random
from typing import Final

from labelled import Edit, Pair, around, pair
from prompt_texts import SENTENCES, plain_prompt, prompt, sentences

BOS: Final = "<｜begin▁of▁sentence｜>"
EOS: Final = "<｜end▁of▁sentence｜>"
EOT: Final = "<|EOT|>"
MARKERS: Final = (
    EOS, BOS, "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>", "<｜latest_reminder｜>", "<｜title｜>",
    "<｜action｜>", "<｜fim▁hole｜>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁outputs▁end｜>", "｜DSML｜", "<｜search▁begin｜>",
    "<｜query｜>",
)  # fmt: skip
SHAPES: Final = (
    ("｜", "|"), ("｜", "│"), ("｜", "∣"), ("▁", "_"), ("▁", " "), ("<", "＜"), (">", "＞"), ("<", "‹"), (">", "›"),
    ("<", "〈"), (">", "〉"),
    ("i", "і"), ("e", "е"), ("s", "ѕ"), ("a", "а"), ("｜", "ǀ"), ("▁", "▂"), ("</", "<∕"), ("｜", "|"), ("▁", "_"),
)  # fmt: skip


def bos_doubled(random: Random) -> Pair | None:
    """A template wrote the mark, and the tokenizer added one."""
    text = prompt(random).removeprefix(BOS)
    return Pair("twice", BOS + text, BOS + BOS + text, frozenset({"BOS_DOUBLED"}), movable=False)


def bos_missing(random: Random) -> Pair | None:
    """The mark on one side only."""
    text = prompt(random).removeprefix(BOS)
    return Pair("none", BOS + text, text, frozenset({"BOS_MISSING"}), movable=False)


def eos_swapped(random: Random) -> Pair | None:
    """Another mark of an end behind one answer or all."""
    turns = [
        f"<｜User｜>{sentences(random, 1)}<｜Assistant｜></think>{sentences(random, 1)}"
        for _ in range(random.randint(1, 4))
    ]
    asked = f"<｜User｜>{sentences(random, 1)}<｜Assistant｜></think>"
    a, b = (BOS + "".join(turn + end for turn in turns) + asked for end in (EOS, EOT))
    return Pair("EOS as EOT", a, b, frozenset({"EOS_SWAPPED"}))


def lookalike(random: Random) -> Pair | None:
    """A marker with another bar, line, bracket or letter, or with something invisible in it."""
    marker, (old, new) = random.choice(MARKERS), random.choice(SHAPES)
    # Folding every letter of a marker is another thing than one wrong letter in it; both happen.
    other = marker.replace(old, new) if random.random() < 0.6 else marker.replace(old, new, 1)
    if other == marker or (marker == "｜DSML｜" and old in "<>"):
        return None
    if random.random() < 0.4:
        place = f"{sentences(random, 1)}{{}}{sentences(random, 1)}"
    else:
        place = random.choice(
            ("The tag {} ends it.", "{}Hello", "Hi.{}Next question", "text {} more", '{{"text": "{}"}}')
        )
        place = place.replace("{{", "{").replace("}}", "}")
    a, b = around(random, place.replace("{}", marker), place.replace("{}", other))
    return pair(f"{old} as {new}", a, b, "LOOKALIKE_SPECIAL")


def marker_broken(random: Random) -> Pair | None:
    """A blank inside a marker: it is text then, and has a blank more."""
    marker = random.choice(MARKERS[2:])
    at = random.choice((1, len(marker) - 1))
    a, b = around(random, f"Mind {marker} here.", f"Mind {marker[:at]} {marker[at:]} here.")
    return pair("blank in a marker", a, b, "SPECIAL_VS_TEXT", "SPACE_COUNT")


def cut_inside(random: Random) -> Pair | None:
    """A prompt that was cut in the middle, against the whole: the last word goes on, or a mark, or a number."""
    text = prompt(random)
    cut = random.randint(max(1, len(text) // 4), len(text) - 3)
    if text[cut:].isspace():
        return None
    return Pair("cut", text[:cut], text, frozenset({"MERGE_ACROSS_BOUNDARY"}), movable=False)


def goes_on(random: Random) -> Pair | None:
    """Ends of prompts that join with what follows."""
    end, more = random.choice(
        (("id 1234567", "8"), ("x =", "="), ("Answer: ", "Paris"), ("The answer is ", "42."),
         ("You are helpful.", "\n\nUser: hi"),
         ("un", "happy"), ("```python\n", "\n\nx = 1"), ("Wait.", ".."), ("Total: 12", "345 rows"),
         ("data", "base of users"), ("<", "br>"),
         ("Name:", " Zoë"), ("see http", "s://example.org"), ("foo(", ")"),
         ("你", "好"), ("9", "9"), ("Hello\n", "\nworld"), ("a ", " b"))
    )  # fmt: skip
    text = random.choice((plain_prompt(random), "")) + end
    return Pair("goes on", text, text + more, frozenset({"MERGE_ACROSS_BOUNDARY"}), movable=False)


def extends(random: Random) -> Pair | None:
    """The next turn behind the first."""
    a = BOS + sentences(random, 2) + f"<｜User｜>{sentences(random, 1)}<｜Assistant｜></think>"
    b = a + sentences(random, 1) + EOS + f"<｜User｜>{sentences(random, 1)}<｜Assistant｜></think>"
    return Pair("next turn", a, b, frozenset({"EXTENDS"}), movable=False)


def same(random: Random) -> Pair | None:
    """Twice the same text."""
    text = random.choice((prompt(random), random.choice(SENTENCES["en"]), sentences(random, 3)))
    return Pair("same", text, str(text.encode(), "utf-8"), frozenset({"NONE"}), movable=False)


EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "BOS_DOUBLED": (bos_doubled,),
    "BOS_MISSING": (bos_missing,),
    "EOS_SWAPPED": (eos_swapped,),
    "LOOKALIKE_SPECIAL": (lookalike,),
    "SPECIAL_VS_TEXT": (marker_broken,),
    "MERGE_ACROSS_BOUNDARY": (cut_inside, goes_on),
    "EXTENDS": (extends,),
    "NONE": (same,),
}
