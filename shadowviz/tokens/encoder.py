"""What a comparison needs of a tokenizer, whatever file it came from."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as ids, and the place of each in the text's UTF-8."""

    ids: array[int]
    """Type code `q`."""
    starts: array[int]
    """Byte at which each token begins, never falling; type code `q`. A token that stands for nothing in the text, such
    as a marker that the tokenizer added, begins where the next one does."""


class Encoder(Protocol):
    """Text to ids and back, offline and without torch."""

    @property
    def name(self) -> str:
        """How it was asked for: `deepseek-v4`, a path."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the parsed content that decides the ids."""

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
        """Ids of `text` with their places; markers written in it become their ids.

        Raises:
            InputError: the text has a lone surrogate.
        """

    def token_bytes(self, token_id: int) -> bytes:
        """What the token stands for; a control token as it is written.

        Raises:
            InputError: an id outside the vocabulary.
        """

    def is_control(self, token_id: int) -> bool:
        """Whether the id stands for a marker that is matched as a whole, before the text around it is split."""

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """
