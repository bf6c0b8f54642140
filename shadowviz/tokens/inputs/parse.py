"""Bytes read as a prompt: what their content is, guessed or told."""

import json
import re
from array import array
from collections.abc import Iterable
from typing import Any, Final

from shadowviz.tokens.inert import shorten, shown_number
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.side import Conversation
from shadowviz_engine.core.errors import InputError

ID_FIELDS: Final = ("token_ids", "input_ids", "prompt_token_ids")
OPTION_FIELDS: Final = (
    *("thinking", "effort", "drop_thinking"),
    *("enable_thinking", "reasoning_effort", "add_generation_prompt"),
)
_BESIDE_WORDS = """
audio frequency_penalty id ignore_eos logit_bias logprobs max_completion_tokens max_tokens metadata min_p min_tokens
modalities model n namespace parallel_tool_calls prediction presence_penalty prompt_cache_key repetition_penalty
response_format safety_identifier sampling_params seed service_tier stop stop_token_ids store stream stream_options
temperature tool_choice top_k top_logprobs top_p user verbosity at_s timeout extra_body
"""
BESIDE: Final = frozenset(_BESIDE_WORDS.split())
"""Fields of a request that its prompt does not hold."""
MAX_ID: Final = 2**31 - 1
_WHITESPACE_IDS: Final = re.compile(rb"\s*\d+(?:\s+\d+)+\s*")


def parse(raw: bytes, source: str, form: Form | None) -> Prompt:
    """The prompt that some bytes hold.

    Without `form` JSON messages, requests and lists of ids are recognised, and so are two numbers or more with nothing
    but blanks between them; all else is text.

    Raises:
        InputError: they do not hold what `form` says.
    """
    match form:
        case Form.TEXT:
            return text_prompt(raw, source)
        case Form.IDS:
            return _ids_prompt(raw, source)
        case Form.MESSAGES:
            return _told_messages(raw, source)
    if _WHITESPACE_IDS.fullmatch(raw):
        return _ids_prompt(raw, source).noting(f"{source} is read as token ids; if it is text, add --as text")
    if raw.lstrip()[:1] in (b"{", b"["):
        try:
            value = json_value(raw, source)
        except InputError as error:
            found = text_prompt(raw, source)
            # Only a name that promises JSON: many a text begins with a bracket.
            return found.noting(f"{error}, so it is read as text") if source.endswith(".json") else found
        return value_prompt(value, source) or text_prompt(raw, source)
    return text_prompt(raw, source)


def text_prompt(raw: bytes, source: str) -> Prompt:
    """The bytes as text, nothing stripped or translated; what is not UTF-8 becomes U+FFFD and is noted."""
    try:
        return Prompt(source, Form.TEXT, raw.decode())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        shown = "".join(f"\\x{byte:02x}" for byte in raw[error.start : error.end])
        note = f"{source}: not UTF-8 at byte {error.start:,}, line {line:,} ({shown}): such bytes are taken as U+FFFD"
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            note += "; it begins like UTF-16"
        return Prompt(source, Form.TEXT, raw.decode(errors="replace"), given=raw, notes=(note,))


def json_value(raw: bytes, source: str) -> Any:
    """The value that some bytes of JSON stand for; a byte-order mark before it is passed over.

    Raises:
        InputError: they are no JSON.
    """
    try:
        # The standard decoder: numbers are written out again and must come out as servers write them.
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: byte {error.start:,} is 0x{raw[error.start]:02x}, expected UTF-8") from None
    except RecursionError:
        raise InputError(f"{source}: JSON nests too deep, expected plain values") from None
    except ValueError as error:
        raise InputError(f"{source}: bad JSON ({shorten(str(error))})") from None


def value_prompt(value: Any, source: str) -> Prompt | None:
    """The prompt that a JSON value is: messages, a request, or ids; None where it is none of them.

    Raises:
        InputError: it is one of them and wrong.
    """
    if isinstance(value, list):
        if value and all(type(item) is int for item in value):
            return _checked_ids(value, source)
        if value and all(isinstance(item, dict) and "role" in item for item in value):
            return Prompt(source, Form.MESSAGES, conversation=Conversation(tuple(value)))
        return None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("messages"), list):
        return _body(value, source)
    for field in (*ID_FIELDS, "prompt"):
        found = value.get(field)
        if isinstance(found, list) and all(type(item) is int for item in found):
            return _checked_ids(found, source)
    if isinstance(value.get("prompt"), str):
        return Prompt(source, Form.TEXT, value["prompt"])
    return None


def _told_messages(raw: bytes, source: str) -> Prompt:
    value = json_value(raw, source)
    found = value_prompt(value, source)
    if found is None or found.form is not Form.MESSAGES:
        raise InputError(f"{source} holds no messages: expected a JSON list of them, or an object with `messages`")
    return found


def _system(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The instructions that some clients send beside the messages, as the first of them."""
    return [{"role": "system", "content": value["system"]}] if value.get("system") else []


def _body(value: dict[str, Any], source: str) -> Prompt:
    messages = [*_system(value), *value["messages"]]
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise InputError(f"{source}: message {place} is {shorten(json.dumps(message), 40)}, expected an object")
    tools = value.get("tools") or ()
    if not isinstance(tools, list | tuple) or not all(isinstance(tool, dict) for tool in tools):
        raise InputError(f"{source}: tools are {shorten(json.dumps(tools), 40)}, expected a list of objects")
    known = {"messages", "system", "tools", "chat_template_kwargs", *OPTION_FIELDS}
    left = sorted(field for field in value if field not in known and field not in BESIDE)
    notes = (f"{source}: not part of the prompt: {', '.join(shorten(name, 40) for name in left[:8])}",) if left else ()
    conversation = Conversation(tuple(messages), tuple(tools), _options(value, source))
    return Prompt(source, Form.MESSAGES, conversation=conversation, notes=notes)


def _options(value: dict[str, Any], source: str) -> dict[str, Any]:
    extra = value.get("chat_template_kwargs") or {}
    if not isinstance(extra, dict):
        raise InputError(f"{source}: chat_template_kwargs are {shorten(json.dumps(extra), 40)}, expected an object")
    found = {name: value[name] for name in OPTION_FIELDS if value.get(name) is not None} | extra
    if isinstance(found.get("thinking"), dict):
        found["thinking"] = found["thinking"].get("type") != "disabled"
    return found


def _ids_prompt(raw: bytes, source: str) -> Prompt:
    stripped = raw.removeprefix(b"\xef\xbb\xbf").strip()
    if stripped[:1] in (b"[", b"{"):
        found = value_prompt(json_value(raw, source), source) if stripped != b"[]" else Prompt(source, Form.IDS)
        if found is None or found.form is not Form.IDS:
            raise InputError(f"{source} holds no token ids: expected whole numbers, as JSON or between blanks")
        return found
    words = stripped.replace(b",", b" ").split()
    for place, word in enumerate(words):
        if not re.fullmatch(rb"-?[0-9]{1,18}", word):
            shown = shorten(word.decode(errors="backslashreplace"), 40)
            raise InputError(f"{source}: token {place:,} is {shown!r}, expected a whole number")
    return _checked_ids(map(int, words), source)


def _checked_ids(values: Iterable[int], source: str) -> Prompt:
    ids = list(values)
    for place, value in enumerate(ids):
        if not 0 <= value <= MAX_ID:
            raise InputError(f"{source}: token {place:,} has id {shown_number(value)}, expected 0 to {MAX_ID}")
    return Prompt(source, Form.IDS, ids=array("q", ids))
