"""Where `run` and `probe` take their prompts from."""

from array import array
from typing import TYPE_CHECKING

from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from shadowviz.tokens.encode.tokenizer import Tokenizer
    from shadowviz.tokens.inputs.requests import PromptRequest


def run_prompts(path: str, text: str | None, demo: bool, tokenizer: "Tokenizer") -> "list[PromptRequest]":
    """Prompts of a file, of stdin (`-`), of the command line, or of the demo; all are read before the first runs.

    Raises:
        InputError: no source or two, no request, or a request that is wrong.
    """
    from shadowviz.tokens.inputs.requests import read_demo

    _check_one((bool(path), text is not None, demo), "a file, - for stdin, --text or --demo")
    return list(read_demo(tokenizer)) if demo else _read(path, text, tokenizer)


def probe_prompts(path: str, text: str | None, tokenizer: "Tokenizer") -> "list[PromptRequest]":
    """Prompts of a file, of stdin (`-`), or of the command line.

    Raises:
        InputError: no source or two, no request, or a request that is wrong.
    """
    _check_one((bool(path), text is not None), "a file, - for stdin, or --text")
    return _read(path, text, tokenizer)


def _check_one(given: tuple[bool, ...], sources: str) -> None:
    if sum(given) != 1:
        raise InputError(f"{sum(given) or 'no'} sources of prompts: expected one of {sources}")


def _read(path: str, text: str | None, tokenizer: "Tokenizer") -> "list[PromptRequest]":
    from shadowviz.tokens.inputs.requests import PromptRequest, read_path

    if text is not None:
        if not text:
            raise InputError("--text is empty: expected a prompt")
        return [PromptRequest("text", array("q", tokenizer.encode(text)), text=text)]
    requests = list(read_path(path, tokenizer))
    if not requests:
        raise InputError(f"{path} holds no request: expected one JSON object a line")
    return requests
