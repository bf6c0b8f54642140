"""Invisible marks that are put into a rendering to learn what each stretch of it came from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

DIGITS: Final = 16
WIDTH: Final = 5
"""Digits of a mark's number: a million labels."""
LENGTH: Final = WIDTH + 1
"""Characters of a mark."""
SIZE: Final = DIGITS + 2
"""Letters of an alphabet: the digits, and one each that opens and closes."""
PRIVATE: Final = range(0xE000, 0xF900)
"""Characters without a meaning in Unicode. Those of four hex digits, as `tojson` may write them as one escape."""


class MarkError(ValueError):
    """A marked text whose marks do not come in pairs."""


class Stretch(NamedTuple):
    """[start, stop) in characters of the text without marks, and the number that it was marked with."""

    start: int
    stop: int
    number: int


@dataclass(frozen=True)
class Alphabet:
    """The characters that marks are written with; they must not occur in anything that is rendered."""

    letters: str

    def open(self, number: int) -> str:
        """The mark before a stretch."""
        return self.letters[DIGITS] + f"{number:0{WIDTH}x}".translate(self._letter_of)

    def close(self, number: int) -> str:
        """The mark behind a stretch."""
        return self.letters[DIGITS + 1] + f"{number:0{WIDTH}x}".translate(self._letter_of)

    def wrap(self, text: str, number: int) -> str:
        """`text` as a marked stretch."""
        return self.open(number) + text + self.close(number)

    def occurs_in(self, text: str) -> bool:
        """Whether a character of the alphabet stands in `text`, as it is or as a JSON escape."""
        # Long texts mostly hold neither, which is found out sooner this way.
        return (not text.isascii() and re.search(f"[{self.letters}]", text) is not None) or (
            "\\u" in text and re.search(self._escapes, text) is not None
        )

    def read(self, marked: str) -> tuple[str, list[Stretch]]:
        """The text without its marks, and the marked stretches in the order in which they end.

        Raises:
            MarkError: a mark is damaged, or one of a pair is missing.
        """
        raw = marked
        if "\\u" in marked:
            raw = re.sub(self._escapes, lambda found: chr(int(found[0][2:], 16)), marked)
        parts, stretches, opened = [], [], list[tuple[int, int]]()
        end = last = 0
        for found in re.finditer(self._mark, raw):
            parts.append(raw[last : found.start()])
            end, last = end + found.start() - last, found.end()
            number = int(found[0][1:].translate(self._digit_of), 16)
            if found[0][0] == self.letters[DIGITS]:
                opened.append((number, end))
            elif opened and opened[-1][0] == number:
                stretches.append(Stretch(opened.pop()[1], end, number))
            else:
                raise MarkError(f"stretch {number} closes without having been opened")
        text = "".join([*parts, raw[last:]])
        if opened or self.occurs_in(text):
            raise MarkError("a mark is damaged or stays open")
        return text, stretches

    def strip(self, text: str, chars: str | None = None, *, left: bool = True, right: bool = True) -> str:
        """`text` stripped as `str.strip` does it, as if its marks were not there; they stay."""
        start, stop = 0, len(text)
        before, behind = "", ""
        while left and start < stop:
            if _is_in(text[start], chars):
                start += 1
            elif self.is_mark(text[start : start + LENGTH]):
                before += text[start : start + LENGTH]
                start += LENGTH
            else:
                break
        while right and start < stop:
            if _is_in(text[stop - 1], chars):
                stop -= 1
            elif self.is_mark(text[max(start, stop - LENGTH) : stop]):
                behind = text[stop - LENGTH : stop] + behind
                stop -= LENGTH
            else:
                break
        return before + text[start:stop] + behind

    def is_mark(self, text: str) -> bool:
        """Whether `text` is one mark and nothing else."""
        return re.fullmatch(self._mark, text) is not None

    @cached_property
    def _mark(self) -> str:
        return f"[{self.letters[DIGITS:]}][{self.letters[:DIGITS]}]{{{WIDTH}}}"

    @cached_property
    def _escapes(self) -> str:
        return rf"\\u(?:{'|'.join(f'{ord(letter):04x}' for letter in self.letters)})"

    @cached_property
    def _letter_of(self) -> dict[int, str]:
        return {ord(f"{digit:x}"): self.letters[digit] for digit in range(DIGITS)}

    @cached_property
    def _digit_of(self) -> dict[int, str]:
        return {ord(self.letters[digit]): f"{digit:x}" for digit in range(DIGITS)}


def free_alphabet(texts: Sequence[str], first: int) -> Alphabet | None:
    """An alphabet of characters that stand in none of `texts`; None where so few are free.

    `first` decides where the search begins: taken at random, no text can be written against it.
    """
    for place in range(len(PRIVATE) // SIZE):
        start = (first + place) % (len(PRIVATE) // SIZE) * SIZE
        alphabet = Alphabet("".join(map(chr, PRIVATE[start : start + SIZE])))
        if not any(alphabet.occurs_in(text) for text in texts):
            return alphabet
    return None


def mark_whole(text: str, number: int, alphabet: Alphabet) -> str:
    """`text` marked from end to end; blank text as it is, because templates ask whether there is any."""
    return alphabet.wrap(text, number) if text.strip() else text


def mark_pieces(text: str, number: int, alphabet: Alphabet, kept: re.Pattern[str]) -> str:
    """`text` with the stretches between matches of `kept` marked, so that a template finds what it splits it at."""
    pieces = _pieces(text, kept)
    return "".join(piece if is_kept else mark_whole(piece, number, alphabet) for piece, is_kept in pieces)


def _is_in(character: str, chars: str | None) -> bool:
    return character.isspace() if chars is None else character in chars


def _pieces(text: str, kept: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    last = 0
    for found in kept.finditer(text):
        yield text[last : found.start()], False
        yield found[0], True
        last = found.end()
    yield text[last:], False
