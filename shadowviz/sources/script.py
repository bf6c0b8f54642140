"""What an engine does by itself: requests one after another or together, aborts, and flushes of the cache."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import msgspec

from shadowviz.tokens.encode.tokenizer import Tokenizer
from shadowviz.tokens.inputs.request_line import decode_line
from shadowviz.tokens.inputs.requests import PromptRequest, read_demo, read_path, to_request
from shadowviz_engine.core.errors import InputError

TOUR_OPTIONS: dict[str, Any] = {
    "model": "tiny",
    "page_size": 128,
    "num_full_pages": 30,
    "num_swa_pages": 14,
    "max_running": 2,
    "chunk_tokens": 256,
    "retention": "window",
    "ghost_entries": 12,
}
"""Engine options of the tour: pools so small that state leaves them, and a short memory of what left."""


class ScriptStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step: exactly one of `submit`, `abort` and `flush`."""

    submit: dict[str, Any] | None = None
    """A request, as a line of a request file has it."""
    abort: str = ""
    """Id of the request to abort."""
    flush: bool = False
    beside: bool = False
    """Begin while requests still run; otherwise the engine is idle first."""
    passes: int = 0
    """Passes of the model since the step before."""


class Act(msgspec.Struct, frozen=True):
    """A step that is ready to be done."""

    prompt: PromptRequest | None
    abort: str
    beside: bool
    passes: int
    at_s: float = 0.0
    """Seconds from the start of the script."""


def acts_of(script: str, tokenizer: Tokenizer) -> list[Act]:
    """The steps of `tour`, of `demo`, or of a file of requests.

    Raises:
        InputError: the file cannot be read, or a request in it is wrong.
    """
    if not script:
        return []
    if script == "tour":
        return list(_tour(tokenizer))
    requests = read_demo(tokenizer) if script == "demo" else read_path(script, tokenizer)
    return [Act(request, "", True, 0, request.at_s) for request in requests]


def _tour(tokenizer: Tokenizer) -> Iterator[Act]:
    text = files("shadowviz").joinpath("data", "tour.jsonl").read_bytes()
    for number, raw in enumerate(text.splitlines(), 1):
        try:
            step = msgspec.json.decode(raw, type=ScriptStep)
        except msgspec.MsgspecError as error:
            raise InputError(f"tour.jsonl:{number}: {error}") from None
        prompt = None
        if step.submit is not None:
            prompt = to_request(decode_line(msgspec.json.encode(step.submit)), f"tour-{number}", tokenizer)
        if (prompt is not None) + bool(step.abort) + step.flush != 1:
            raise InputError(f"tour.jsonl:{number}: expected exactly one of submit, abort and flush")
        yield Act(prompt, step.abort, step.beside, step.passes)
