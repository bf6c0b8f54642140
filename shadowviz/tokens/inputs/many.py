"""Many prompts at one place: a record, a file of requests, a folder; and one of them by its name."""

from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from shadowviz.tokens.inert import inert, printable, shorten
from shadowviz.tokens.inputs.parse import json_value, parse, text_prompt, value_prompt
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.requests import JSONL_SUFFIXES
from shadowviz.tokens.side import Conversation
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import RequestSubmitted
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.snapshot import unpack_ids

Named = tuple[str, Prompt]
"""A request's id and its prompt."""
MAX_NAMES: Final = 8
"""Requests that an error lists."""
_OPENED: Final = b'"LogOpened"'


def is_record(path: str) -> bool:
    """Whether a file is a recorded run: its first line opens one."""
    try:
        with Path(path).open("rb") as file:
            return _OPENED in file.readline(4096)
    except OSError as error:
        raise InputError(f"{inert(path)}: cannot be read ({error.strerror})") from None


def read_all(argument: str, form: Form | None) -> Iterator[Named]:
    """Every prompt of a folder, a record or a file of requests.

    Raises:
        InputError: it is none of them, or cannot be read.
    """
    path = argument.removeprefix("file:")
    shown = shorten(path, 80)
    try:
        is_folder, exists = Path(path).is_dir(), Path(path).exists()
    except (OSError, ValueError):
        is_folder = exists = False
    if is_folder:
        return read_folder(path, form)
    if not exists:
        raise InputError(f"{shown} is one prompt: expected a second to compare it with, or a folder or file of many")
    if not path.endswith(JSONL_SUFFIXES):
        raise InputError(f"{shown} is one prompt: expected a second to compare it with, or a .jsonl file of many")
    return read_requests(path)


def one_request(path: str, request: str) -> Prompt:
    """The prompt of one request of a record or of a file of requests.

    Raises:
        InputError: there is none with this id or more than one, or the file cannot be read.
    """
    names: list[str] = []
    found: list[Prompt] = []
    for name, prompt in read_requests(path):
        names.append(printable(name))
        if name == request:
            found.append(prompt)
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"{inert(path)} has {len(found):,} requests {shorten(request, 80)!r}: expected one; give each its own id"
        )
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    known = f"expected one of {', '.join(names[:MAX_NAMES])}{more}" if names else "it has none at all"
    raise InputError(f"{inert(path)} has no request {shorten(request, 80)!r}: {known}")


def read_requests(path: str) -> Iterator[Named]:
    """Every request of a record, or of a file with a JSON value a line.

    A file whose every line is a message is one conversation, called by the file's name.

    Raises:
        InputError: the file cannot be read, or a line is no request.
    """
    return _recorded(path) if is_record(path) else _lines(path)


def read_folder(path: str, form: Form | None) -> Iterator[Named]:
    """The prompts of a folder's files, in the order of their names; files of requests give one for each line.

    Raises:
        InputError: there is no file, or one that cannot be read.
    """
    try:
        files = sorted(file for file in Path(path).iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise InputError(f"{inert(path)}: cannot be read ({error.strerror})") from None
    if not files:
        raise InputError(f"{inert(path)} holds no files: expected one prompt a file")
    for file in files:
        if form is None and file.name.endswith(JSONL_SUFFIXES):
            for name, prompt in read_requests(str(file)):
                yield (name if name == file.name else f"{file.name}#{name}"), prompt
        else:
            try:
                raw = file.read_bytes()
            except OSError as error:
                raise InputError(f"{inert(str(file))}: cannot be read ({error.strerror})") from None
            yield file.name, parse(raw, inert(file.name), form)


def _recorded(path: str) -> Iterator[Named]:
    log = read_log(path)
    opened = log.opened
    held: Named | None = None
    for event in log:
        if isinstance(event, RequestSubmitted):
            if held is not None:
                yield held
            prompt = Prompt(
                f"{inert(path)}#{printable(event.request)}",
                Form.IDS,
                ids=array("q", unpack_ids(event.tokens)),
                vocabulary=opened.tokenizer_fingerprint or "none",
                redacted=str(Path(path).resolve()) if opened.redacted else "",
                namespace=event.namespace,
            )
            held = event.request, prompt
    if held is not None:
        # Only the end of the record tells whether something is missing there.
        lost = log.summary.lost
        yield held[0], held[1].noting(f"{inert(path)}: {lost}") if lost else held[1]


def _lines(path: str) -> Iterator[Named]:
    shown = inert(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{shown}: cannot be read ({error.strerror})") from None
    lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
    if not lines:
        raise InputError(f"{shown} holds no request: expected one JSON value a line")
    values = [(number, json_value(line, f"{shown}:{number}")) for number, line in lines]
    messages = [value for _, value in values if isinstance(value, dict) and "role" in value]
    if len(messages) == len(values):
        yield Path(path).name, Prompt(shown, Form.MESSAGES, conversation=Conversation(tuple(messages)))
        return
    for number, value in values:
        name = value.get("id") if isinstance(value, dict) else None
        name = name if isinstance(name, str) and name else f"line-{number}"
        source = f"{shown}#{printable(name)}"
        if isinstance(value, str):
            yield name, text_prompt(value.encode(errors="surrogatepass"), source)
            continue
        prompt = value_prompt(value, source)
        if prompt is None:
            raise InputError(f"{shown}:{number}: no messages, prompt or token_ids, expected one of them")
        namespace = value.get("namespace") if isinstance(value, dict) else None
        yield name, replace(prompt, namespace=namespace) if isinstance(namespace, str) else prompt
