"""A tokenizer of byte ranks, as tiktoken and tekken files hold it."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.byte_letters import in_letters
from shadowviz.tokens.encode.cuts import SURE, is_known, parts_of
from shadowviz.tokens.encode.encoder import Content, Encoded, check_known, check_text
from shadowviz.tokens.encode.interruptible import in_thread
from shadowviz.tokens.encode.markers import MarkerConfig, added_around, bos_among, eos_among
from shadowviz.tokens.encode.placing import TokenBytes, starts_by_length, surrounded
from shadowviz.tokens.encode.rank_files import RankRules
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

LONG_TEXT: Final = 2**16
"""Characters from which on a text is encoded in parts, and can be interrupted."""


class RankEncoder:
    """Text to ids and back, by the rank of each pair of neighbours."""

    def __init__(
        self, ranks: Mapping[bytes, int], rules: RankRules, name: str, config: MarkerConfig | None = None
    ) -> None:
        """Raises: InputError: an expression that the library cannot use."""
        self._ranks: Final = ranks
        self._rules: Final = rules
        self.name: Final = name
        self._config: Final = config or MarkerConfig()
        self._written: Final = {token_id: marker for marker, token_id in rules.added.items()}
        import tiktoken

        try:
            self._core: Final[Any] = tiktoken.Encoding(
                rules.name,
                pat_str=rules.expression,
                mergeable_ranks=dict(ranks),
                special_tokens=dict(rules.added) if rules.reads_markers else {},
            )
        except BaseException as error:  # the library raises its own panic too
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise InputError(
                f"{name}: {shorten(str(error))}, expected ranks and an expression that tiktoken can use"
            ) from None
        self._bytes: Final = TokenBytes(self._ask)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of ranks, markers and expression."""
        content = self.content
        return sha256(
            msgspec.json.encode([content.vocabulary, content.added, content.steps], order="sorted")
        ).hexdigest()

    @cached_property
    def content(self) -> Content:
        """What decides the ids, parsed."""
        rules = self._rules
        vocabulary = {in_letters(token): rank + rules.offset for token, rank in self._ranks.items()}
        steps = {
            "pre-tokenizer": rules.expression,
            "markers in a text become their ids": rules.reads_markers,
        }
        return Content("ranks", vocabulary, (), rules.added, steps)

    @cached_property
    def vocab_size(self) -> int:
        """One more than the largest id, markers included."""
        return max(max(self._ranks.values()) + self._rules.offset, max(self._written, default=0)) + 1

    @cached_property
    def bos_ids(self) -> frozenset[int]:
        """Ids that mark a beginning of text."""
        return bos_among(self._rules.added, self._config)

    @cached_property
    def eos_ids(self) -> frozenset[int]:
        """Ids that mark an end of text or of a turn."""
        return eos_among(self._rules.added, self._config)

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
            raise InputError(
                f"{self.name}: its tokens leave out part of the text, expected an expression that matches everything"
            )
        encoded = Encoded(ids, starts)
        return surrounded(encoded, *self._around, len(raw)) if add_special else encoded

    def token_bytes(self, token_id: int) -> bytes:
        """What the token stands for; a marker as it is written.

        Raises:
            InputError: an id outside the vocabulary.
        """
        self.check_ids([token_id])
        return self._bytes[token_id]

    def is_control(self, token_id: int) -> bool:
        """Whether the id stands for a marker."""
        return token_id in self._written

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """
        check_known(self, token_ids, self._knows)

    @cached_property
    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return added_around(self._config, self.bos_ids, self.eos_ids, None)

    @cached_property
    def _token_of(self) -> Mapping[int, bytes]:
        return {rank: token for token, rank in self._ranks.items()}

    def _knows(self, token_id: int) -> bool:
        return token_id in self._bytes or token_id in self._written or token_id - self._rules.offset in self._token_of

    def _ask(self, token_id: int) -> bytes:
        marker = self._written.get(token_id)
        return self._token_of[token_id - self._rules.offset] if marker is None else marker.encode()

    def _encode(self, text: str) -> Iterator[int]:
        offset = self._rules.offset
        if len(text) < LONG_TEXT:
            ranks: Iterator[int] = iter(self._ranks_of(text))
        else:
            ranks = in_thread(lambda: self._ranks_of_parts(text))
        return (rank + offset for rank in ranks) if offset else ranks

    def _ranks_of_parts(self, text: str) -> Iterator[int]:
        markers_hold = not self._rules.reads_markers or not any(map(SURE.search, self._rules.added))
        parts = list(parts_of(text)) if markers_hold and is_known(self._rules.expression) else [text]
        with ThreadPoolExecutor(2) as pool:
            return chain.from_iterable(list(pool.map(self._ranks_of, parts)))

    def _ranks_of(self, text: str) -> Sequence[int]:
        try:
            if self._rules.reads_markers:
                return list(self._core.encode(text, allowed_special="all", disallowed_special=()))
            return list(self._core.encode_ordinary(text))
        except BaseException as error:
            if type(error).__name__ == "PanicException":
                raise InputError(
                    f"{self.name}: its expression matches where there is nothing, expected one that takes characters"
                ) from None
            if not isinstance(error, ValueError):
                raise
            # Its expressions give up where spaces go on for about a million characters; another library's do not.
            return list(self._ranks_by_pieces(text))

    def _ranks_by_pieces(self, text: str) -> Iterator[int]:
        import regex

        single: Callable[[bytes], list[int]] = self._core._encode_single_piece
        markers = sorted(self._rules.added, key=len, reverse=True) if self._rules.reads_markers else []
        between = regex.compile("(" + "|".join(map(regex.escape, markers)) + ")") if markers else None
        for part in between.split(text) if between else [text]:
            if part in self._rules.added and markers:
                yield self._rules.added[part]
                continue
            for found in regex.finditer(self._rules.expression, part):
                yield from single(found.group().encode())
