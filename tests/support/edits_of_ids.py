"""Pairs of ready ids: the same text as other ids, markers as letters, marks of a beginning and an end."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

from edits_of_markers import BOS, EOS, MARKERS
from labelled import Pair, choose_sites, swapped
from prompt_texts import plain_prompt, sentences


class Ids:
    """What the edits need of a byte-level tokenizer: the library's own object, not the code under test."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.added = set(inner.get_added_tokens_decoder())

    def of(self, text: str) -> list[int]:
        """Ids of a text, nothing added."""
        return list(self.inner.encode(text, add_special_tokens=False).ids)

    def halves(self, random: Random, token_id: int) -> list[int] | None:
        """Two tokens that together are written as this one; None where there are none."""
        written = "" if token_id in self.added else str(self.inner.id_to_token(token_id))
        cuts = list(range(1, len(written)))
        random.shuffle(cuts)
        for cut in cuts:
            both = [self.inner.token_to_id(written[:cut]), self.inner.token_to_id(written[cut:])]
            if None not in both:
                return both
        return None


def retokenized(random: Random, ids: Ids) -> Pair | None:
    """Tokens that a model generated in two parts, where the tokenizer writes one."""
    text = plain_prompt(random)
    whole = ids.of(text)
    sites = [(place, place + 1, "") for place in range(len(whole))]
    parts: list[int] = []
    chosen = {start for start, _, _ in choose_sites(random, sites)}
    for place, token_id in enumerate(whole):
        parts += (ids.halves(random, token_id) if place in chosen else None) or [token_id]
    return _of_ids("halves", whole, parts, "RETOKENIZED") if parts != whole else None


def marker_as_letters(random: Random, ids: Ids) -> Pair | None:
    """A control token against the letters with which it is written."""
    marker = random.choice(MARKERS)
    before, behind = ids.of(sentences(random, 2)), ids.of(sentences(random, 1))
    control = ids.of(marker)
    letters = [*ids.of(marker[:1]), *ids.of(marker[1:])]
    if len(control) != 1 or control == letters:
        return None
    return _of_ids(marker, [*before, *control, *behind], [*before, *letters, *behind], "SPECIAL_VS_TEXT")


def bos_ids(random: Random, ids: Ids) -> Pair | None:
    """The mark of a beginning: none, once, twice."""
    text, mark = ids.of(plain_prompt(random)), ids.of(BOS)
    if random.random() < 0.5:
        return _of_ids("once and twice", mark + text, mark + mark + text, "BOS_DOUBLED")
    return _of_ids("none and once", text, mark + text, "BOS_MISSING")


def eos_ids(random: Random, ids: Ids) -> Pair | None:
    """Another mark of an end behind an answer."""
    before, behind = ids.of(sentences(random, 2)), ids.of(sentences(random, 2))
    one, other = (ids.of(mark) for mark in (EOS, "<|EOT|>"))
    return _of_ids("end", before + one + behind, before + other + behind, "EOS_SWAPPED")


def next_turn(random: Random, ids: Ids) -> Pair | None:
    """More ids behind all of the other's."""
    whole = ids.of(plain_prompt(random))
    return _of_ids("more ids", whole[: random.randint(1, len(whole) - 1)], whole, "EXTENDS")


def same_ids(random: Random, ids: Ids) -> Pair | None:
    """Twice the same ids, also such as no text gives."""
    whole = ids.of(plain_prompt(random))
    parts = [part for token_id in whole for part in ids.halves(random, token_id) or [token_id]]
    return _of_ids("same ids", parts, list(parts), "NONE")


def _of_ids(recipe: str, a: Sequence[int], b: Sequence[int], label: str) -> Pair:
    return Pair(recipe, "", "", frozenset({label}), movable=False, ids=(tuple(a), tuple(b)))


IdEdit = Callable[[Random, Ids], Pair | None]
EDITS: Final[dict[str, IdEdit]] = {
    "RETOKENIZED": retokenized,
    "SPECIAL_VS_TEXT": marker_as_letters,
    "BOS": bos_ids,
    "EOS_SWAPPED": eos_ids,
    "EXTENDS": next_turn,
    "NONE": same_ids,
}


def labelled_ids(seed: int, each: int, inner: Any) -> Iterator[tuple[str, Pair]]:
    """`each` pairs of every edit of ids, with the class that they are counted under."""
    ids = Ids(inner)
    for name, edit in EDITS.items():
        for number in range(each):
            random = Random(f"{seed} ids {name} {number}")
            made = None
            while made is None:
                made = edit(random, ids)
            yield next(iter(made.labels)), swapped(random, made)
