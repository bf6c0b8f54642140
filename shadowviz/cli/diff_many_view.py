"""The terminal view of many prompts: what was lost by cause, and which pairs lost most."""

from typing import TYPE_CHECKING

from shadowviz.cli.show import number, shortened, strong, table, wrapped
from shadowviz.replay.counts import counted
from shadowviz.tokens.inert import printable

if TYPE_CHECKING:
    from shadowviz.tokens.report.many import ManyReport, Pair

MAX_PAIRS = 12
"""Pairs that are listed, those that lost most."""
NAME = 16
"""Columns of a name."""


def many_text(report: "ManyReport") -> str:
    """Sums, causes, the worst pairs, and the one change that would win most."""
    from shadowviz.tokens.report.many import dearest

    share = report.reused / report.prompt_tokens if report.prompt_tokens else 0.0
    head = (
        f"{counted(report.requests, 'prompt')}, {counted(report.prompt_tokens, 'token')}, each after those before it "
        f"({report.geometry}, page {number(report.page)}): {number(report.reused)} reused ({share:.1%}), "
        f"{number(report.lost)} lost to differences"
    )
    blocks = [wrapped(head), _causes(report)]
    changed = [pair for pair in report.pairs if pair.gain]
    if changed:
        blocks.append(_pairs(dearest(changed, MAX_PAIRS)))
        if len(changed) > MAX_PAIRS:
            blocks[-1] += f"\nand {number(len(changed) - MAX_PAIRS)} more"
    if report.causes and report.causes[0].advice:
        first = report.causes[0]
        won = f"would win most ({counted(first.lost, 'token')}): {first.advice}"
        blocks.append(wrapped(won).replace("would win most", strong("would win most"), 1))
    if report.notes:
        blocks.append("\n".join(wrapped(note, "note: ") for note in report.notes))
    return "\n\n".join(blocks)


def _causes(report: "ManyReport") -> str:
    names = shortened([printable(cause.example) for cause in report.causes], NAME)
    rows = [
        [
            cause.cause,
            number(cause.requests),
            number(cause.lost),
            name if cause.lost else "",
            number(cause.example_lost) if cause.lost else "",
        ]
        for cause, name in zip(report.causes, names, strict=True)
    ]
    return table(["cause", "prompts", "lost", "worst example", "its loss"], rows, left=(0, 3))


def _pairs(pairs: "list[Pair]") -> str:
    names = shortened([printable(pair.request) for pair in pairs], NAME)
    earlier = shortened([printable(pair.earlier) for pair in pairs], NAME)
    rows = [
        [name, other, number(pair.common), number(pair.lost), pair.cause, printable(pair.segment)]
        for name, other, pair in zip(names, earlier, pairs, strict=True)
    ]
    headers = ["prompt", "after", "common", "lost", "cause", "in" if any(pair.segment for pair in pairs) else ""]
    return table(headers, rows, left=(0, 1, 4, 5))
