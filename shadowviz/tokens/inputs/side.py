"""A prompt rendered and encoded: ready to be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from shadowviz.tokens.encode.encoder import Content, Encoded, Encoder, check_range
from shadowviz.tokens.encode.load import load_tokenizer
from shadowviz.tokens.inert import printable
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.renderer import GENERATION, template_renderer, template_writer
from shadowviz.tokens.rendering.messages import Message, describe
from shadowviz.tokens.rendering.render import RenderOptions
from shadowviz.tokens.side import Conversation, Side, side_of_ids, side_of_text
from shadowviz.tokens.structure.mended import Renderer, render_v4
from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from shadowviz.tokens.templates.template import ChatTemplate

V4_NAMES: Final = {"enable_thinking": "thinking", "reasoning_effort": "effort"}
"""Other names of the options of DeepSeek-V4's encoding."""
V4_OPTIONS: Final = frozenset(RenderOptions.__struct_fields__)
SPECIAL_IDS: Final = "--add-special adds nothing to ready ids"
_MESSAGE_FIELDS: Final = frozenset(name for kind in Message.__args__ for name in kind.__struct_fields__)


@dataclass(frozen=True)
class Reading:
    """How prompts become ids."""

    encoder: Encoder
    template: "ChatTemplate | None" = None
    """Renders messages; None = as a DeepSeek-V4 server does."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the rendering; they win over those of a request."""
    add_special: bool = False
    """Whether the tokenizer adds what its own post-processor adds, such as a second mark of the beginning."""


class IdsOnly:
    """Stands for the tokenizer of ids that cannot be read: of keyed hashes, or of a vocabulary that is not at hand.

    Each id counts as four bytes that nothing else has, so that equal ids are equal text and no others are.
    """

    bos_ids: frozenset[int] = frozenset()
    eos_ids: frozenset[int] = frozenset()
    vocab_size = 2**31
    content = Content("ids", {}, (), {}, {})

    def __init__(self, name: str, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint

    def place(self, text: str, *, add_special: bool = False) -> Encoded:  # noqa: ARG002
        """Never possible."""
        raise InputError(f"{self.name} encodes no text: expected ids")

    def token_bytes(self, token_id: int) -> bytes:
        """Its own four bytes."""
        return token_id.to_bytes(4, "big")

    def is_control(self, token_id: int) -> bool:  # noqa: ARG002
        """Not known."""
        return False

    def check_ids(self, token_ids: Sequence[int]) -> None:
        """Accept what four bytes hold.

        Raises:
            InputError: names the first that they do not.
        """
        check_range(token_ids, self.vocab_size)


def reading_of(
    tokenizer: str, template: str = "", options: Mapping[str, Any] | None = None, *, add_special: bool = False
) -> Reading:
    """How prompts become ids with a tokenizer and a chat template, both as `--tokenizer` and `--template` name them.

    Without a template that of the tokenizer's folder is taken, where it has one.

    Raises:
        InputError: there is none, or a file of another kind.
    """
    encoder = load_tokenizer(tokenizer)
    found = template or (tokenizer if _has_template(Path(tokenizer)) else "")
    if not found:
        return Reading(encoder, None, options or {}, add_special)
    from shadowviz.tokens.templates.template import load_template

    return Reading(encoder, load_template(found), options or {}, add_special)


def _has_template(folder: Path) -> bool:
    config = folder / "tokenizer_config.json"
    try:
        named = any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json"))
        return named or (config.is_file() and b'"chat_template"' in config.read_bytes())
    except OSError:
        return False


def is_readable(side: Side) -> bool:
    """Whether the ids of a side have a text."""
    return not isinstance(side.encoder, IdsOnly)


def make_side(name: str, prompt: Prompt, reading: Reading) -> Side:
    """The side that a prompt makes, called `name` in sentences.

    Raises:
        InputError: messages that cannot be rendered, text that cannot be encoded, ids outside the vocabulary.
    """
    try:
        match prompt.form:
            case Form.TEXT:
                notes = (*prompt.notes, *_of_special(reading))
                side = side_of_text(name, prompt.text, reading.encoder, add_special=reading.add_special, notes=notes)
                return replace(side, given=prompt.given)
            case Form.IDS:
                notes = (*prompt.notes, SPECIAL_IDS) if reading.add_special else prompt.notes
                return side_of_ids(name, prompt.ids, _encoder_of_ids(prompt, reading.encoder), notes)
        return _rendered_side(name, prompt, reading)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(prompt.source) else f"{prompt.source}: {text}") from None


