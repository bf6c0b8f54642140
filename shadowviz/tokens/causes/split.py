"""Two stretches of text split into the edits that lead from one to the other."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from shadowviz.tokens.causes.blanks import LINE_ENDS
from shadowviz.tokens.causes.characters import hidden, plain_dash, plain_quote
from shadowviz.tokens.causes.edit import Edit, Stretch
from shadowviz.tokens.causes.lookalikes import skeleton

LONG: Final = 20_000
"""Characters of one side from which on a stretch is another text, and is not looked into."""
PIECES: Final = 500
"""Words and marks of one side from which on a stretch is not split."""

_PIECE: Final = re.compile(r"\r\n|[^\W\d_]+|\d+|[-'`]{2,}|.", re.DOTALL)


def edits_between(a: Stretch, b: Stretch) -> list[Edit]:
    """The differing stretches of two texts, split at words and marks; none where they are equal."""
    whole = Edit(a, b).trimmed()
    if whole.a.found == whole.b.found:
        return []
    if not whole.a.found or not whole.b.found or max(len(stretch.found) for stretch in whole) > LONG:
        return [whole]
    pieces_a, pieces_b = (_PIECE.findall(stretch.found) for stretch in whole)
    if max(len(pieces_a), len(pieces_b)) > PIECES:
        return [whole]
    return list(_split(whole, pieces_a, pieces_b))


def _split(whole: Edit, pieces_a: Sequence[str], pieces_b: Sequence[str]) -> Iterator[Edit]:
    at_a, at_b = _places(whole.a.start, pieces_a), _places(whole.b.start, pieces_b)
    # Pieces are matched by what they say, so that one that is only written otherwise finds its like.
    keys_a, keys_b = list(map(_key, pieces_a)), list(map(_key, pieces_b))
    for op, a0, a1, b0, b1 in SequenceMatcher(None, keys_a, keys_b, autojunk=False).get_opcodes():
        if op != "equal":
            yield _edit(whole, at_a[a0], at_a[a1], at_b[b0], at_b[b1])
            continue
        for one, other in zip(range(a0, a1), range(b0, b1), strict=True):
            if pieces_a[one] != pieces_b[other]:
                yield _edit(whole, at_a[one], at_a[one + 1], at_b[other], at_b[other + 1])


def _edit(whole: Edit, start_a: int, stop_a: int, start_b: int, stop_b: int) -> Edit:
    return Edit(Stretch(whole.a.text, start_a, stop_a), Stretch(whole.b.text, start_b, stop_b)).trimmed()


def _places(start: int, pieces: Sequence[str]) -> list[int]:
    places = [start]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    return places


@lru_cache(maxsize=4096)
def _key(piece: str) -> str:
    """What a piece says, whichever way it is written."""
    if piece == "\r\n" or piece in LINE_ENDS:
        return "\n"
    if piece.isspace():
        return " "
    if len(piece) == 1 and hidden(piece):
        return piece
    if not piece[0].isalnum():
        # Two hyphens stand for a dash, and two apostrophes for a quotation mark.
        piece = "".join(dict.fromkeys(plain_dash(plain_quote(mark)) for mark in piece))
    return unicodedata.normalize("NFKC", skeleton(piece)).casefold()
