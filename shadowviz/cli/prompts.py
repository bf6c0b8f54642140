"""Where `run` and `probe` take their prompts from."""

from array import array
from typing import TYPE_CHECKING

from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from shadowviz.tokens.requests import PromptRequest
    from shadowviz.tokens.tokenizer import Tokenizer


def read_prompts(path: str, text: str | None, demo: bool, tokenizer: "Tokenizer") -> "list[PromptRequest]":
    """Prompts of a file, of stdin (`-`), of the command line, or of the demo; all are read before the first runs.

    Raises:
        InputError: no source or two, no request, or a request that is wrong.
    """
    from shadowviz.tokens.requests import PromptRequest, read_demo, read_path

    if sum((bool(path), text is not None, demo)) != 1:
        raise InputError("expected one source of prompts: a file, - for stdin, --text or --demo")
    if text is not None:
        if not text:
            raise InputError("--text is empty: expected a prompt")
        return [PromptRequest("text", array("q", tokenizer.encode(text)), text=text)]
    requests = list(read_demo(tokenizer)) if demo else list(read_path(path, tokenizer))
    if not requests:
        raise InputError(f"{path} holds no request: expected one JSON object a line")
    return requests
