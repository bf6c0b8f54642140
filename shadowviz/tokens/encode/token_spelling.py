"""What the tokens of a tokenizer.json stand for, by the way its vocabulary is written."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.byte_letters import from_letters

SPACE_MARK: Final = "▁"
_ONE_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")


def state_of(step: Any) -> Any:
    """A step of the library's pipeline as plain JSON values; None where there is none."""
    return None if step is None else msgspec.json.decode(step.__getstate__())


def types_in(state: Any) -> Iterator[str]:
    """Names of all steps in a state, those of sequences included."""
    if isinstance(state, dict):
        if isinstance(state.get("type"), str):
            yield state["type"]
        for value in state.values():
            yield from types_in(value)
    elif isinstance(state, list):
        for value in state:
            yield from types_in(value)


def spelling_of(inner: Any) -> Callable[[str], bytes]:
    """What a written token of a `tokenizers.Tokenizer` stands for, as a function."""
    before, behind = state_of(inner.pre_tokenizer), state_of(inner.decoder)
    if "ByteLevel" in {*types_in(before), *types_in(behind)}:
        return from_letters
    model = inner.model
    prefix = getattr(model, "continuing_subword_prefix", None) or ""
    suffix = getattr(model, "end_of_word_suffix", None) or ""
    has_bytes = bool(getattr(model, "byte_fallback", False)) or "ByteFallback" in set(types_in(behind))

    def spelled(written: str) -> bytes:
        one = _ONE_BYTE.fullmatch(written) if has_bytes else None
        if one:
            return bytes.fromhex(one[1])
        if prefix and written.startswith(prefix):
            written = written.removeprefix(prefix)
        if suffix and written.endswith(suffix):
            written = written.removesuffix(suffix) + " "
        return written.replace(SPACE_MARK, " ").encode()

    return spelled
