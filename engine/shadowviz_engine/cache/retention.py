"""Which window rows stay: the resume points that a policy promises, and the tokens they need."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.reuse import ResumeRule, ReuseRules
from shadowviz_engine.core.spans import Extent, merge

MAX_DIGITS = 12
"""Of the distance between anchors; more is no number of tokens."""


class RetentionMode(StrEnum):
    """How window rows are kept."""

    ALL = "all"
    WINDOW = "window"
    EVERY = "every"
    FORKS = "forks"


class Retention(msgspec.Struct, frozen=True):
    """A retention policy; `every` tokens apart lie the anchors of the mode EVERY."""

    mode: RetentionMode
    every: int = 0

    def __str__(self) -> str:
        return f"every:{self.every}" if self.mode is RetentionMode.EVERY else self.mode.value


def parse_retention(text: str) -> Retention:
    """Policy from `all`, `window`, `every:K` or `forks`.

    Raises:
        InputError: anything else.
    """
    name, _, value = text.partition(":")
    if name == "every" and len(value) <= MAX_DIGITS and value.isascii() and value.isdigit() and int(value) > 0:
        return Retention(RetentionMode.EVERY, int(value))
    if name in ("all", "window", "forks") and not value:
        return Retention(RetentionMode(name))
    raise InputError(f"retention {text!r} is unknown: expected all, window, every:TOKENS or forks")


def resume_points(
    retention: Retention, rules: ReuseRules, num_prompt: int, end: int, forks: Iterable[int] = ()
) -> list[int]:
    """Lengths at which a stored path of `end` tokens promises to be resumable, ascending.

    Always the prompt's end less one token (an identical prompt, or another last token), the prompt's end, and the
    end of the stored output; then the policy's anchors. Each is floored to the unit of reuse.
    """
    points = {num_prompt - 1, num_prompt, end}
    if retention.mode is RetentionMode.EVERY:
        points.update(range(retention.every, end + 1, retention.every))
    elif retention.mode is RetentionMode.FORKS:
        points.update(forks)
    floored = {point - point % rules.unit for point in points if point <= end}
    return sorted(point for point in floored if point > 0)


def retained_extents(geometry: Geometry, rules: ReuseRules, points: Iterable[int]) -> list[Extent]:
    """Tokens whose window-table rows a resume at `points` needs, sorted and disjoint."""
    page_rule = rules.resume is ResumeRule.PAGE
    return merge(retained_tokens(geometry, point, page_rule) for point in points)