def check_comparable(a: Side, b: Side) -> None:
    """Accept two sides whose ids mean the same, or can both be read.

    Raises:
        InputError: equal numbers would say nothing.
    """
    if is_readable(a) and is_readable(b):
        return
    if a.encoder.fingerprint == b.encoder.fingerprint and is_readable(a) == is_readable(b):
        return
    hidden = a if not is_readable(a) else b
    other = b if hidden is a else a
    if hidden.encoder.name == "redacted":
        raise InputError(
            f"{hidden.name} is of a redacted record, whose ids are keyed hashes: {other.name} must be of the same one"
        )
    raise InputError(
        f"the ids of {hidden.name} are of another tokenizer (fingerprint {hidden.encoder.fingerprint[:12]}): "
        f"give that one with --tokenizer"
    )


def _of_special(reading: Reading) -> tuple[str, ...]:
    """What is to be said where marks are asked for and the tokenizer has none to add."""
    if not reading.add_special or len(reading.encoder.place("", add_special=True).ids):
        return ()
    name = printable(reading.encoder.name)
    why = f"the configuration of {name} says so" if reading.encoder.bos_ids else f"{name} has no marks of its own"
    return (f"--add-special adds nothing: {why}",)


def _encoder_of_ids(prompt: Prompt, encoder: Encoder) -> Encoder:
    if prompt.redacted:
        return IdsOnly("redacted", prompt.redacted)
    if prompt.vocabulary and prompt.vocabulary != encoder.fingerprint:
        return IdsOnly("unknown", prompt.vocabulary)
    return encoder


def _rendered_side(name: str, prompt: Prompt, reading: Reading) -> Side:
    conversation, notes = prepared(prompt, reading)
    rendered = renderer_of(reading)(conversation)
    return side_of_text(
        name,
        rendered.text,
        reading.encoder,
        add_special=reading.add_special,
        segments=rendered.segments,
        conversation=conversation,
        write=template_writer(reading.template) if reading.template else None,
        notes=(*notes, *_of_special(reading)),
    )


def prepared(prompt: Prompt, reading: Reading) -> tuple[Conversation, tuple[str, ...]]:
    """The conversation with the options that it is rendered with, each under the name the rendering knows; and notes.

    Raises:
        InputError: an option that DeepSeek-V4's encoding does not have in this form.
    """
    assert prompt.conversation is not None, "messages come with their conversation"
    conversation = prompt.conversation
    options = {**conversation.options, **reading.options}
    if reading.template is not None:
        for usual, ours in V4_NAMES.items():
            if ours in options and (ours in reading.options or usual not in options):
                options[usual] = options[ours]
        return replace(conversation, options=options), prompt.notes
    options = {V4_NAMES.get(key, key): value for key, value in options.items() if key != GENERATION}
    left = sorted(key for key in options if key not in V4_OPTIONS)
    notes = [f"no options of DeepSeek-V4's encoding, so left out: {', '.join(left)}"] if left else []
    if not reading.encoder.name.startswith(("deepseek", "bytes")):
        notes.append("messages are rendered as DeepSeek-V4 renders them; name another template with --template")
    known = {key: value for key, value in options.items() if key in V4_OPTIONS}
    try:
        msgspec.convert(known, RenderOptions)
    except msgspec.ValidationError as error:
        raise InputError(describe(error)) from None
    messages = tuple(map(_without_empty_fields, conversation.messages))
    return Conversation(messages, conversation.tools, known), (*prompt.notes, *notes)


def renderer_of(reading: Reading) -> Renderer:
    """What makes text of a prepared conversation."""
    return render_v4 if reading.template is None else template_renderer(reading.template)


def _without_empty_fields(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what answers of servers carry along and no prompt holds: fields that are null or empty."""
    kept = {
        key: value
        for key, value in message.items()
        if key == "content" or (value is not None and (key in _MESSAGE_FIELDS or key == "role" or value))
    }
    calls = kept.get("tool_calls")
    if isinstance(calls, list):
        kept["tool_calls"] = [
            {key: value for key, value in call.items() if key != "index"} if isinstance(call, dict) else call
            for call in calls
        ]
    return kept
