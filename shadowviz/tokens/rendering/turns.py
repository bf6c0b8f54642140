"""The turns of a conversation: tool results and user text in a row are one user turn of the format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shadowviz.tokens.rendering.deepseek_v4 import TOOL_RESULT_START, TOOL_RESULT_STOP, Task
from shadowviz.tokens.rendering.messages import (
    Assistant,
    Developer,
    LatestReminder,
    Message,
    System,
    ToolResult,
    User,
    plain_text,
)


@dataclass(frozen=True, slots=True)
class Block:
    """One message inside a user turn; `call_id` is None for the user's own text."""

    index: int | None
    title: str
    text: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class UserTurn:
    """User text and tool results that follow each other."""

    blocks: tuple[Block, ...]
    task: Task | None

    @property
    def index(self) -> int | None:
        """Place of its first message in the caller's list."""
        return self.blocks[0].index


@dataclass(frozen=True, slots=True)
class OtherTurn:
    """Any other message; `index` is its place in the caller's list, None for one that was put in."""

    index: int | None
    message: System | Developer | Assistant | LatestReminder

    @property
    def task(self) -> Task | None:
        """The task the message carries."""
        return self.message.task

    @property
    def has_tools(self) -> bool:
        """Whether the message defines tools."""
        return isinstance(self.message, System | Developer) and bool(self.message.tools)


Turn = UserTurn | OtherTurn
Placed = tuple[int | None, Message]
"""A message and its place in the caller's list."""


def merge(placed: Iterable[Placed]) -> list[Turn]:
    """One turn a message, except that results and user text in a row share a turn.

    User text begins a turn of its own after one with a task; the task of merged text is not rendered, as on servers.
    """
    turns: list[Turn] = []
    for index, message in placed:
        last = turns[-1] if turns else None
        if not isinstance(message, User | ToolResult):
            turns.append(OtherTurn(index, message))
        elif isinstance(message, ToolResult):
            text = f"{TOOL_RESULT_START}{message.text}{TOOL_RESULT_STOP}"
            block = Block(index, message.title, text, message.tool_call_id)
            if isinstance(last, UserTurn):
                turns[-1] = replace(last, blocks=(*last.blocks, block))
            else:
                turns.append(UserTurn((block,), None))
        else:
            block = Block(index, message.title, plain_text(message.content), None)
            if isinstance(last, UserTurn) and last.task is None:
                turns[-1] = replace(last, blocks=(*last.blocks, block))
            else:
                turns.append(UserTurn((block,), message.task))
    return turns


def order_results(turns: Sequence[Turn]) -> list[Turn]:
    """Tool results put in the order of the calls they answer; user text keeps its place."""
    ordered: list[Turn] = []
    order: dict[str, int] = {}
    for turn in turns:
        if isinstance(turn, UserTurn):
            ordered.append(_ordered_turn(turn, order) if order else turn)
            continue
        if isinstance(turn.message, Assistant) and turn.message.tool_calls:
            order = {call.id: place for place, call in enumerate(turn.message.tool_calls) if call.id}
        ordered.append(turn)
    return ordered


def _ordered_turn(turn: UserTurn, order: dict[str, int]) -> UserTurn:
    results = sorted(
        (block for block in turn.blocks if block.call_id is not None),
        # A result of an unknown call counts as one of the first call: servers do the same.
        key=lambda block: order.get(block.call_id or "", 0),
    )
    queue = iter(results)
    return replace(turn, blocks=tuple(block if block.call_id is None else next(queue) for block in turn.blocks))


def speaks_for_user(turn: Turn) -> bool:
    """Whether the turn counts as the user's when the last user turn is looked for."""
    return isinstance(turn, UserTurn) or isinstance(turn.message, Developer)


def last_user_position(turns: Sequence[Turn]) -> int:
    """Position of the last user or developer turn, -1 without one."""
    return max((place for place, turn in enumerate(turns) if speaks_for_user(turn)), default=-1)


def without_old_developers(turns: Sequence[Turn]) -> list[Turn]:
    """Turns without the developer messages before the last user turn: with thinking dropped they go too."""
    last = last_user_position(turns)
    return [
        turn
        for place, turn in enumerate(turns)
        if place >= last or isinstance(turn, UserTurn) or not isinstance(turn.message, Developer)
    ]
