"""What is found for two texts or two lists of ids under DeepSeek-V4's tokenizer."""

from collections.abc import Sequence
from typing import Final

from shadowviz.tokens.align.align import align
from shadowviz.tokens.causes.find import find_causes
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.side import side_of_ids, side_of_text

AROUND: Final = (("", ""), ("First line of it.\n", " And more follows, as usual.\nLast."))
"""What may stand before and behind a difference without changing its cause."""


def causes_of(a: str, b: str) -> tuple[Finding, ...]:
    """Every finding of two texts."""
    sides = side_of_text("A", a, default_tokenizer()), side_of_text("B", b, default_tokenizer())
    return find_causes(*sides, align(*sides))


def causes_of_ids(a: Sequence[int], b: Sequence[int]) -> tuple[Finding, ...]:
    """Every finding of two lists of ids."""
    sides = side_of_ids("A", a, default_tokenizer()), side_of_ids("B", b, default_tokenizer())
    return find_causes(*sides, align(*sides))


def leading_of(a: str, b: str) -> Cause | None:
    """The cause that leads; None where nothing is found."""
    found = causes_of(a, b)
    return found[0].cause if found else None


def leading_both_ways(a: str, b: str, around: tuple[str, str] = ("", "")) -> set[Cause | None]:
    """The causes that lead from A to B and from B to A, inside a text."""
    before, behind = around
    one, other = before + a + behind, before + b + behind
    return {leading_of(one, other), leading_of(other, one)}
