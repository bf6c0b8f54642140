"""Which markers of a vocabulary begin and end a text, by their names and by a tokenizer_config.json."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

CONFIG: Final = "tokenizer_config.json"
_BOS_NAMES: Final = frozenset({"begin_of_sentence", "begin_of_text", "bos", "s", "startoftext", "start_of_text", "cls"})
_EOS_NAMES: Final = frozenset(
    {"end_of_sentence", "end_of_text", "endoftext", "eos", "/s", "sep", "im_end", "end_of_turn", "end", "return"}
    | {"eot", "eot_id", "eom", "eom_id"}
)


@dataclass(frozen=True, slots=True)
class MarkerConfig:
    """What the configuration beside a tokenizer says of its markers; None where it says nothing."""

    bos: str | None = None
    eos: str | None = None
    add_bos: bool | None = None
    add_eos: bool | None = None
    added: Mapping[str, int] = field(default_factory=dict)
    """Markers that it names, with their ids."""


def bos_among(markers: Mapping[str, int], config: MarkerConfig) -> frozenset[int]:
    """Ids of the markers that begin a text."""
    return _among(markers, _BOS_NAMES, config.bos)


def eos_among(markers: Mapping[str, int], config: MarkerConfig) -> frozenset[int]:
    """Ids of the markers that end a text or a turn."""
    return _among(markers, _EOS_NAMES, config.eos)


def added_around(
    config: MarkerConfig,
    bos: Iterable[int],
    eos: Iterable[int],
    own: tuple[tuple[int, ...], tuple[int, ...]] | None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Ids that encoding with special tokens puts before and behind a text.

    Args:
        own: what the tokenizer's own post-processor adds; None where it has none.
    """
    before, behind = own if own is not None else ((), ())
    first_bos, first_eos = min(bos, default=None), min(eos, default=None)
    if config.add_bos is False:
        before = ()
    elif not before and first_bos is not None and (config.add_bos or own is None):
        before = (first_bos,)
    if config.add_eos is False:
        behind = ()
    elif not behind and first_eos is not None and config.add_eos:
        behind = (first_eos,)
    return before, behind


def read_marker_config(path: Path) -> MarkerConfig:
    """The markers of a tokenizer_config.json; nothing where there is no such file.

    Raises:
        InputError: a file that is no such configuration.
    """
    if not path.is_file():
        return MarkerConfig()
    try:
        content = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no {CONFIG}: {shorten(str(error))}, expected a JSON object") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is no {CONFIG}: found {type(content).__name__}, expected a JSON object")
    flags = {key: content.get(key) for key in ("add_bos_token", "add_eos_token")}
    for key, value in flags.items():
        if value is not None and not isinstance(value, bool):
            raise InputError(f"{path}: {key} is {shorten(repr(value), 40)}, expected true or false")
    return MarkerConfig(
        _written(content.get("bos_token")),
        _written(content.get("eos_token")),
        flags["add_bos_token"],
        flags["add_eos_token"],
        _added(content.get("added_tokens_decoder")),
    )


def _added(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    named = ((_written(token), token_id) for token_id, token in value.items())
    return {written: int(token_id) for written, token_id in named if written and token_id.isdecimal()}


def _written(value: Any) -> str | None:
    found = value.get("content") if isinstance(value, dict) else value
    return found if isinstance(found, str) else None


def _among(markers: Mapping[str, int], names: frozenset[str], configured: str | None) -> frozenset[int]:
    if configured is not None and configured in markers:
        # Its turns may end with another marker than its texts, so names count too; a text begins in one way only.
        also = _among(markers, names, None) if names is _EOS_NAMES else frozenset()
        return also | {markers[configured]}
    return frozenset(token_id for written, token_id in markers.items() if _plain(written) in names)


def _plain(written: str) -> str:
    if not (written[:1] in "<[" and written[-1:] in ">]"):
        return ""
    return written[1:-1].strip("|｜").replace("▁", "_").lower()
