"""Prompts read from JSON lines, from plain text or from a stream, as token ids ready to run."""

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Final

from msgspec import UnsetType

from shadowviz.tokens.encode.tokenizer import Tokenizer
from shadowviz.tokens.inert import inert
from shadowviz.tokens.inputs.request_line import RequestLine, decode_line
from shadowviz.tokens.rendering.render import Segment, render
from shadowviz_engine.core.errors import InputError

MAX_LINE_BYTES: Final = 8 * 2**20
"""Longest line of a request file, and longest text file."""
JSONL_SUFFIXES: Final = (".jsonl", ".ndjson")
STDIN: Final = "-"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A prompt and what is asked of it.

    `text` is what the ids were made from, None when ids were given; `segments` name its parts when it was rendered from
    messages. `at_s` is the arrival in seconds from the start of the run.
    """

    id: str
    token_ids: "array[int]"  # quoted: array takes no parameter at run time before Python 3.12
    max_tokens: int = 16
    at_s: float = 0.0
    namespace: str = ""
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    text: str | None = None
    segments: tuple[Segment, ...] = ()
    logprob_start: int = -1


def read_jsonl(stream: IO[bytes], name: str, tokenizer: Tokenizer) -> Iterator[PromptRequest]:
    """Requests of a stream of JSON lines, one at a time; empty lines are passed over.

    A request without an id gets `line-N`. `name` is what errors call the stream.

    Raises:
        InputError: `NAME:LINE: what was found, what was expected`.
    """
    seen: dict[str, int] = {}
    for number, raw in _lines(stream, name):
        try:
            request = to_request(decode_line(raw), f"line-{number}", tokenizer)
            if request.id in seen:
                raise InputError(f"id {request.id!r} is taken by line {seen[request.id]}, expected one of its own")
        except InputError as error:
            raise InputError(f"{name}:{number}: {error}") from None
        seen[request.id] = number
        yield request


def read_text(stream: IO[bytes], name: str, tokenizer: Tokenizer, max_tokens: int = 16) -> PromptRequest:
    """The whole stream as one prompt, byte for byte: line ends and the last newline count.

    Raises:
        InputError: no text, more than `MAX_LINE_BYTES`, or bytes that are not UTF-8.
    """
    raw = stream.read(MAX_LINE_BYTES + 1)
    if len(raw) > MAX_LINE_BYTES:
        raise InputError(f"{name}: found more than {MAX_LINE_BYTES} bytes of text, expected at most that")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{number}: found byte 0x{raw[error.start]:02x}, expected UTF-8 text") from None
    if not text:
        raise InputError(f"{name}: found no text, expected a prompt")
    return PromptRequest("text", array("q", tokenizer.encode(text)), max_tokens, text=text)


def read_path(path: str, tokenizer: Tokenizer) -> Iterator[PromptRequest]:
    """Requests of a file, JSON lines by its suffix and else one prompt of plain text; `-` is JSON lines from stdin.

    Raises:
        InputError: the file cannot be read, or a request in it is wrong.
    """
    if path == STDIN:
        yield from read_jsonl(sys.stdin.buffer, "stdin", tokenizer)
        return
    shown = inert(path)
    try:
        with Path(path).open("rb") as stream:
            if path.endswith(JSONL_SUFFIXES):
                yield from read_jsonl(stream, shown, tokenizer)
            else:
                yield read_text(stream, shown, tokenizer)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{shown}: cannot be read ({reason}), expected a file of requests or text") from None


def read_demo(tokenizer: Tokenizer) -> Iterator[PromptRequest]:
    """The demo workload: 35 requests of 100 to 1,400 tokens, written for pages of 256 tokens."""
    with files("shadowviz").joinpath("data", "demo.jsonl").open("rb") as stream:
        yield from read_jsonl(stream, "demo.jsonl", tokenizer)


def to_request(line: RequestLine, default_id: str, tokenizer: Tokenizer) -> PromptRequest:
    """The request behind a line: messages rendered, text encoded, ids checked.

    Raises:
        InputError: unknown token id, tools in two places, values that nest too deep, logprob_start behind the prompt.
    """
    text: str | None = None
    segments: tuple[Segment, ...] = ()
    if not isinstance(line.token_ids, UnsetType):
        tokenizer.check_ids(line.token_ids)
        token_ids = array("q", line.token_ids)
    else:
        if not isinstance(line.messages, UnsetType):
            tools = () if isinstance(line.tools, UnsetType) else line.tools
            rendered = render(line.messages, line.options, tools)
            text, segments = rendered.text, rendered.segments
        else:
            assert isinstance(line.prompt, str)
            text = line.prompt
        token_ids = array("q", tokenizer.encode(text))
    if line.logprob_start >= len(token_ids):
        raise InputError(f"logprob_start is {line.logprob_start}, expected less than {len(token_ids)} tokens")
    return PromptRequest(
        id=default_id if isinstance(line.id, UnsetType) else line.id,
        token_ids=token_ids,
        max_tokens=line.max_tokens,
        at_s=line.at_s,
        namespace=line.namespace,
        temperature=line.temperature,
        top_p=line.top_p,
        seed=line.seed,
        text=text,
        segments=segments,
        logprob_start=line.logprob_start,
    )


def _lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise InputError(
                f"{name}:{number}: found a line of more than {MAX_LINE_BYTES} bytes, expected at most that"
            )
        if number == 1:
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        if raw.strip():
            yield number, raw
