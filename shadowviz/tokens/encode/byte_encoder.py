"""Plain bytes as ids: for models without a vocabulary."""

from array import array
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from shadowviz.tokens.encode.byte_letters import in_letters
from shadowviz.tokens.encode.encoder import Content, Encoded, check_range, check_text


class ByteEncoder:
    """256 ids, one a byte, and no markers."""

    name: Final = "bytes"
    vocab_size: Final = 256
    bos_ids: Final[frozenset[int]] = frozenset()
    eos_ids: Final[frozenset[int]] = frozenset()
    fingerprint: Final = sha256(b"bytes").hexdigest()

    @property
    def content(self) -> Content:
        """A token for every byte."""
        return Content("bytes", {in_letters(bytes([byte])): byte for byte in range(256)}, (), {}, {})

    def place(self, text: str, *, add_special: bool = False) -> Encoded:  # noqa: ARG002 - nothing can be added
        """The bytes of `text`.

        Raises:
            InputError: the text has a lone surrogate.
        """
        check_text(text)
        raw = text.encode()
        return Encoded(array("q", list(raw)), array("q", range(len(raw))))

    def token_bytes(self, token_id: int) -> bytes:
        """The byte.

        Raises:
            InputError: an id that is no byte.
        """
        self.check_ids([token_id])
        return bytes([token_id])

    def is_control(self, token_id: int) -> bool:  # noqa: ARG002 - the same for all
        """Never: every id is a byte."""
        return False

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept bytes only.

        Raises:
            InputError: names the first id that is none.
        """
        check_range(token_ids, self.vocab_size)
