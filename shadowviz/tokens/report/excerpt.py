"""The first difference of two prompts, cut out with what stands around it."""

from typing import Final

from shadowviz.tokens.align.token_diff import Hunk, Op
from shadowviz.tokens.common import common_beginning
from shadowviz.tokens.inert import inert_bytes
from shadowviz.tokens.inputs.side import is_readable
from shadowviz.tokens.report.report import Excerpt, Place, TokenReport
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

CONTEXT: Final = 240
"""Bytes before and behind the difference that are kept."""
MAX_DIFFERING: Final = 400
"""Characters of the differing stretch that are kept."""
MAX_TOKENS: Final = 8
"""Tokens of the differing stretch that are listed."""


def excerpts(a: Side, b: Side, hunk: Hunk) -> tuple[Excerpt, Excerpt]:
    """The stretch in both prompts, without the characters at its ends that both have."""
    span_a, span_b = _bytes_of(a, hunk.a), _bytes_of(b, hunk.b)
    if hunk.op is not Op.RETOKENIZED and is_readable(a) and is_readable(b):
        span_a, span_b = _trimmed(a.raw, span_a, b.raw, span_b)
    return _excerpt(a, hunk.a, span_a), _excerpt(b, hunk.b, span_b)


def place_of(side: Side, token: int, byte: int | None = None) -> Place:
    """Where a token begins, or a byte of it lies."""
    at = side.byte_at(token) if byte is None else byte
    line_start = side.raw.rfind(b"\n", 0, at) + 1
    segment = side.segment_of(token)
    return Place(
        token=token,
        byte=at,
        line=side.raw.count(b"\n", 0, at) + 1,
        column=len(side.raw[line_start:at].decode(errors="ignore")) + 1,
        segment=segment.label if segment else "",
    )


def _bytes_of(side: Side, tokens: Extent) -> Extent:
    return Extent(side.byte_at(tokens.start), side.byte_at(tokens.stop))


def _trimmed(a: bytes, span_a: Extent, b: bytes, span_b: Extent) -> tuple[Extent, Extent]:
    """Both spans without their common beginning and end, cut between characters."""
    one, other = a[span_a.start : span_a.stop], b[span_b.start : span_b.stop]
    head = common_beginning(one, other)
    while _splits(one, head) or _splits(other, head):
        head -= 1
    one, other = one[head:], other[head:]
    tail = common_beginning(one[::-1], other[::-1])
    while tail and _splits(one, len(one) - tail):
        tail -= 1
    return (
        Extent(span_a.start + head, span_a.stop - tail),
        Extent(span_b.start + head, span_b.stop - tail),
    )


def _splits(text: bytes, place: int) -> bool:
    """Whether a cut before this byte would part a character."""
    return 0 < place < len(text) and text[place] & 0xC0 == 0x80


def _excerpt(side: Side, tokens: Extent, span: Extent) -> Excerpt:
    raw = side.raw
    start = max(0, span.start - CONTEXT)
    while _splits(raw, start):
        start += 1
    stop = min(len(raw), span.stop + CONTEXT)
    while _splits(raw, stop):
        stop -= 1
    differing = raw[span.start : span.stop].decode(errors="replace")
    listed = side.ids[tokens.start : min(tokens.stop, tokens.start + MAX_TOKENS)]
    readable = is_readable(side)
    return Excerpt(
        place=place_of(side, tokens.start, span.start) if readable else Place(tokens.start, 0, 0, 0),
        before=raw[start : span.start].decode(errors="replace") if readable else "",
        differing=differing[:MAX_DIFFERING] if readable else "",
        after=raw[span.stop : stop].decode(errors="replace") if readable else "",
        num_characters=len(differing) if readable else 0,
        tokens=tuple(_token(side, token_id) for token_id in listed),
        num_tokens=tokens.size,
    )


def _token(side: Side, token_id: int) -> TokenReport:
    if not is_readable(side):
        return TokenReport(token_id, "", False)
    text = inert_bytes(side.encoder.token_bytes(token_id))
    return TokenReport(token_id, text, side.encoder.is_control(token_id))
