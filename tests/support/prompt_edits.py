"""Pairs of prompts that differ in a known way, made from a seed: labelled by construction, not by looking."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import edits_of_characters
import edits_of_clocks
import edits_of_json
import edits_of_layout
import edits_of_markers
import edits_of_records
import edits_of_values
import edits_of_words
from labelled import Edit, Pair, swapped
from prompt_texts import SENTENCES

_OF_PLACES: Final[dict[str, tuple[Edit, ...]]] = {
    **edits_of_characters.EDITS,
    **edits_of_clocks.EDITS,
    **edits_of_values.EDITS,
    **edits_of_json.EDITS,
    **edits_of_layout.EDITS,
    **edits_of_words.EDITS,
    **edits_of_markers.EDITS,
}
EDITS: Final = {name: (*edits, *edits_of_records.EDITS.get(name, ())) for name, edits in _OF_PLACES.items()}
"""By the class that an edit is meant to show; its label is that of the pair."""

LONG: Final = 0.02
"""Share of pairs that stand in a prompt of some thousand tokens."""

MIDDLE: Final = "\n\n## Between\n\n" + " ".join(SENTENCES["en"][1:6:2]) + "\n\n"
"""What stands between two edits: a paragraph, so that neither touches the other."""


def labelled_pairs(seed: int, each: int, doubles: int) -> Iterator[tuple[str, Pair]]:
    """`each` pairs of every class, and `doubles` with two edits, with the class that they are counted under."""
    for name, edits in EDITS.items():
        for number in range(each):
            random = Random(f"{seed} {name} {number}")
            yield name, swapped(random, _one(random, edits))
    for number in range(doubles):
        random = Random(f"{seed} double {number}")
        yield "two edits", _double(random)


def _one(random: Random, edits: Sequence[Edit]) -> Pair:
    edit = random.choice(edits)
    while True:
        made = edit(random)
        if made is not None and (made.a != made.b or "NONE" in made.labels):
            is_long = made.movable and random.random() < LONG
            return edits_of_records.long_prompt(random, made) if is_long else made


def _double(random: Random) -> Pair:
    if random.random() < 0.25:
        return swapped(random, edits_of_records.two_in_a_line(random))
    while True:
        first, second = (swapped(random, _one(random, EDITS[name])) for name in random.sample(list(EDITS), 2))
        if first.movable and second.movable and not first.labels & second.labels:
            break
    a, b = (one + MIDDLE + other for one, other in ((first.a, second.a), (first.b, second.b)))
    return replace(first, recipe=f"{first.recipe} + {second.recipe}", a=a, b=b, second=second.labels)


def right_answers(made: Pair, ids_a: Sequence[int], ids_b: Sequence[int]) -> frozenset[str]:
    """What may be said of a pair under the tokenizer that gave the ids.

    What it makes equal is no difference, and what it makes a prefix loses nothing, whatever the edit was.
    """
    if list(ids_a) == list(ids_b):
        return frozenset({"NONE"} if made.a == made.b else {"NONE", "NORMALISED_EQUAL"})
    short = min(len(ids_a), len(ids_b))
    if list(ids_a[:short]) == list(ids_b[:short]):
        return frozenset({"EXTENDS"})
    a, b = sorted((made.a, made.b), key=len)
    if b.startswith(a) and made.ids is None and not made.labels & {"TRAILING_NEWLINE", "TRAILING_SPACE"}:
        # Whatever was appended, the shorter text is all of the longer one's beginning, which its ids are not.
        return made.labels | {"MERGE_ACROSS_BOUNDARY"}
    return made.labels
