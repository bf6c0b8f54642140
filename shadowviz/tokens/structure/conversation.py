"""Request and next turn of one conversation: between which turns the cached prefix breaks, where and why."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.causes import find_causes
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.rendering.render import Rendered, Segment
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz.tokens.structure.mended import Renderer, render_v4
from shadowviz.tokens.structure.template import KEEP_REASONING, THINKING_OPTIONS
from shadowviz.tokens.structure.view import Item, view_of
from shadowviz_engine.core.spans import Extent


@dataclass(frozen=True)
class TurnBreak:
    """One answer of the model: what a server has stored behind it, against the next request."""

    turn: int
    """Number of the answer, from 1."""
    answer: int
    """Index of its message."""
    num_prompt: int
    """Tokens of the request that was answered."""
    stored: Side
    """The request and what was generated; the request alone where `told` is false."""
    following: Side
    """The next request."""
    diff: TokenDiff
    """From the stored path to the next request."""
    findings: tuple[Finding, ...]
    """Why stored tokens are lost, the leading one first; empty where none are."""
    told: bool
    """Whether the messages tell what was generated: with thinking on, an answer without reasoning does not."""

    @property
    def common(self) -> int:
        """Tokens of the stored path that the next request has too."""
        return self.diff.common

    @property
    def lost(self) -> int:
        """Stored tokens that the next request does not share."""
        return len(self.stored.ids) - self.common

    @property
    def breaks(self) -> bool:
        """Whether the next request leaves the stored path before its end."""
        return self.lost > 0 or not self.told

    @property
    def first_ids(self) -> tuple[int | None, int | None]:
        """The ids where they part, stored and next; None behind an end."""
        return _id_at(self.stored, self.common), _id_at(self.following, self.common)

    @property
    def segments(self) -> tuple[str, str]:
        """What stands where they part, stored and next; empty where nothing is labelled, or behind an end."""
        return _label_at(self.stored, self.common), _label_at(self.following, self.common)


def turn_breaks(conversation: Conversation, encoder: Encoder, renderer: Renderer = render_v4) -> tuple[TurnBreak, ...]:
    """Every answer that a later request follows, with what of its stored path that request can reuse.

    What was generated is taken from the answer's message: reasoning, text, calls and the mark of an end, as ids behind
    those of the request.

    Raises:
        InputError: the conversation cannot be rendered, or its text not be encoded.
    """
    items = view_of(conversation).items
    return tuple(
        _turn_break(number, conversation, items[answer], stop, encoder, renderer)
        for number, (answer, stop) in enumerate(_turns(items), 1)
    )


def _turns(items: tuple[Item, ...]) -> Iterator[tuple[int, int]]:
    """Index of each answer to a request, and the length of the next request."""
    answers = [item.role == "assistant" for item in items]
    for index in range(1, len(items)):
        if not answers[index] or answers[index - 1]:
            continue
        requests = (
            stop
            for stop in range(index + 2, len(items) + 1)
            if not answers[stop - 1] and (stop == len(items) or answers[stop])
        )
        if (stop := next(requests, None)) is not None:
            yield index, stop


def _turn_break(
    number: int, conversation: Conversation, answer: Item, stop: int, encoder: Encoder, renderer: Renderer
) -> TurnBreak:
    request, answered, following = (
        replace(conversation, messages=conversation.messages[:length])
        for length in (answer.index, answer.index + 1, stop)
    )
    prompt = _rendered_side(f"turn {number} as stored", request, encoder, renderer)
    told = answer.reasoning is not None or not _thinks(conversation)
    stored = _with_answer(prompt, renderer(answered), answered) if told else None
    sent = _rendered_side(f"turn {number + 1}", following, encoder, renderer)
    diff = align(stored or prompt, sent)
    findings = tuple(finding for finding in find_causes(stored or prompt, sent, diff) if finding.breaks)
    if stored is None and not any(finding.cause is Cause.REASONING_MISSING for finding in findings):
        findings = (*findings, _untold(answer, prompt, diff))
    return TurnBreak(number, answer.index, len(prompt.ids), stored or prompt, sent, diff, findings, stored is not None)


def _rendered_side(name: str, conversation: Conversation, encoder: Encoder, renderer: Renderer) -> Side:
    rendered = renderer(conversation)
    return side_of_text(
        name,
        rendered.text,
        encoder,
        segments=rendered.segments,
        conversation=conversation,
        write=lambda told: renderer(told).text,
    )


def _with_answer(prompt: Side, answered: Rendered, conversation: Conversation) -> Side | None:
    """The stored path; None where the text with the answer does not begin with the request's."""
    if not answered.text.startswith(prompt.text):
        return None
    output = prompt.encoder.place(answered.text[len(prompt.text) :])
    ids, starts = output.ids, output.starts
    # What a template writes behind the mark of an end was not generated.
    stop = next((place + 1 for place in range(len(ids) - 1, -1, -1) if ids[place] in prompt.encoder.eos_ids), len(ids))
    raw = answered.text.encode()
    if stop < len(ids):
        raw = raw[: len(prompt.raw) + starts[stop]]
    text = raw.decode()
    moved = array("q", (len(prompt.raw) + start for start in starts[:stop]))
    return replace(
        prompt,
        ids=prompt.ids + ids[:stop],
        starts=prompt.starts + moved,
        text=text,
        raw=raw,
        segments=tuple(_cut(answered.segments, len(text))),
        conversation=conversation,
    )


def _cut(segments: tuple[Segment, ...], length: int) -> Iterator[Segment]:
    for segment in segments:
        if segment.start < length:
            yield Segment(segment.label, segment.start, min(segment.stop, length))


def _thinks(conversation: Conversation) -> bool:
    return any(conversation.options.get(name) is True for name in THINKING_OPTIONS)


def _untold(answer: Item, prompt: Side, diff: TokenDiff) -> Finding:
    end = Extent(len(prompt.ids), len(prompt.ids))
    here = Extent(diff.common, diff.common)
    detail = f"{answer.name} has no reasoning, though one was asked for: what was generated behind the prompt is lost"
    return Finding(Cause.REASONING_MISSING, "", end, here, detail, KEEP_REASONING, 0)


def _id_at(side: Side, token: int) -> int | None:
    return side.ids[token] if token < len(side.ids) else None


def _label_at(side: Side, token: int) -> str:
    segment = side.segment_of(token)
    return segment.label if segment else ""
