"""One of two prompts that are compared: its ids, its text, and what each stretch of it is."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shadowviz.tokens.encode.characters import character_starts
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.rendering.render import Segment
from shadowviz_engine.core.spans import Extent


@dataclass(frozen=True)
class Conversation:
    """Where a prompt came from, as plain JSON values: for causes that only the structure shows."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    """Of the rendering: `thinking`, `effort`, `drop_thinking`, or a template's variables."""


WriteText = Callable[[Conversation], str]
"""The text of a conversation; raises InputError where it has none."""


@dataclass(frozen=True)
class Side:
    """A prompt ready to be compared."""

    name: str
    """As it is called in sentences: `A`, `B`, `request-3`."""
    encoder: Encoder
    ids: "array[int]"
    starts: "array[int]"
    """Byte of `raw` at which each token begins; type code `q`."""
    text: str
    """What was encoded; for ready ids what they stand for, bytes that form no character as U+FFFD."""
    raw: bytes
    """`text` in UTF-8; for ready ids the bytes they stand for."""
    segments: tuple[Segment, ...] = ()
    """Labelled stretches in characters of `text`; empty where the prompt was not rendered."""
    conversation: Conversation | None = None
    write: WriteText | None = field(default=None, compare=False)
    """Makes `text` of the conversation; None = as DeepSeek-V4's encoding does."""
    notes: tuple[str, ...] = ()
    """What reading it brought up, one printable line each: `not UTF-8 at byte 17 (\\xff)`."""
    given: bytes = b""
    """What was given, where that is not UTF-8 and so not `raw`."""

    def bytes_of(self, tokens: Extent) -> bytes:
        """What a stretch of tokens stands for in `raw`."""
        return self.raw[self.byte_at(tokens.start) : self.byte_at(tokens.stop)]

    def byte_at(self, token: int) -> int:
        """Where the token at an index begins; the length of `raw` behind the last one."""
        return self.starts[token] if token < len(self.starts) else len(self.raw)

    def token_at(self, byte: int) -> int:
        """Index of the last token that begins at or before a byte; 0 where none does."""
        return max(0, bisect_right(self.starts, byte) - 1)

    def character_at(self, token: int) -> int:
        """Index in `text` of the character in which the token begins; the length of `text` behind the last one."""
        byte = self.byte_at(token)
        if byte >= len(self.raw):
            return len(self.text)
        return int(np.searchsorted(self._character_starts, byte, side="right")) - 1

    def segment_of(self, token: int) -> Segment | None:
        """The labelled stretch in which the token begins; None where nothing is labelled, or behind the end."""
        if not self.segments or not 0 <= token < len(self.ids):
            return None
        character = self.character_at(token)
        return self.segments[bisect_right(self._segment_starts, character) - 1]

    @cached_property
    def _character_starts(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """Byte of `raw` at which each character of `text` begins."""
        return character_starts(self.text, self.raw)

    @cached_property
    def _segment_starts(self) -> list[int]:
        return [segment.start for segment in self.segments]


def side_of_text(
    name: str,
    text: str,
    encoder: Encoder,
    *,
    add_special: bool = False,
    segments: Sequence[Segment] = (),
    conversation: Conversation | None = None,
    write: WriteText | None = None,
    notes: Sequence[str] = (),
) -> Side:
    """The side that a text makes.

    Raises:
        InputError: the text has a lone surrogate.
    """
    placed = encoder.place(text, add_special=add_special)
    return Side(
        name,
        encoder,
        placed.ids,
        placed.starts,
        text,
        text.encode(),
        tuple(segments),
        conversation,
        write,
        tuple(notes),
    )


def side_of_ids(name: str, ids: Sequence[int], encoder: Encoder, notes: Sequence[str] = ()) -> Side:
    """The side that ready ids make.

    Raises:
        InputError: an id outside the vocabulary.
    """
    encoder.check_ids(ids)
    kept = array("q", iter(ids))
    table = {token_id: encoder.token_bytes(token_id) for token_id in dict.fromkeys(kept)}
    pieces = [table[token_id] for token_id in kept]
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    starts = array("q", np.concatenate(([0], ends[:-1])).astype(np.int64).tobytes() if pieces else b"")
    raw = b"".join(pieces)
    return Side(name, encoder, kept, starts, raw.decode(errors="replace"), raw, notes=tuple(notes))
