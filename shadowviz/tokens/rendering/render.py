"""Messages rendered as the one string a DeepSeek-V4 server encodes, and what each stretch of it is."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from shadowviz.tokens.rendering import deepseek_v4 as v4
from shadowviz.tokens.rendering.messages import Message, System, Tool
from shadowviz.tokens.rendering.pieces import Piece, Scene, turn_pieces
from shadowviz.tokens.rendering.turns import (
    OtherTurn,
    Placed,
    Turn,
    last_user_position,
    merge,
    order_results,
    without_old_developers,
)
from shadowviz_engine.core.errors import InputError


class RenderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a conversation is rendered.

    `effort` has text only with `thinking`, and `none` and `low` have none. `drop_thinking` leaves out the reasoning of
    earlier turns, unless tools are defined. Defaults: chat without effort, where vLLM's server thinks with effort high.
    """

    thinking: bool = False
    effort: v4.Effort = "none"
    drop_thinking: bool = True


class Segment(msgspec.Struct, frozen=True):
    """A labelled stretch of rendered text, [start, stop) in characters."""

    label: str
    start: int
    stop: int


class Rendered(msgspec.Struct, frozen=True):
    """Rendered text; its segments follow each other and cover it without a gap.

    Labels are `beginning of text`, `reasoning effort`, `generation prompt`, `tools` that no message holds, and
    `message N (ROLE)`, counted from 0 in the list given, alone or with one of the parts `: role marker`, `: tools`,
    `: response format`, `: reasoning`, `: tool calls`, `: task marker`, `: end marker`.
    """

    text: str
    segments: tuple[Segment, ...]

    def segment_at(self, offset: int) -> Segment:
        """The segment that holds the character at `offset`.

        Raises:
            InputError: the text has no such character.
        """
        if not 0 <= offset < len(self.text):
            raise InputError(f"character {offset} is outside the text, expected 0 to {len(self.text) - 1}")
        return self.segments[bisect_right(self.segments, offset, key=lambda segment: segment.start) - 1]


def render(messages: Sequence[Message], options: RenderOptions | None = None, tools: Sequence[Tool] = ()) -> Rendered:
    """The prompt of a conversation.

    One that ends with the user's text or a tool result gets the generation prompt behind it; one that ends with an
    assistant message gets nothing, and stays open when that message says `wo_eos`. `tools` join the first system
    message, or an empty one put at the head.

    Raises:
        InputError: no message, tools given here and in the system message too, or values that nest too deep.
    """
    if not messages:
        raise InputError("the conversation has no message, expected at least one")
    scene = _scene(order_results(merge(_place_tools(messages, tools))), options or RenderOptions())
    return _join(chain([("beginning of text", v4.BOS)], _pieces(scene, 0)))


def render_continuation(
    context: Sequence[Message], messages: Sequence[Message], options: RenderOptions | None = None
) -> Rendered:
    """The text of `messages` alone, as they go on after `context`, without the beginning-of-text marker.

    Messages are numbered through both lists. User text does not join a turn of the context.

    Raises:
        InputError: one of the lists is empty, or values nest too deep.
    """
    if not context or not messages:
        raise InputError(
            f"the context has {len(context)} messages and the continuation {len(messages)}, expected one or more"
        )
    placed: list[Placed] = list(enumerate([*context, *messages]))
    start = len(context)
    turns = order_results([*merge(placed[:start]), *merge(placed[start:])])
    return _join(_pieces(_scene(turns, options or RenderOptions()), start))


def _place_tools(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Placed]:
    placed: list[Placed] = list(enumerate(messages))
    if not tools:
        return placed
    for place, (index, message) in enumerate(placed):
        if isinstance(message, System):
            if message.tools:
                raise InputError(f"tools are given for the conversation and in message {index} too, expected one place")
            placed[place] = (index, msgspec.structs.replace(message, tools=tuple(tools)))
            return placed
    return [(None, System(tools=tuple(tools))), *placed]


def _scene(turns: Sequence[Turn], options: RenderOptions) -> Scene:
    has_tools = any(isinstance(turn, OtherTurn) and turn.has_tools for turn in turns)
    drop = options.drop_thinking and not has_tools
    kept = without_old_developers(turns) if options.thinking and drop else turns
    return Scene(kept, options.thinking, drop, options.effort, last_user_position(kept))


def _pieces(scene: Scene, start: int) -> Iterable[Piece]:
    for place, turn in enumerate(scene.turns):
        if turn.index is None or turn.index >= start:
            yield from turn_pieces(scene, place)


def _join(pieces: Iterable[Piece]) -> Rendered:
    texts: list[str] = []
    segments: list[Segment] = []
    end = 0
    try:
        for label, text in pieces:
            if not text:
                continue
            texts.append(text)
            start, end = end, end + len(text)
            segments.append(Segment(label, start, end))
    except RecursionError:
        raise InputError("a tool, response format or call nests too deep, expected plain JSON values") from None
    return Rendered("".join(texts), tuple(segments))
