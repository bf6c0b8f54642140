"""A request as it is submitted, the checks on it, and what comes out of it."""

from array import array
from collections.abc import Sequence

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in token ids, and how its output is chosen."""

    id: str
    token_ids: Sequence[int]
    max_tokens: int
    namespace: str = ""
    """Key of a subtree of its own: a cache salt, an adapter."""
    temperature: float = 0.0
    """0 takes the most likely token, the lowest id on ties."""
    top_p: float = 1.0
    """Draw from the most likely tokens that together reach this probability."""
    seed: int = 0
    """With the position it decides every draw."""
    stop_ids: tuple[int, ...] = ()
    """Ids that end the output; the one that did is its last token."""
    text: str | None = None
    """Prompt text to put on record; None = the record holds ids only."""
    logprob_start: int = -1
    """Logits of the prompt are wanted from this position on, so no more than this many tokens are reused; -1 = none."""


class RequestOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a request gave, and how long it took."""

    token_ids: tuple[int, ...]
    reason: str
    """length, stop, or why it was aborted."""
    ttft_ns: int
    """Submission to first token; 0 = there was none."""
    decode_ns: int
    """First token to last token."""
    lookup: LookupDone | None
    """Lookup of the start that gave the first token; None = it never started."""
    aborted: bool = False
    prompt_logprobs: tuple[float, ...] = ()
    """Natural logarithm of the probability of every prompt token behind `logprob_start`."""


def check_request(request: Request, vocab_size: int, max_positions: int) -> "array[int]":
    """The prompt as int64 ids, when the request can be run by a model of this vocabulary and context length.

    Raises:
        InputError: an empty prompt, an unknown id, or a value out of its range.
    """
    name = f"request {request.id!r}"
    if not request.id:
        raise InputError("a request has an empty id: expected a name of its own")
    if not len(request.token_ids):
        raise InputError(f"{name} has an empty prompt: expected at least one token")
    ids = token_array(name, request.token_ids)
    _check_ids(f"{name} has token id", ids, vocab_size)
    _check_ids(f"{name} has stop id", request.stop_ids, vocab_size)
    if request.max_tokens < 1:
        raise InputError(f"{name} asks for {request.max_tokens} tokens: max_tokens must be at least 1")
    total = len(ids) + request.max_tokens
    if total > max_positions:
        raise InputError(
            f"{name} may grow to {total} tokens (prompt {len(ids)}, max_tokens {request.max_tokens}): "
            f"the model has {max_positions} positions"
        )
    if not -1 <= request.logprob_start < len(ids):
        raise InputError(
            f"{name} has logprob_start {request.logprob_start}: expected -1, or a position of its {len(ids)} tokens"
        )
    _check_sampling(name, request)
    return ids


def _check_sampling(name: str, request: Request) -> None:
    if not 0.0 <= request.temperature < float("inf"):
        raise InputError(f"{name} has temperature {request.temperature}: expected 0 or more")
    if not 0.0 < request.top_p <= 1.0:
        raise InputError(f"{name} has top_p {request.top_p}: expected more than 0, up to 1")


def token_array(name: str, token_ids: Sequence[int]) -> "array[int]":
    """`token_ids` as an int64 array of their own.

    Raises:
        InputError: an id that is no 64-bit integer; `name` says whose.
    """
    try:
        return array("q", token_ids)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{name} has a token id that is no 64-bit integer: {error}") from error


def _check_ids(what: str, ids: Sequence[int], vocab_size: int) -> None:
    for value in (min(ids, default=0), max(ids, default=0)):
        if not 0 <= value < vocab_size:
            raise InputError(f"{what} {value}: expected ids from 0 to {vocab_size - 1}")
