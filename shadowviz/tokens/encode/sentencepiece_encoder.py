"""A tokenizer from a sentencepiece model."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.encoder import Content, Encoded, check_range, check_text
from shadowviz.tokens.encode.interruptible import in_thread
from shadowviz.tokens.encode.markers import MarkerConfig, added_around
from shadowviz.tokens.encode.placing import TokenBytes, byte_of_character, rising, starts_by_length, surrounded
from shadowviz.tokens.encode.sentencepiece_kinds import BYTE, CONTROL, UNKNOWN, USER_DEFINED, kinds_of, merges_pairs
from shadowviz.tokens.encode.sentencepiece_parts import parts_for
from shadowviz.tokens.encode.token_spelling import SPACE_MARK
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

LONG_TEXT: Final = 2**16
"""Characters from which on a text is encoded in parts, and can be interrupted."""
_MARKERS: Final = frozenset({CONTROL, USER_DEFINED})


class SentencePieceEncoder:
    """Text to ids and back; a control marker written in a text stays text, as in the library."""

    def __init__(self, model: bytes, name: str, config: MarkerConfig | None = None) -> None:
        """Raises: InputError: the bytes are no sentencepiece model."""
        import sentencepiece

        self.name: Final = name
        self._config: Final = config or MarkerConfig()
        self._inner: Final[Any] = sentencepiece.SentencePieceProcessor()
        try:
            self._inner.LoadFromSerializedProto(model)
            self._pieces: Final = [str(self._inner.id_to_piece(i)) for i in range(self._inner.get_piece_size())]
            self._kinds: Final = kinds_of(model)
            self._merges_pairs: Final = merges_pairs(model)
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise InputError(f"{name} is no sentencepiece model: {shorten(str(error))}, expected a *.model") from None
        self._bytes: Final = TokenBytes(self._ask)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of pieces, their kinds and scores, and of how the model treats spaces and characters."""
        content = self.content
        scores = [round(float(self._inner.get_score(token_id)), 6) for token_id in range(self.vocab_size)]
        parts = [content.kind, content.vocabulary, content.added, content.steps, scores, self._kinds]
        return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()

    @cached_property
    def content(self) -> Content:
        """What decides the ids, parsed."""
        pieces = {piece: token_id for token_id, piece in enumerate(self._pieces)}
        added = {piece: token_id for piece, token_id in pieces.items() if self.is_control(token_id)}
        vocabulary = {piece: token_id for piece, token_id in pieces.items() if piece not in added}
        return Content("sentencepiece", vocabulary, (), added, {"normaliser": self._normalises})

    @cached_property
    def vocab_size(self) -> int:
        """Number of pieces."""
        return len(self._pieces)

    @cached_property
    def bos_ids(self) -> frozenset[int]:
        """The id that marks a beginning of text, if the model has one."""
        return frozenset({int(self._inner.bos_id())} - {-1})

    @cached_property
    def eos_ids(self) -> frozenset[int]:
        """The id that marks an end of text, if the model has one."""
        return frozenset({int(self._inner.eos_id())} - {-1})

    def place(self, text: str, *, add_special: bool = False) -> Encoded:
        """Ids of `text` with their places.

        Raises:
            InputError: the text has a lone surrogate.
        """
        check_text(text)
        raw = text.encode()
        ids = array("q", self._encode(text))
        starts = starts_by_length(ids, raw, self._bytes)
        if starts is None:
            bytes_at = byte_of_character(text)
            offsets = in_thread(lambda: self._inner.encode(text, return_type="offset_mapping"))["offsets"]
            starts = rising(bytes_at[start] for start, _ in offsets)
        encoded = Encoded(ids, starts)
        return surrounded(encoded, *self._around, len(raw)) if add_special else encoded

    def token_bytes(self, token_id: int) -> bytes:
        """What the piece stands for; a marker as it is written.

        Raises:
            InputError: an id outside the vocabulary.
        """
        self.check_ids([token_id])
        return self._bytes[token_id]

    def is_control(self, token_id: int) -> bool:
        """Whether the id stands for a marker: no text becomes it, or one that is matched as a whole."""
        return 0 <= token_id < self.vocab_size and self._kinds[token_id] in _MARKERS

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """
        check_range(token_ids, self.vocab_size)

    @cached_property
    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return added_around(self._config, self.bos_ids, self.eos_ids, None)

    @cached_property
    def _normalises(self) -> Mapping[str, Any]:
        """How the model treats a text before it splits it, seen on texts that tell."""
        probes = (" a", "a  a", "a ", "Ａ", "e\u0301", "\u200b", "\t", "\r\n", "ﬁ")
        return {probe: str(self._inner.normalize(probe)) for probe in probes}

    def _ask(self, token_id: int) -> bytes:
        piece, kind = self._pieces[token_id], self._kinds[token_id]
        if kind == BYTE:
            return bytes.fromhex(piece[3:5])
        return piece.encode() if kind in (*_MARKERS, UNKNOWN) else piece.replace(SPACE_MARK, " ").encode()

    def _encode(self, text: str) -> Iterator[int]:
        if len(text) < LONG_TEXT:
            return iter(self._inner.encode(text))
        # Where scores of all pieces are summed, rounding would see the parts.
        parts = (parts_for(text, self._inner) if self._merges_pairs else ()) or [text]
        return chain.from_iterable(in_thread(lambda: self._inner.encode(parts, num_threads=2)))
