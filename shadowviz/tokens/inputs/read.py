"""An argument of the command line as a prompt: text, file, stdin, or one request of a record."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from shadowviz.tokens.inert import inert, shorten
from shadowviz.tokens.inputs.many import is_record, one_request, read_requests
from shadowviz.tokens.inputs.parse import parse
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.requests import JSONL_SUFFIXES, STDIN
from shadowviz_engine.core.errors import InputError

MAX_BYTES: Final = 2**28
"""Most that is read of one input."""
PREFIXES: Final = ("text", "ids", "file")
KNOWN_SUFFIXES: Final = frozenset(
    {".txt", ".json", ".md", ".log", ".prompt", ".ids", ".tokens", ".xml", ".html", ".yaml", ".yml", ".csv"}
    | set(JSONL_SUFFIXES)
)
_LIKE_IDS: Final = re.compile(r"\s*\[?\s*\d+(?:[\s,]+\d+)+\s*\]?\s*")
_PATH_LIKE: Final = re.compile(r"[\w.,~@%+=:#\\/-]+")


def read_argument(argument: str, form: Form | None, read_stdin: Callable[[], bytes] | None = None) -> Prompt:
    """The prompt that an argument stands for.

    `text:`, `ids:` and `file:` before it say what the rest is. Otherwise it is stdin (`-`), a file that is there,
    `FILE#ID` for one request of a record or of a file of requests, or the prompt itself.

    Args:
        form: what the content is; guessed when None, except that an argument that is the prompt itself is text.
        read_stdin: gives what stdin holds, where it is not that of the process.

    Raises:
        InputError: it names a file that is not there, cannot be read, or does not hold what was said.
    """
    prefix, colon, rest = argument.partition(":")
    if colon and prefix in PREFIXES:
        match prefix:
            case "text":
                return parse(_bytes_of(rest), "text", Form.TEXT)
            case "ids":
                return parse(_bytes_of(rest), "ids", Form.IDS)
        return _read_file(rest, form) or _missing(rest)
    if argument == STDIN:
        return parse((read_stdin or _stdin)(), "stdin", form)
    found = _read_file(argument, form)
    if found is not None:
        return found
    if _looks_like_path(argument):
        return _missing(argument)
    found = parse(_bytes_of(argument), "text", form or Form.TEXT)
    if form is None and _LIKE_IDS.fullmatch(argument):
        return found.noting("numbers are read as text here; if they are token ids, write ids: before them")
    return found


def read_bytes(path: str) -> bytes:
    """All of a file, of whatever kind.

    Raises:
        InputError: it cannot be read, or holds more than `MAX_BYTES`.
    """
    try:
        with Path(path).open("rb") as file:
            return _limited(file.read(MAX_BYTES + 1), inert(path))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{inert(path)}: cannot be read ({reason})") from None


def _stdin() -> bytes:
    return _limited(sys.stdin.buffer.read(MAX_BYTES + 1), "stdin")


def _limited(raw: bytes, source: str) -> bytes:
    if len(raw) > MAX_BYTES:
        raise InputError(f"{source} holds more than {MAX_BYTES:,} bytes, expected at most that of one prompt")
    return raw


def _read_file(argument: str, form: Form | None) -> Prompt | None:
    """The prompt of `FILE` or `FILE#ID`; None where there is no such file."""
    if _is(Path.is_dir, argument):
        raise InputError(f"{inert(argument)} is a folder: expected one prompt here, or the folder alone")
    if _is(Path.exists, argument):
        return _whole_file(argument, form)
    for place in (found.start() for found in re.finditer("#", argument)):
        path, request = argument[:place], argument[place + 1 :]
        # A pipe is read once, and a record twice: its kind first.
        if _is(Path.is_file, path):
            return one_request(path, request)
    return None


def _whole_file(path: str, form: Form | None) -> Prompt:
    source = inert(path)
    if form is None and path.endswith(JSONL_SUFFIXES) and Path(path).is_file():
        if is_record(path):
            raise InputError(
                f"{source} is a record of many requests: name one as {source}#ID, or give the record alone"
            )
        prompts = list(read_requests(path))
        if len(prompts) == 1:
            return prompts[0][1]
        raise InputError(f"{source} holds {len(prompts):,} requests: name one as {source}#ID, or give the file alone")
    return parse(read_bytes(path), source, form)


def _missing(path: str) -> Prompt:
    shown = shorten(path, 80)
    raise InputError(f"{shown} is not there: expected a file; if it is the prompt itself, write text:{shown}")


def _looks_like_path(argument: str) -> bool:
    if not _PATH_LIKE.fullmatch(argument):
        return False
    path = argument.partition("#")[0]
    return "/" in argument or Path(path).suffix.lower() in KNOWN_SUFFIXES


def _is(kind: Callable[[Path], bool], path: str) -> bool:
    """Whether a path is of a kind; of none where it cannot be looked at."""
    try:
        return bool(path) and kind(Path(path))
    except (OSError, ValueError):
        return False


def _bytes_of(argument: str) -> bytes:
    # A byte of the command line that is not UTF-8 arrives as a lone surrogate.
    return os.fsencode(argument)
