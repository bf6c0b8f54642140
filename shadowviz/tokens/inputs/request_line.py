"""One line of a request file, as it is written: fields, types and what may stand together."""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from shadowviz.tokens.inert import inert, shown_number
from shadowviz.tokens.rendering.deepseek_v4 import Effort
from shadowviz.tokens.rendering.messages import Message, Tool, describe
from shadowviz.tokens.rendering.render import RenderOptions
from shadowviz_engine.core.errors import InputError

MAX_NAME: Final = 256
"""Longest `id` and `namespace`, in characters."""
MAX_TOKENS: Final = 1_000_000
MAX_SEED: Final = 2**63 - 1
MAX_AT_S: Final = 1e9


class RequestLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One request: exactly one of `messages`, `prompt` and `token_ids`, and what goes with it.

    `tools`, `thinking`, `effort` and `drop_thinking` need `messages`. `at_s` is when the request arrives, in seconds
    from the start of the run. A temperature of 0 takes the likeliest token. With a `logprob_start` the probabilities of
    the prompt's tokens behind that position are wanted, so that no more is reused; -1 asks for none.
    """

    messages: list[Message] | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    token_ids: list[int] | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET
    thinking: bool | UnsetType = UNSET
    effort: Effort | UnsetType = UNSET
    drop_thinking: bool | UnsetType = UNSET
    id: str | UnsetType = UNSET
    max_tokens: int = 16
    at_s: float = 0.0
    namespace: str = ""
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    logprob_start: int = -1

    def __post_init__(self) -> None:
        self._check_prompt()
        _check_name("id", self.id)
        _check_name("namespace", self.namespace or UNSET)
        _check_range("max_tokens", self.max_tokens, 1, MAX_TOKENS)
        _check_range("at_s", self.at_s, 0, MAX_AT_S)
        _check_range("temperature", self.temperature, 0, 100)
        _check_range("seed", self.seed, 0, MAX_SEED)
        _check_range("logprob_start", self.logprob_start, -1, MAX_TOKENS)
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p is {self.top_p}, expected more than 0 and at most 1")

    def _check_prompt(self) -> None:
        given = [name for name in ("messages", "prompt", "token_ids") if getattr(self, name) is not UNSET]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise InputError(f"found {found}, expected exactly one of messages, prompt, token_ids")
        if not getattr(self, given[0]):
            raise InputError(f"{given[0]} is empty, expected a prompt")
        if given != ["messages"]:
            for name in ("tools", "thinking", "effort", "drop_thinking"):
                if getattr(self, name) is not UNSET:
                    raise InputError(f"found {name} with {given[0]}, expected it with messages only")

    @property
    def options(self) -> RenderOptions:
        """How the messages are rendered."""
        names = ("thinking", "effort", "drop_thinking")
        return RenderOptions(**{name: value for name in names if (value := getattr(self, name)) is not UNSET})


def decode_line(raw: bytes) -> RequestLine:
    """The request that a line of JSON describes.

    Raises:
        InputError: what was found and what was expected, without the place in the file.
    """
    try:
        return _DECODER.decode(raw)
    except msgspec.MsgspecError as error:
        raise InputError(_complaint(error)) from None
    except RecursionError:
        raise InputError("JSON nests too deep, expected an object with plain fields") from None


_DECODER: Final = msgspec.json.Decoder(RequestLine)


def _complaint(error: msgspec.MsgspecError) -> str:
    text = describe(error)
    if "truncated" in text:
        text = "it ends too soon, or within a surrogate pair"
    if not isinstance(error, msgspec.ValidationError):
        return f"found bad JSON ({text}), expected one JSON object in UTF-8"
    if text.startswith("Object contains unknown field"):
        return f"{text}, expected one of {', '.join(RequestLine.__struct_fields__)}"
    return text


def _check_name(field: str, value: str | UnsetType) -> None:
    if isinstance(value, str) and (not 0 < len(value) <= MAX_NAME or not value.isprintable()):
        shown = inert(value[:40])
        raise InputError(f"{field} is '{shown}' ({len(value)} characters), expected 1 to {MAX_NAME} printable ones")


def _check_range(field: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(f"{field} is {shown_number(value)}, expected {low} to {high}")
