"""What a comparison needs of a tokenizer, whatever file it came from."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from shadowviz.tokens.inert import shown_number
from shadowviz_engine.core.errors import InputError

ADDED_SETTINGS: Final = "settings of added tokens"
"""Name of the step that says of each added token what is on for it."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as ids, and the place of each in the text's UTF-8."""

    ids: "array[int]"
    """Type code `q`."""
    starts: "array[int]"
    """Byte at which each token begins, never falling; type code `q`. A token that stands for nothing in the text, such
    as a marker that the tokenizer added, begins where the next one does."""


@dataclass(frozen=True, slots=True)
class Content:
    """What decides a tokenizer's ids, as plain values that two tokenizers can be compared by."""

    kind: str
    """`BPE`, `WordPiece`, `ranks`, `sentencepiece BPE`, `bytes`."""
    vocabulary: Mapping[str, int]
    """Every token but the added ones; bytes in the letters of byte-level vocabularies."""
    merges: Sequence[str]
    """In order, `left right`; empty where the vocabulary's order says it all."""
    added: Mapping[str, int]
    """Markers that are matched as a whole."""
    steps: Mapping[str, Any]
    """By name: `normaliser`, `pre-tokenizer` and other settings, as plain JSON values."""


class Encoder(Protocol):
    """Text to ids and back, offline and without torch."""

    @property
    def name(self) -> str:
        """How it was asked for: `deepseek-v4`, a path."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the parsed content that decides the ids."""

    @property
    def content(self) -> Content:
        """The parsed content itself."""

    @property
    def vocab_size(self) -> int:
        """One more than the largest id."""

    @property
    def bos_ids(self) -> frozenset[int]:
        """Ids that mark a beginning of text; empty where the tokenizer has none."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that mark an end of text or of a turn."""

    def place(self, text: str, *, add_special: bool = False) -> Encoded:
        """Ids of `text` with their places; markers written in it become their ids where the tokenizer's own library
        reads them so (a sentencepiece model and a tekken file never do).

        Raises:
            InputError: the text has a lone surrogate.
        """

    def token_bytes(self, token_id: int) -> bytes:
        """What the token stands for; a control token as it is written.

        Raises:
            InputError: an id outside the vocabulary.
        """

    def is_control(self, token_id: int) -> bool:
        """Whether the id stands for a marker: matched as a whole before the text around it is split, or never made
        from text at all."""

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """


def check_text(text: str) -> None:
    """Accept text that UTF-8 can carry.

    Raises:
        InputError: names the first lone surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"character {error.start} is the lone surrogate U+{ord(text[error.start]):04X}, expected Unicode text"
        ) from None


def check_range(token_ids: Sequence[int], size: int) -> None:
    """Accept ids from 0 up to `size`.

    Raises:
        InputError: names the first id that is outside.
    """
    if len(token_ids) and (min(token_ids) < 0 or max(token_ids) >= size):
        place, found = next((place, i) for place, i in enumerate(token_ids) if not 0 <= i < size)
        raise InputError(f"token {place} has id {shown_number(found)}, expected 0 to {size - 1}")


def check_known(encoder: Encoder, token_ids: Sequence[int], knows: Callable[[int], bool]) -> None:
    """Accept ids that a vocabulary knows, which may leave out some below its size.

    Raises:
        InputError: names the first id that is outside, or one that is left out.
    """
    unknown = next((token_id for token_id in set(token_ids) if not knows(token_id)), None)
    if unknown is not None:
        check_range(token_ids, encoder.vocab_size)
        raise InputError(f"token {list(token_ids).index(unknown)} has id {unknown}, which {encoder.name} leaves out")
