"""The labelled pieces of text that one turn of a conversation is rendered as."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shadowviz.tokens.rendering import deepseek_v4 as v4
from shadowviz.tokens.rendering.messages import (
    Assistant,
    Developer,
    FunctionCall,
    LatestReminder,
    System,
    Tool,
    plain_text,
)
from shadowviz.tokens.rendering.turns import OtherTurn, Turn, UserTurn, speaks_for_user

Piece = tuple[str, str]
"""A label and the text it names."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The turns of a conversation and what holds for all of them; `last_user` is a position in `turns`, or -1."""

    turns: Sequence[Turn]
    thinking: bool
    drop: bool
    effort: v4.Effort
    last_user: int


def turn_pieces(scene: Scene, place: int) -> Iterator[Piece]:
    """The pieces of the turn at `place`, with the markers that open what follows it."""
    if place == 0 and scene.thinking:
        yield "reasoning effort", v4.EFFORT_TEXT[scene.effort]
    turn = scene.turns[place]
    if isinstance(turn, UserTurn):
        yield from _user(turn)
    elif isinstance(turn.message, Assistant):
        yield from _assistant(scene, place, _name(turn), turn.message)
    elif isinstance(turn.message, LatestReminder):
        yield f"{_name(turn)}: role marker", v4.LATEST_REMINDER
        yield _name(turn), plain_text(turn.message.content)
    else:
        yield from _instructions(_name(turn), turn.message)
    yield from _opening(scene, place)


def _name(turn: Turn) -> str:
    if isinstance(turn, UserTurn):
        return f"message {turn.index} ({turn.blocks[-1].title})"
    return "tools" if turn.index is None else f"message {turn.index} ({turn.message.title})"


def _user(turn: UserTurn) -> Iterator[Piece]:
    for number, block in enumerate(turn.blocks):
        name = f"message {block.index} ({block.title})"
        if number == 0:
            yield f"{name}: role marker", v4.USER
        yield name, ("\n\n" if number else "") + block.text


def _instructions(name: str, message: System | Developer) -> Iterator[Piece]:
    if isinstance(message, Developer):
        yield f"{name}: role marker", v4.USER
    yield name, plain_text(message.content)
    if message.tools:
        yield (name if name == "tools" else f"{name}: tools"), "\n\n" + tools_text(message.tools)
    if message.response_format:
        yield f"{name}: response format", "\n\n" + v4.RESPONSE_FORMAT_HEAD + to_json(message.response_format)


def _assistant(scene: Scene, place: int, name: str, message: Assistant) -> Iterator[Piece]:
    answers_task = place > 0 and scene.turns[place - 1].task is not None
    if scene.thinking and not answers_task and (not scene.drop or place > scene.last_user):
        yield f"{name}: reasoning", message.thoughts + v4.THINK_STOP
    yield name, plain_text(message.content)
    if message.tool_calls:
        calls = "\n".join(call_text(call.function) for call in message.tool_calls)
        yield f"{name}: tool calls", f"\n\n{v4.CALLS_START}\n{calls}\n{v4.CALLS_STOP}"
    if not message.wo_eos:
        yield f"{name}: end marker", v4.EOS


def _opening(scene: Scene, place: int) -> Iterator[Piece]:
    turn = scene.turns[place]
    following = scene.turns[place + 1] if place + 1 < len(scene.turns) else None
    answered = isinstance(following, OtherTurn) and isinstance(following.message, Assistant)
    if following is not None and not answered and not _is_reminder(following):
        return
    label = f"{_name(following)}: role marker" if following is not None and answered else "generation prompt"
    if turn.task is not None:
        if turn.task == "action":
            yield label, v4.ASSISTANT + (v4.THINK_START if scene.thinking else v4.THINK_STOP)
        yield f"{_name(turn)}: task marker", v4.TASK_MARKERS[turn.task]
    elif speaks_for_user(turn) or (_is_system(turn) and (following is None or answered)):
        thinks = scene.thinking and (not scene.drop or place >= scene.last_user)
        yield label, v4.ASSISTANT + (v4.THINK_START if thinks else v4.THINK_STOP)


def _is_reminder(turn: Turn) -> bool:
    return isinstance(turn, OtherTurn) and isinstance(turn.message, LatestReminder)


def _is_system(turn: Turn) -> bool:
    return isinstance(turn, OtherTurn) and isinstance(turn.message, System)


def tools_text(tools: Sequence[Tool]) -> str:
    """The tool section of the instructions: one JSON line a tool between fixed texts."""
    return v4.TOOLS_HEAD + "\n".join(to_json(tool.function) for tool in tools) + v4.TOOLS_FOOT


def call_text(call: FunctionCall) -> str:
    """One call as DSML: strings as they are, everything else as JSON."""
    parameters = "\n".join(_parameter(key, value) for key, value in call.parsed().items())
    return f'{v4.INVOKE_START}{call.name}">\n{parameters}\n{v4.INVOKE_STOP}'


def _parameter(key: str, value: object) -> str:
    is_string, text = ("true", value) if isinstance(value, str) else ("false", to_json(value))
    return f'{v4.PARAMETER_START}{key}" string="{is_string}">{text}{v4.PARAMETER_STOP}'


def to_json(value: Any) -> str:
    """JSON as servers write it into prompts: a space behind `,` and `:`, characters unescaped, keys in given order."""
    return json.dumps(value, ensure_ascii=False)
