"""A pair of prompts with its label, and the tools with which edits make one."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from prompt_texts import plain_prompt, sentences


@dataclass(frozen=True)
class Pair:
    """Two texts, what parts them by construction, and how they were made."""

    recipe: str
    a: str
    b: str
    labels: frozenset[str]
    """Every name that is right; nearly always one."""
    second: frozenset[str] = frozenset()
    """For pairs with two edits: names of which one must be listed behind the leading one."""
    movable: bool = True
    """Whether the label still holds with other text before and behind."""
    ids: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Ready ids of both sides, where the edit is one of ids."""


Edit = Callable[[Random], Pair | None]
"""Makes a pair; None where the prompt that was drawn has no place for the edit."""

MARKERS: Final = re.compile(r"<｜[^｜>]*｜>|</?think>")
"""What an edit of letters leaves alone: a marker with other letters is a case of its own."""

Site = tuple[int, int, str]
"""A stretch of text, half-open, and what stands there instead."""


def pair(recipe: str, a: str, b: str, *labels: str, movable: bool = True) -> Pair:
    """A pair without a second edit."""
    return Pair(recipe, a, b, frozenset(labels), movable=movable)


def choose_sites(random: Random, sites: Sequence[Site]) -> list[Site]:
    """One, a few, up to forty or all of the places that were found, in order."""
    most = min(40, len(sites))
    count = random.choice((1, 1, 1, min(2, most), min(3, most), random.randint(1, most), most))
    return sorted(random.sample(list(sites), count))


def replace_sites(text: str, sites: Sequence[Site]) -> str:
    """`text` with every stretch replaced."""
    parts, end = [], 0
    for start, stop, new in sites:
        parts += [text[end:start], new]
        end = stop
    return "".join([*parts, text[end:]])


def edited(random: Random, recipe: str, text: str, sites: Sequence[Site], *labels: str) -> Pair | None:
    """A pair that differs at some of the places."""
    markers = [m.span() for m in MARKERS.finditer(text)]
    free = [site for site in sites if not any(start < site[1] and site[0] < stop for start, stop in markers)]
    inside = {site for site in free for start, stop in markers if start < site[0] < stop}
    free = [site for site in free if site not in inside]
    if not free:
        return None
    return pair(recipe, text, replace_sites(text, choose_sites(random, free)), *labels)


def around(random: Random, a: str, b: str) -> tuple[str, str]:
    """Both texts at the same place of a prompt: first, last, alone, or between two of its lines."""
    place = random.choice(("alone", "first", "last", "middle", "middle"))
    if place == "alone":
        return a, b
    lines = plain_prompt(random).splitlines(keepends=True)
    cut = {"first": 0, "last": len(lines)}.get(place, random.randrange(len(lines)))
    before, behind = "".join(lines[:cut]), "".join(lines[cut:])
    if place == "last":
        behind = sentences(random, 1) if random.random() < 0.5 else ""
    joint = "" if a.endswith("\n") or not behind else "\n"
    return before + a + joint + behind, before + b + joint + behind


def swapped(random: Random, made: Pair) -> Pair:
    """The pair, in half of all cases the other way round: no label depends on which side is which."""
    if random.random() < 0.5:
        return made
    ids = (made.ids[1], made.ids[0]) if made.ids else None
    return Pair(made.recipe, made.b, made.a, made.labels, made.second, made.movable, ids)
