"""Request and next turn of one conversation: what a server has stored behind each answer, and what of it is used."""

from collections.abc import Iterable

import msgspec

from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.side import Reading, prepared, renderer_of
from shadowviz.tokens.report.cost import cost_of, reused_length
from shadowviz.tokens.structure.conversation import TurnBreak, turn_breaks
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry


class TurnReport(msgspec.Struct, frozen=True):
    """One answer, stored with its request, against the next request; in tokens."""

    turn: int
    """Number of the answer, from 1."""
    answer: int
    """Index of its message."""
    num_prompt: int
    """Of the request that was answered."""
    stored: int
    """Of the request and the answer as it was generated."""
    next_prompt: int
    """Of the next request."""
    common: int
    lost: int
    """Stored tokens that the next request does not share."""
    reused: int
    """Of the next request."""
    reused_if_kept: int
    """Of the next request, if it went on from all that is stored."""
    breaks: bool
    cause: str
    """The one that leads, with its subject; empty where nothing is lost."""
    stored_id: int | None
    """Ids where they part; None behind an end."""
    next_id: int | None
    stored_segment: str
    next_segment: str
    detail: str
    advice: str
    told: bool
    """Whether the messages tell what was generated; without reasoning, with thinking on, they do not."""


class TurnsReport(msgspec.Struct, frozen=True):
    """Between which turns the prefix breaks."""

    version: int
    same: bool
    """Whether every next request begins with all that was stored."""
    source: str
    geometry: str
    page: int
    lost: int
    turns: tuple[TurnReport, ...]
    notes: tuple[str, ...] = ()


def compare_turns(prompt: Prompt, reading: Reading, geometry: Geometry) -> TurnsReport:
    """Each answer of a conversation against the request that follows it.

    Raises:
        InputError: it is no conversation, has no answer that a request follows, or cannot be rendered.
    """
    if prompt.form is not Form.MESSAGES:
        raise InputError(f"{prompt.source} holds {prompt.form}, expected the messages of a conversation with --turns")
    try:
        conversation, notes = prepared(prompt, reading)
        breaks = turn_breaks(conversation, reading.encoder, renderer_of(reading))
    except InputError as error:
        raise InputError(f"{prompt.source}: {error}") from None
    if not breaks:
        raise InputError(f"{prompt.source} has no answer that a request follows, expected two turns or more")
    turns = tuple(_turns(breaks, geometry))
    return TurnsReport(
        version=1,
        same=not any(turn.breaks for turn in turns),
        source=prompt.source,
        geometry=geometry.name,
        page=cost_of(geometry, 0, 0, 0, 0).page,
        lost=sum(turn.lost for turn in turns),
        turns=turns,
        notes=notes,
    )


def _turns(breaks: Iterable[TurnBreak], geometry: Geometry) -> Iterable[TurnReport]:
    for found in breaks:
        leading = found.findings[0] if found.findings else None
        subject = f"({leading.subject})" if leading and leading.subject else ""
        num_next = len(found.following.ids)
        yield TurnReport(
            turn=found.turn,
            answer=found.answer,
            num_prompt=found.num_prompt,
            stored=len(found.stored.ids),
            next_prompt=num_next,
            common=found.common,
            lost=found.lost,
            reused=reused_length(geometry, num_next, found.common),
            reused_if_kept=reused_length(geometry, num_next, min(num_next, len(found.stored.ids))),
            breaks=found.breaks,
            cause=f"{leading.cause}{subject}" if leading else "",
            stored_id=found.first_ids[0],
            next_id=found.first_ids[1],
            stored_segment=found.segments[0],
            next_segment=found.segments[1],
            detail=leading.detail if leading else "",
            advice=leading.advice if leading else "",
            told=found.told,
        )
