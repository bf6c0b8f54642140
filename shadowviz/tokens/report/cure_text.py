"""Cures of what a prompt says: stretches as in the other prompt, a value at the end, a line left out."""

from collections.abc import Sequence

from shadowviz.tokens.causes.edit import Edit, Stretch
from shadowviz.tokens.side import Side
from shadowviz.tokens.structure.mended import common_of


def readable_text(*sides: Side) -> bool:
    """Whether the texts are all of what the ids stand for."""
    return all(side.text.encode() == side.raw for side in sides)


def with_edits(text: str, edits: Sequence[Edit]) -> str:
    """B's text with A's characters in some stretches, which are in order and do not overlap."""
    parts, end = [], 0
    for edit in edits:
        parts += [text[end : edit.b.start], edit.a.found]
        end = edit.b.stop
    return "".join([*parts, text[end:]])


def common_when_moved(a: Side, b: Side, values: Sequence[Edit]) -> int | None:
    """Tokens in common when the values stand on lines at the ends of both prompts.

    None where there are none, or where counting would take too long.
    """
    if not values or a.encoder.fingerprint != b.encoder.fingerprint:
        return None
    in_a, in_b = (_moved(side.text, [value[number] for value in values]) for number, side in enumerate((a, b)))
    return common_of(b.encoder, in_a, in_b)


def common_without_lines(a: Side, b: Side, edits: Sequence[Edit]) -> int | None:
    """Tokens in common when the lines with the edits are left out of both prompts."""
    if not edits or a.encoder.fingerprint != b.encoder.fingerprint:
        return None
    in_a, in_b = (_without_lines(s.text, [edit[number] for edit in edits]) for number, s in enumerate((a, b)))
    return common_of(b.encoder, in_a, in_b)


def _moved(text: str, values: Sequence[Stretch]) -> str:
    return _without(text, [(value.start, value.stop) for value in values]) + "".join(
        f"\n{value.found}" for value in values
    )


def _without_lines(text: str, stretches: Sequence[Stretch]) -> str:
    lines = (stretch.line() for stretch in stretches)
    return _without(text, [(line.start, min(len(text), line.stop + 1)) for line in lines])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, end = [], 0
    for start, stop in spans:
        parts.append(text[end : max(end, start)])
        end = max(end, stop)
    return "".join([*parts, text[end:]])
