"""The cause of one differing stretch of ids, judged with the few equal tokens around it."""

from collections.abc import Sequence

from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.causes.find import causes_of_text
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.side import side_of_ids
from shadowviz_engine.core.spans import Extent


def cause_of_windows(encoder: Encoder, prompt: Sequence[int], stored: Sequence[int]) -> Cause:
    """Why two stretches differ that may begin and end with the same tokens; TEXT where they do not differ.

    Raises:
        InputError: an id outside the vocabulary.
    """
    a, b = side_of_ids("prompt", prompt, encoder), side_of_ids("stored", stored, encoder)
    left = _common(prompt, stored)
    right = _common(prompt[left:][::-1], stored[left:][::-1])
    stop_a, stop_b = len(prompt) - right, len(stored) - right
    hunks = (
        Hunk(Op.EQUAL, Extent(0, left), Extent(0, left)),
        Hunk(Op.REPLACE, Extent(left, stop_a), Extent(left, stop_b)),
        Hunk(Op.EQUAL, Extent(stop_a, len(prompt)), Extent(stop_b, len(stored))),
    )
    findings = causes_of_text(a, b, TokenDiff(hunks, left))
    return findings[0].cause if findings else Cause.TEXT


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    differing = (place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(differing, min(len(a), len(b)))
