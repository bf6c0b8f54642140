"""Where tokens begin in the text's UTF-8."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain

from shadowviz.tokens.encode.encoder import Encoded


class TokenBytes(dict[int, bytes]):
    """What each id stands for, asked once."""

    def __init__(self, ask: Callable[[int], bytes]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, token_id: int) -> bytes:
        found = self[token_id] = self._ask(token_id)
        return found


def starts_by_length(ids: Sequence[int], raw: bytes, table: TokenBytes) -> "array[int] | None":
    """Starts of tokens whose bytes, joined, are the text; None where they are not.

    A space that the tokenizer puts before the text is no part of it: the first token then begins at 0.
    """
    pieces = [table[token_id] for token_id in ids]
    joined = b"".join(pieces)
    put_before = 0
    if joined != raw:
        if joined != b" " + raw:
            return None
        put_before = 1
    starts = array("q", accumulate(map(len, pieces), initial=-put_before))
    starts.pop()
    for place, start in enumerate(starts):
        if start >= 0:
            break
        starts[place] = 0
    return starts


def rising(starts: Iterable[int]) -> "array[int]":
    """The starts, none before the one in front of it."""
    return array("q", accumulate(starts, max))


def byte_of_character(text: str) -> Sequence[int]:
    """Byte at which each character begins, and the length in bytes behind the last."""
    if text.isascii():
        return range(len(text) + 1)
    return array("q", accumulate((_width(ord(character)) for character in text), initial=0))


def surrounded(encoded: Encoded, before: Sequence[int], behind: Sequence[int], end: int) -> Encoded:
    """With markers that the tokenizer adds: those behind begin at `end`, the length of the text in bytes."""
    if not before and not behind:
        return encoded
    return Encoded(
        array("q", chain(before, encoded.ids, behind)),
        array("q", chain([0] * len(before), encoded.starts, [end] * len(behind))),
    )


def _width(code: int) -> int:
    return 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)
