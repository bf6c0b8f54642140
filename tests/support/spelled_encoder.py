"""A vocabulary given as a table, for ids whose bytes a test chooses."""

from array import array
from collections.abc import Mapping, Sequence

from shadowviz.tokens.encode.encoder import Content, Encoded
from shadowviz_engine.core.errors import InputError


class SpelledEncoder:
    """Ids with the bytes that a table gives; text becomes the longest tokens that fit, from the front."""

    bos_ids: frozenset[int] = frozenset()
    eos_ids: frozenset[int] = frozenset()

    def __init__(self, table: Mapping[int, bytes], name: str = "spelled") -> None:
        self.table = dict(table)
        self.name = name
        self.fingerprint = name
        self.vocab_size = max(self.table) + 1
        self.content = Content("table", {}, (), {}, {})

    def place(self, text: str, *, add_special: bool = False) -> Encoded:
        raw, place = text.encode(), 0
        longest_first = sorted(self.table, key=lambda token_id: (-len(self.table[token_id]), token_id))
        encoded = Encoded(array("q"), array("q"))
        while place < len(raw):
            token_id = next(token_id for token_id in longest_first if raw.startswith(self.table[token_id], place))
            encoded.ids.append(token_id)
            encoded.starts.append(place)
            place += len(self.table[token_id])
        return encoded

    def token_bytes(self, token_id: int) -> bytes:
        return self.table[token_id]

    def is_control(self, token_id: int) -> bool:
        return False

    def check_ids(self, token_ids: Sequence[int]) -> None:
        for token_id in token_ids:
            if token_id not in self.table:
                raise InputError(f"id {token_id} is not in the table")
