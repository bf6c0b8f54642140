"""A tokenizer by name, file or folder; told apart by content, offline, without torch."""

import re
import zlib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.byte_encoder import ByteEncoder
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.markers import CONFIG, MarkerConfig, read_marker_config
from shadowviz.tokens.encode.packaged import FAMILY, packaged_encoder
from shadowviz.tokens.encode.tokenizer import Tokenizer
from shadowviz.tokens.inert import inert_bytes, printable, shorten
from shadowviz_engine.core.errors import InputError

LARGEST_BYTES: Final = 2**28
"""Largest file that is read; vocabularies of half a million tokens take a tenth."""
EXPECTED: Final = (
    "expected a tokenizer.json, a tiktoken rank file, a sentencepiece model, a tekken json or a folder with one of them"
)
_RANK_LINE: Final = re.compile(rb"\s*[A-Za-z0-9+/]+=* \d+\s*(\n|$)")
_IN_FOLDER: Final = ("tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model", "spiece.model")
_PATTERNS: Final = ("*.tiktoken", "*.tiktoken.gz", "tekken*.json", "*.model", "*.model.v*")


class _Head(msgspec.Struct):
    """What tells JSON files of tokenizers apart; the parts stay unparsed."""

    model: msgspec.Raw = msgspec.Raw()
    config: msgspec.Raw = msgspec.Raw()
    vocab: msgspec.Raw = msgspec.Raw()


def load_tokenizer(spec: str) -> Encoder:
    """The tokenizer that `spec` asks for: `deepseek-v4`, `-v3`, `-v2`, `bytes`, or a path.

    Raises:
        InputError: says what was found, what was expected and what to do.
    """
    if spec == "bytes":
        return ByteEncoder()
    if spec in FAMILY:
        return packaged_encoder(spec)
    path = Path(spec)
    try:
        if spec and path.is_dir():
            return load_file(file_in(path), spec)
        if path.is_file():
            return load_file(path, spec)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{printable(spec)} cannot be read: {shorten(str(error))}, {EXPECTED}") from None
    names = ", ".join(("bytes", *FAMILY))
    raise InputError(
        f"no tokenizer {shorten(spec) or 'without a name'}: there is no such file or folder, and no such name ({names})"
    )


def file_in(folder: Path) -> Path:
    """The tokenizer's file in a folder of a model.

    Raises:
        InputError: it has none.
    """
    named = (folder / name for name in _IN_FOLDER)
    found = next((path for path in named if path.is_file()), None)
    if found is None:
        matching = (path for pattern in _PATTERNS for path in sorted(folder.glob(pattern)) if path.is_file())
        found = next(matching, None)
    if found is None:
        there = sorted(path.name for path in folder.iterdir())
        shown = ", ".join(there[:6]) + (f" and {len(there) - 6} more" if len(there) > 6 else "") or "nothing"
        raise InputError(f"{printable(str(folder))} has no tokenizer: found {shorten(shown)}, {EXPECTED}")
    return found


def load_file(path: Path, name: str) -> Encoder:
    """The tokenizer of one file, whatever the file is called.

    Raises:
        InputError: a file of another kind.
    """
    shown = printable(str(path))
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise InputError(f"{shown} has {size} bytes, expected at most {LARGEST_BYTES}, {EXPECTED}")
    raw = unpacked(path.read_bytes(), shown)
    begins = raw[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if begins.startswith((b"{", b"[")):
        return _load_json(raw, path, name)
    config = read_marker_config(path.parent / CONFIG)
    if _RANK_LINE.match(raw):
        return _load_ranks(raw, name, shown, config)
    if raw.startswith(b"\n"):
        _require("sentencepiece", "sentencepiece model", shown)
        from shadowviz.tokens.encode.sentencepiece_encoder import SentencePieceEncoder

        return SentencePieceEncoder(raw, name, config)
    raise InputError(f"{shown} is no tokenizer: it {_what(raw)}, {EXPECTED}")


def unpacked(raw: bytes, shown: str) -> bytes:
    """The content of a gzip file; other bytes as they are.

    Raises:
        InputError: a torn file, or one that would fill the memory.
    """
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(raw, LARGEST_BYTES + 1)
    except zlib.error as error:
        raise InputError(f"{shown} is a torn gzip file: {shorten(str(error))}, {EXPECTED}") from None
    if len(content) > LARGEST_BYTES or not unpacker.eof:
        what = f"unpacks to more than {LARGEST_BYTES} bytes" if len(content) > LARGEST_BYTES else "ends too early"
        raise InputError(f"{shown} {what}, {EXPECTED}")
    return content


def _load_json(raw: bytes, path: Path, name: str) -> Encoder:
    shown = printable(str(path))
    try:
        head = msgspec.json.decode(raw, type=_Head)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"{shown} is no tokenizer: {shorten(str(error))}, {EXPECTED}") from None
    if bytes(head.model):
        return Tokenizer(path, name)
    if bytes(head.config) and bytes(head.vocab):
        _require("tiktoken", "tekken file", shown)
        from shadowviz.tokens.encode.tekken import tekken_encoder

        return tekken_encoder(_object(raw, shown), name)
    keys = ", ".join(sorted(_object(raw, shown))[:6])
    raise InputError(f"{shown} is no tokenizer: found JSON with {shorten(keys) or 'nothing in it'}, {EXPECTED}")


def _load_ranks(raw: bytes, name: str, shown: str, config: MarkerConfig) -> Encoder:
    _require("tiktoken", "rank file", shown)
    from shadowviz.tokens.encode.rank_encoder import RankEncoder
    from shadowviz.tokens.encode.rank_files import parse_ranks, rules_of, unknown_rules

    ranks = parse_ranks(raw, shown)
    rules = rules_of(ranks)
    if rules is None:
        rules = unknown_rules()
        name = f"{name} ({rules.name})"
    rules = replace(rules, added={**rules.added, **config.added})
    return RankEncoder(ranks, rules, name, config)


def _object(raw: bytes, shown: str) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"{shown} is no tokenizer: {shorten(str(error))}, {EXPECTED}") from None
    return content


def _require(package: str, what: str, shown: str) -> None:
    if find_spec(package) is None:
        raise InputError(f"{shown} is a {what}, which takes the package {package}: pip install {package}")


def _what(raw: bytes) -> str:
    if not raw:
        return "is empty"
    if raw.startswith(b"PK"):
        return "is a zip archive"
    if raw.startswith(b"\x80"):
        return "is a pickle, which is never loaded"
    return f"begins with {inert_bytes(raw[:16])}"
