"""How far two prompts would agree if one of their conversations were another."""

from array import array
from collections.abc import Callable
from typing import Final

import msgspec

from shadowviz.tokens.common import common_beginning
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.rendering.messages import parse_messages, parse_tools
from shadowviz.tokens.rendering.render import Rendered, RenderOptions, render
from shadowviz.tokens.side import Conversation, Side
from shadowviz_engine.core.errors import InputError

Renderer = Callable[[Conversation], Rendered]
"""The text of a conversation with its labels; raises InputError where it has none."""

MARGIN: Final = 2**16
"""Bytes encoded behind the text in common, so that the cut changes no token before it."""
MAX_ENCODED: Final = 2**21
"""Bytes of text in common from which on nothing is encoded again, because the answer would take too long."""


def render_v4(conversation: Conversation) -> Rendered:
    """The conversation in DeepSeek-V4's encoding.

    Raises:
        InputError: messages, tools or options that the encoding does not have.
    """
    try:
        options = msgspec.convert(conversation.options, RenderOptions)
    except msgspec.ValidationError as error:
        raise InputError(f"options of the rendering: {error}") from None
    return render(parse_messages(conversation.messages), options, parse_tools(conversation.tools))


def text_as(side: Side, conversation: Conversation) -> str | None:
    """What the conversation is rendered as where the side's was; None where it cannot be."""
    try:
        return side.write(conversation) if side.write else render_v4(conversation).text
    except InputError:
        return None


def renders_again(side: Side) -> bool:
    """Whether a side's conversation becomes its text again."""
    return side.conversation is not None and text_as(side, side.conversation) == side.text


def common_with(a: Side, b: Side, text: str, common: int, limit: int = MAX_ENCODED) -> int | None:
    """Tokens at the head of A that a prompt with this text would share; None where counting them would take too long.

    `text` stands in the place of B's, encoded as B is; `common` is what A and B share. `limit` is in bytes of text
    in common that would have to be encoded.
    """
    raw = text.encode()
    same = common_beginning(a.raw, raw)
    kept = _settled(a, min(same, common_beginning(a.raw, b.raw)), common) if a.encoder is b.encoder else 0
    start = a.starts[kept] if kept else 0
    if same - start > limit:
        return None
    cut = _cut(raw[start : same + MARGIN])
    ids = b.encoder.place(cut, add_special=not kept and _adds_special(b)).ids
    return kept + _common_ids(a.ids[kept : kept + len(ids)], ids)


def common_of(encoder: Encoder, first: str, second: str) -> int | None:
    """Tokens that two texts have in common at their heads; None where counting them would take too long."""
    raw = first.encode(), second.encode()
    same = common_beginning(*raw)
    if same > MAX_ENCODED:
        return None
    left, right = (encoder.place(_cut(text[: same + MARGIN])).ids for text in raw)
    return _common_ids(left, right)


def _adds_special(side: Side) -> bool:
    """Whether the encoder put marks around the text: they stand for nothing in it."""
    return bool(side.raw) and bool(side.ids) and (side.byte_at(1) == 0 or side.starts[-1] == len(side.raw))


def _settled(a: Side, same: int, common: int) -> int:
    """Index of the last control token of A from which on encoding can start again with the same result.

    A control token is matched before the text around it is split, so what stands behind it is encoded alone.
    """
    for index in range(min(common, a.token_at(same)) - 1, 0, -1):
        if a.encoder.is_control(a.ids[index]) and a.byte_at(index + 1) <= same:
            return index
    return 0


def _common_ids(a: "array[int]", b: "array[int]") -> int:
    length = min(len(a), len(b))
    return next((place for place in range(length) if a[place] != b[place]), length)


def _cut(raw: bytes) -> str:
    return raw.decode(errors="ignore")
