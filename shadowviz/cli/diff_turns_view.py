"""The terminal view of the turns of one conversation: between which the prefix breaks, where and why."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shadowviz.cli.show import number, strong, table, wrapped
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.tokens.report.turns import TurnReport, TurnsReport

MAX_TURNS = 12
"""Turns that are listed: the first ones, and those that break."""
MAX_TOLD = 4
"""Breaks that are told in sentences."""


def turns_text(report: "TurnsReport") -> str:
    """The verdict, a row a turn, and each kind of break with what to change."""
    breaks = [turn for turn in report.turns if turn.breaks]
    blocks = [_verdict(report, breaks), _table(report)]
    alike: dict[tuple[str, str], list[TurnReport]] = {}
    for turn in breaks:
        alike.setdefault((turn.cause, turn.advice), []).append(turn)
    blocks += ["\n".join(_told(turns[0], len(turns) - 1)) for turns in list(alike.values())[:MAX_TOLD]]
    if report.notes:
        blocks.append("\n".join(wrapped(note, "note: ") for note in report.notes))
    return "\n\n".join(blocks)


def _verdict(report: "TurnsReport", breaks: "list[TurnReport]") -> str:
    num = len(report.turns)
    if not breaks:
        all_of = "the next request begins" if num == 1 else f"all {number(num)} next requests begin"
        return wrapped(f"{report.source}: {all_of} with everything that was stored: nothing is lost.")
    first = breaks[0]
    label = f"{first.cause}: " if first.cause else ""
    text = (
        f"{report.source}: the prefix breaks between turn {first.turn} and turn {first.turn + 1}, at token "
        f"{number(first.common)} of {number(first.stored)} stored. {label}{counted(report.lost, 'token')} lost in "
        f"{number(len(breaks))} of {counted(num, 'turn')}."
    )
    return wrapped(text).replace(label.strip(), strong(label.strip()), 1) if label else wrapped(text)


def _table(report: "TurnsReport") -> str:
    shown = [turn for place, turn in enumerate(report.turns) if place < MAX_TURNS or turn.breaks][:MAX_TURNS]
    rows = [
        [
            f"{turn.turn} to {turn.turn + 1}",
            number(turn.stored) if turn.told else f"{number(turn.stored)}+",
            number(turn.next_prompt),
            number(turn.common),
            number(turn.lost) if turn.told else f"{number(turn.lost)}+",
            number(turn.reused),
            turn.cause,
        ]
        for turn in shown
    ]
    text = table(["turn", "stored", "next", "common", "lost", "reused", "cause"], rows, left=(0, 6))
    more = len(report.turns) - len(shown)
    lines = [text, *([f"and {counted(more, 'turn')} more"] if more else [])]
    if any(not turn.told for turn in shown):
        lines.append(wrapped("+: the messages do not tell all that was generated"))
    lines.append(f"reused: of the next request ({report.geometry}, page {number(report.page)})")
    return "\n".join(lines)


def _told(turn: "TurnReport", more: int) -> Iterator[str]:
    stored = f"{_id(turn.stored_id)}{_in(turn.stored_segment)} stored"
    sent = f"{_id(turn.next_id)}{_in(turn.next_segment)} sent"
    others = f", and {number(more)} more like it" if more else ""
    yield wrapped(f"turn {turn.turn} to {turn.turn + 1}{others}: at token {number(turn.common)}, {stored}, {sent}")
    if turn.detail:
        yield wrapped(turn.detail)
    if turn.advice:
        yield wrapped(f"what to change: {turn.advice}")


def _id(token_id: int | None) -> str:
    return "nothing" if token_id is None else str(token_id)


def _in(segment: str) -> str:
    return f" ({segment})" if segment else ""
