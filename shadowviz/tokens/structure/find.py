"""Why two rendered conversations part, as far as their structure shows it: messages, tools, options, template."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from shadowviz.tokens.align.token_diff import Hunk, TokenDiff
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.inert import printable
from shadowviz.tokens.side import Side
from shadowviz.tokens.structure.change import Change, Mend, Told, told
from shadowviz.tokens.structure.history import history_changes
from shadowviz.tokens.structure.match import match_messages
from shadowviz.tokens.structure.mended import common_of, common_with, renders_again, text_as
from shadowviz.tokens.structure.options import option_changes
from shadowviz.tokens.structure.places import Stretches, gain_without, hull
from shadowviz.tokens.structure.system import system_changes
from shadowviz.tokens.structure.template import (
    edited_places,
    rendered_otherwise,
    same_conversation,
    template_changes,
)
from shadowviz.tokens.structure.tools import tool_changes

MAX_CHANGES: Final = 32
"""Changes of messages that are looked at, and of their rendering: the first ones."""
MAX_MENDED: Final = 16
"""Changes that are undone and rendered again; the gain of further ones is taken from the hunks."""
MAX_RENDERED: Final = 2**24
"""Characters that are rendered again in all, but for the first two changes."""


def structural(a: Side, b: Side, diff: TokenDiff) -> tuple[Finding, ...]:
    """What the conversations of two sides show of why their ids part, in the order of the tokens.

    Nothing where ids are equal, where all ids of one side are a prefix of the other's, where the texts are equal, or
    where a side has no conversation. The causes, with their subjects in brackets: EFFORT_PREFIX; TEMPLATE (`reasoning`,
    `tools`, an option's name, none); REASONING_MISSING; REORDERED (`tools`, `messages`, `keys`, `tool calls`, `items`
    of a list in a tool); SYSTEM_GREW (`system`, `tools`); HISTORY_TRUNCATED; HISTORY_EDITED (the message's name).

    For merging with causes that the text shows: HISTORY_EDITED, and SYSTEM_GREW with subject `system`, only say that
    a message's text is another one; a cause of the text for the same tokens that is more specific than TEXT says
    more. The same holds for TEMPLATE without a subject. All others explain text that a comparison of texts would
    misread. A system message or a last message that was edited in another way has no finding here, and neither has
    an edit inside a tool's definition.

    `gain` is measured: the change is undone in B's conversation (for a template that leaves reasoning out, in both),
    the prompt rendered and encoded again. Where a side's conversation does not become its text again, it is the length
    of the stretches that agree behind the change, up to the next difference.
    """
    if a.conversation is None or b.conversation is None or not _parted(a, b, diff):
        return ()
    pair = _Pair(a, b, diff, renders_again(a) and renders_again(b))
    try:
        return _findings(pair, told(a), told(b))
    except RecursionError:
        return ()


def _parted(a: Side, b: Side, diff: TokenDiff) -> bool:
    return diff.first is not None and diff.common < min(len(a.ids), len(b.ids)) and a.text != b.text


@dataclass(frozen=True)
class _Pair:
    """Two sides and how they differ."""

    a: Side
    b: Side
    diff: TokenDiff
    can_mend: bool
    """Whether their conversations become their texts again."""


@dataclass(frozen=True)
class _Measured:
    """A change and what undoing it does; None for what cannot be said."""

    change: Change
    shows: bool | None = None
    """Whether it changes the text."""
    gain: int | None = None


def _findings(pair: _Pair, a: Told, b: Told) -> tuple[Finding, ...]:
    match = match_messages(a.view, b.view)
    changes = [
        *option_changes(a, b),
        *tool_changes(a, b),
        *system_changes(a, b),
        *islice(history_changes(a, b, match), MAX_CHANGES),
        *islice(template_changes(a, b, match), MAX_CHANGES),
    ]
    if not changes and same_conversation(a, b, match):
        changes = [rendered_otherwise(a, b)]
    mended = max(2, min(MAX_MENDED, MAX_RENDERED // (1 + len(pair.b.text))))
    measured = [
        _measured(pair, change) if number < mended else _Measured(change) for number, change in enumerate(changes)
    ]
    stretches = Stretches(pair.diff)
    shown = _without_shadows([one for one in measured if one.shows is not False])
    placed = {hunk for one in shown if one.change.place for hunk in stretches.at(one.change.place)}
    free = [hunk for hunk in stretches.all if hunk not in placed]
    if any(one.change.place is None for one in shown):
        edited = {hunk for place in edited_places(a, b, match) for hunk in stretches.at(place)}
        free = [hunk for hunk in free if hunk not in edited]
    found = [_finding(pair, one, hunks) for one in shown if (hunks := _hunks(stretches, one, free))]
    return tuple(sorted(found, key=lambda finding: (finding.a.start, finding.b.start, not finding.gain)))


def _finding(pair: _Pair, measured: _Measured, hunks: Sequence[Hunk]) -> Finding:
    change, (in_a, in_b) = measured.change, hull(hunks)
    known = measured.gain is not None
    gain = gain_without(pair.diff, hunks) if measured.gain is None else measured.gain
    return Finding(change.cause, change.subject, in_a, in_b, printable(change.detail), change.advice, gain, known)


def _hunks(stretches: Stretches, measured: _Measured, free: Sequence[Hunk]) -> Sequence[Hunk]:
    """The stretches that a change accounts for; without a place of its own, those that nothing else does."""
    place = measured.change.place
    if place is not None and (hunks := stretches.at(place)):
        return hunks
    if place is None and free:
        return free
    return stretches.all if measured.shows else ()


def _measured(pair: _Pair, change: Change) -> _Measured:
    if not pair.can_mend:
        return _Measured(change)
    shows: bool | None = None
    for mend in change.mends:
        texts = _mended_texts(pair, mend)
        if texts is None:
            continue
        if texts == (pair.a.text, pair.b.text):
            # A template that has no such option leaves out what it leaves out all the same.
            shows = None if change.cause is Cause.TEMPLATE and change.place is not None else False
            continue
        return _Measured(change, True, _gain(pair, *texts))
    return _Measured(change, shows)


def _mended_texts(pair: _Pair, mend: Mend) -> tuple[str, str] | None:
    in_a = pair.a.text if mend.a is None else text_as(pair.a, mend.a)
    in_b = text_as(pair.b, mend.b)
    return None if in_a is None or in_b is None else (in_a, in_b)


def _gain(pair: _Pair, in_a: str, in_b: str) -> int | None:
    if in_a == pair.a.text:
        common = common_with(pair.a, pair.b, in_b, pair.diff.common)
    else:
        common = common_of(pair.b.encoder, in_a, in_b)
    # Where A's text is another one too, it may have more tokens than were stored.
    return None if common is None else max(0, min(common, len(pair.a.ids)) - pair.diff.common)


def _without_shadows(measured: Sequence[_Measured]) -> list[_Measured]:
    """Without what follows from another change: an option that differs renders messages otherwise."""
    by_option = any(one.change.cause is Cause.TEMPLATE and one.change.place is None for one in measured)
    return [one for one in measured if not (by_option and one.change.cause is Cause.TEMPLATE and one.change.place)]
